"""Saved models: what was released, as JSON."""

import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from dpfast.accounting.claims.spend import claim_of_file
from dpfast.base.parameters import Kind, PrivateParameters, count, unsaved
from dpfast.base.saving import CARD, entries, find_class, home_of, read_document, reals
from dpfast.report import about
from dpfast.tables.bit_matrix import refuse_threshold
from dpfast.tables.classes import two_classes

_ENTRIES = (
    "format", "version", "model", "parameters", "classes", "n_features", "feature_names", "privacy", "released",
)  # fmt: skip
_FAULTS = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
_ENCODING = re.compile(r"[a-z0-9_-]{1,40}")  # as Python names them
MOST_FEATURES = 1 << 31
_HOMES = {  # the module of each kind of model
    "boosted-halfspace": "halfspaces.boosted",
    "decision-list": "lists.decision_list",
    "finite-class": "experts.finite_class",
    "halfspace": "halfspaces.halfspace",
    "linear-learner": "experts.linear_learner",
    "littlestone": "littlestone.learner",
    "net-halfspace": "halfspaces.net",
    "online-littlestone": "littlestone.online_learner",
    "projected-halfspace": "halfspaces.projected",
    "staged-littlestone": "littlestone.staged",
    "staged-online-littlestone": "littlestone.staged_online",
    "winnow": "winnow.classifier",
}
_PLAIN = Kind(
    "be None, a number, a word or a list of numbers",
    lambda value: (
        {type(each) for each in value} <= {int, float} if isinstance(value, list) else type(value) is not dict
    ),
)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the fitted estimator that ``estimator.save(path)`` wrote.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    estimator
        It can predict, and has no budget and no random state.

    Raises
    ------
    ValueError
        If the file is cut short, damaged or not a dpfast model, or was written by a newer version.

    Notes
    -----
    A digest of the whole file detects damage. It is not a signature: anyone who may write the file may write another
    model. Files of version 0.1.0 have no digest; their content is checked to be a possible model.
    """
    path = Path(path)
    document = read_document(path)
    name = document.get("model")
    kind: Any = _kind(name, document.get("class")) if isinstance(name, str) else None
    if kind is None:
        raise ValueError(f"{path.name} holds a model of unknown kind {name!r}; import its class first, if it has one")
    try:
        document = entries(document, *_ENTRIES, maybe=("class", "table", "encoder", "card", "class_counts"))
        return _fill_model(kind(**document["parameters"]), document)
    except _FAULTS as error:
        raise ValueError(f"{path.name} is damaged: {type(error).__name__}: {error}") from None


def _kind(name, home=None):
    """Return the class whose models have this name, or None; a class of dpfast is imported, others must have been."""
    if name in _HOMES:
        import_module(f"dpfast.learners.{_HOMES[name]}")
    return find_class(
        PrivateParameters, name, lambda kind: vars(kind).get("_model"), lambda kind: home_of(kind) == home
    )


def _fill_model(model, document):
    """Return a model with the attributes of a file's entries; refuse entries that no model could have."""
    parameters = document["parameters"]
    foreign = set(parameters).intersection(unsaved(model))
    if foreign:
        raise ValueError(f"parameters must not hold {sorted(foreign)}")
    for name, value in parameters.items():
        model._parameters.get(name, _PLAIN).read(name, value)
    model.classes_ = _classes(document["classes"])
    if not model.__sklearn_tags__().classifier_tags.multi_class:
        two_classes(model.classes_)
    model.n_features_in_ = count(1, MOST_FEATURES).read("n_features", document["n_features"])
    if "threshold" in parameters and "encoder" not in document:
        refuse_threshold(parameters["threshold"], model.n_features_in_)
    names = document["feature_names"]
    if names is not None:
        if not isinstance(names, list) or len(names) != model.n_features_in_ or {type(name) for name in names} != {str}:
            raise ValueError(f"feature_names must be {model.n_features_in_} names, got {names!r}")
        model.feature_names_in_ = np.array(names, dtype=object)
    if "encoder" in document:
        model._saver.read_encoder(document["encoder"])
    model._saver.read_released(document["released"])
    model.notes_ = []  # older files have none
    if "card" in document:
        card = entries(document["card"], "dpfast", "public", maybe=CARD)
        model._facts = check_facts(card["public"])
        if "figures" in card:
            model.figures_ = _figures(card["figures"])
        model.notes_ = card.get("notes", [])
        if not isinstance(model.notes_, list) or not {type(note) for note in model.notes_} <= {str}:
            raise ValueError("notes must be a list of texts")
        if "count_noise" in card:
            model.count_noise_ = abs(float(reals([card["count_noise"]], 1)[0]))
        if "class_sizes" in card:
            model.class_sizes_ = reals(card["class_sizes"], len(model.classes_))
        if "coef_noise" in card:
            model.coef_noise_ = np.array([reals(each, model.coef_.shape[1]) for each in card["coef_noise"]])
            if model.coef_noise_.shape != model.coef_.shape or model.coef_noise_.min() < 0:
                raise ValueError("the noise of coefficients must be a number of at least 0 for each of them")
        if "code_shares" in card:
            model.code_shares_ = reals(card["code_shares"], model.coef_.shape[1])
            if model.code_shares_.min() < 0:
                raise ValueError("shares of rows must be numbers of at least 0")
    model._saver.read_entries(document)
    of_codes, coef = hasattr(model, "encoder_") or hasattr(model, "code_shares_"), vars(model).get("coef_")
    if not of_codes and coef is not None and coef.shape[-1] != model.n_features_in_:
        raise ValueError(f"{model.n_features_in_} columns cannot have {coef.shape[-1]} coefficients")
    model.privacy_ = claim = claim_of_file(document["privacy"])
    claimed, stated = ((float(each.epsilon), float(each.delta), each.neighbors) for each in (claim, model))
    if claimed != stated:
        raise ValueError(f"the claim is for (epsilon, delta, neighbors) = {claimed}, the parameters say {stated}")
    return model


def check_facts(saved: Any) -> dict[str, Any] | None:
    """Return the public facts of a file, checked: the settings of text must be some that `dpfast fit` can have."""
    text = {} if saved is None else saved.get("text", {}) if isinstance(saved, dict) else None
    if not isinstance(text, dict) or not {type(each) for name, each in text.items() if name != "skip_lines"} <= {str}:
        raise ValueError(f"public facts, and settings of text, must be values by their names, got {saved!r}")
    sensitive = (saved or {}).get("sensitive", [])
    if not isinstance(sensitive, list) or not {type(name) for name in sensitive} <= {str}:
        raise ValueError(f"sensitive columns must be a list of names, got {sensitive!r}")
    if "about" in (saved or {}):
        about.check(saved["about"])
    if "budget" in (saved or {}):
        about.check_budget(saved["budget"])
    if text:
        from dpfast.files.csv import check_settings

        entries(text, maybe=("separator", "decimal", "dates", "encoding", "skip_lines"))
        if not _ENCODING.fullmatch(text.get("encoding", "utf-8")):
            raise ValueError(f"the encoding must be the name of one, got {text['encoding'][:40]!r}")
        check_settings(**{name: value for name, value in text.items() if name != "encoding"})
    return saved


def _figures(saved):
    """Return saved figures, checked: each has its numbers by their names, and texts that describe them."""
    texts = ("of", "label", "measure", "column", "group")
    for figure in saved.values() if isinstance(saved, dict) else [None]:
        for point in figure if isinstance(figure, list) else [figure]:
            if not isinstance(point, dict) or not all(
                type(each) is str if name in texts else type(each) in (int, float) and abs(each) <= MOST_FEATURES
                for name, each in point.items()
            ):
                raise ValueError(f"wanted figures, each of numbers by their names, got {saved!r}")
    return saved


def _classes(saved):
    kinds = {type(label) for label in saved} if isinstance(saved, list) else set()
    whole = kinds == {int} and (max(saved) >= 1 << 63)  # numpy would make floats of some
    classes = np.array(saved, np.uint64 if whole else None) if isinstance(saved, list) else np.empty(0)
    kinds = kinds if classes.ndim == 1 else set()
    if len(kinds) != 1 or kinds.isdisjoint({bool, int, float, str}) or len(classes) < 2 or classes.dtype == object:
        raise ValueError(f"classes must be two labels or more of one kind, got {saved!r}")
    if not (classes[:-1] < classes[1:]).all():
        raise ValueError(f"classes must be rising, got {saved!r}")
    return classes
