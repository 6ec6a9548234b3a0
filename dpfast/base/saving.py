"""Saved form of a private model: the released values as JSON, with a digest over the whole file."""

import hashlib
import json
import os
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from dpfast.accounting.numbers import rational
from dpfast.base.parameters import real, unsaved
from dpfast.tables.replacing import replace_file

_LEDGER = b"SQLite format 3\0"  # how the file of a budget begins
FORMAT, FORMAT_VERSION = "dpfast model", 2
LARGEST_NUMBER = 1e150  # in a model, so that sums of products of two are finite
# attributes that a card holds, without their final underscore
CARD = "figures", "coef_noise", "code_shares", "count_noise", "class_sizes", "notes"


def save(self: Any, path: str | os.PathLike[str]) -> None:
    """Write the released model to a JSON file for `dpfast.load`; the file is replaced atomically.

    Parameters
    ----------
    path : str or path-like

    Notes
    -----
    The file holds the parameters, the released model and its privacy claim; it holds no data, no budget and no
    random state. The file is on the disk when this method returns, and `load` detects any later damage.
    """
    write_model(self, path)


def name_label(self: Any, name: str) -> None:
    """Set the name of the label that a fitted model predicts, for its file and its page.

    Parameters
    ----------
    name : str
        A public name, like the names of columns.
    """
    add_facts(self, label=name)


def document_of(model: Any, released: Any, width: int, names: Any, **more: Any) -> dict[str, Any]:
    """Return the entries of a model's file: what was released, the columns that it reads, and further entries."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    claim, encoder, attributes = model.privacy_, getattr(model, "encoder_", None), vars(model)
    figures = {name: attributes[f"{name}_"] for name in CARD if f"{name}_" in attributes}
    document = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "model": model._model,
        "parameters": stated_parameters(model),
        "classes": model.classes_,
        "n_features": width,
        "feature_names": names,
        "privacy": claim.to_dict(),
        "released": released,
        "card": {"dpfast": _version(), "public": attributes.get("_facts")} | figures,
        **more,
    }
    if not type(model).__module__.startswith("dpfast."):
        document["class"] = home_of(type(model))
    if encoder is not None:
        document["encoder"] = {"schema": encoder.schema_.to_dict(), "privacy": encoder.privacy_.to_dict()}
        if encoder.found_:
            document["encoder"] |= {"found": encoder.found_, "other": encoder.other_}
    return document


def stated_parameters(model: Any) -> dict[str, Any]:
    """Return the parameters of a fitted model that are saved and shown: those of its claim, whatever they became."""
    claim, hidden = model.privacy_, unsaved(model)
    charged = {"epsilon": claim.epsilon, "delta": claim.delta, "neighbors": claim.neighbors}
    parameters = model.get_params(deep=False)
    return {name: charged.get(name, parameters[name]) for name in parameters if name not in hidden}


def home_of(kind: type) -> str:
    """Return where a class is defined: its module and its name in it."""
    return f"{kind.__module__}:{kind.__qualname__}"


def find_class(base: type, name: str, name_of: Callable[[type], Any], is_home: Callable[[type], bool]) -> type | None:
    """Return the class below `base` with a name, the last one that was defined; if several have it, the one at home."""
    kinds, waiting = [], [base]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if name_of(kind) == name:
            kinds.append(kind)
    candidates = [kind for kind in kinds if is_home(kind)] or kinds
    if len(homes := {home_of(kind) for kind in candidates}) > 1:
        raise ValueError(f"several classes are named {name}, and the file is of none of {', '.join(sorted(homes))}")
    return candidates[0] if candidates else None


def add_facts(estimator: Any, **facts: Any) -> None:
    """Add public facts to those of a fitted model, which its file holds."""
    estimator._facts = {**(vars(estimator).get("_facts") or {}), **facts}


def columns_digest(document: dict[str, Any]) -> str:
    """Return the digest of the columns in a model's file: the schema, or the names or number of columns."""
    schema = document.get("encoder", {}).get("schema")
    return _digest({"columns": schema or document["feature_names"] or document["n_features"]})


def _version() -> str | None:
    try:
        return version("dpfast")
    except PackageNotFoundError:  # a checkout that is not installed
        return None


def write_model(estimator: Any, path: str | os.PathLike, **more: Any) -> None:
    """Write a model's file, with further entries of the caller, which the digest covers too."""
    content = model_bytes(estimator, **more)
    replace_file(path, lambda file: file.write(content))


def model_bytes(estimator: Any, **more: Any) -> bytes:
    """Return the content of the file that `write_model` writes."""
    document = json.loads(json.dumps(estimator._saver.document() | more, default=plain))
    return (json.dumps(document | {"digest": _digest(document)}, indent=1) + "\n").encode()


def read_document(path: str | os.PathLike) -> dict[str, Any]:
    """Return the entries of a model's file as written; `dpfast.load` checks whether they make a valid model.

    A ValueError refuses a file that is truncated, damaged, not a dpfast model or written by a newer version.
    """
    path = Path(path)
    try:
        document = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once_each, parse_int=_integer)
    except (ValueError, RecursionError, MemoryError) as error:
        if path.suffix.lower() in (".csv", ".tsv", ".txt", ".data", ".parquet", ".npz", ".svm"):
            raise ValueError(
                f"{path.name} is not a dpfast model but a table, by its name: give the file that dpfast fit --out or "
                "model.save wrote"
            ) from None
        if path.suffix.lower() == ".toml":
            raise ValueError(f"{path.name} is not a dpfast model but a schema, by its name") from None
        if path.read_bytes()[: len(_LEDGER)] == _LEDGER:
            raise ValueError(
                f"{path.name} is not a dpfast model but a budget: dpfast budget {path.name} shows what is left of it"
            ) from None
        raise ValueError(f"{path.name} is not a whole JSON file (cut short?): {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"{path.name} is not a dpfast model")
    number = document.get("version")
    if type(number) is not int or number < 1:
        raise ValueError(f"{path.name} is damaged: its format version is {number!r}")
    if number > FORMAT_VERSION:
        raise ValueError(
            f"{path.name} has format version {number}, this dpfast reads up to {FORMAT_VERSION}: install a newer one"
        )
    digest = document.pop("digest", None)
    if number > 1 and digest != _digest(document):  # files of version 1 have no digest
        raise ValueError(f"{path.name} is damaged: it is not what was saved, by its digest")
    return document


# ---- checks of the entries of a file ---------------------------------------------------------------------------------


def entries(saved: Any, *names: str, maybe: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a dict that has exactly the entries `names`, and possibly those in `maybe`; refuse any other."""
    if not isinstance(saved, dict) or not set(names) <= set(saved) <= {*names, *maybe}:
        names_there = sorted(saved) if isinstance(saved, dict) else saved
        raise ValueError(f"wanted the entries {', '.join(names or maybe)}, got {names_there!r}")
    return saved


def fraction(saved: Any) -> Fraction:
    """Return a positive rational below 2**64; refuse any other value."""
    value = rational(saved)
    if not 0 < value < 1 << 64:
        raise ValueError(f"wanted a positive rational below 2**64, got {saved[:40]!r}")
    return value


def integer(saved: Any, least: int, most: int) -> int:
    """Return an integer in [least, most]; refuse any other value."""
    if type(saved) is not int or not least <= saved <= most:
        raise ValueError(f"wanted an integer in [{least}, {most}], got {saved!r}")
    return saved


def integers(saved: Any, least: int, most: int) -> np.ndarray:
    """Return a list of integers in [least, most] as int64; refuse any other value."""
    if not isinstance(saved, list):
        raise ValueError(f"wanted a list of integers, got {saved!r}")
    return np.array([integer(each, least, most) for each in saved], np.int64)


def reals(saved: Any, length: int) -> np.ndarray:
    """Return a list of `length` numbers of at most LARGEST_NUMBER as float64; refuse any other value."""
    if not isinstance(saved, list) or len(saved) != length or not {type(each) for each in saved} <= {int, float}:
        raise ValueError(f"wanted {length} numbers, got {saved!r}")
    array = np.array(saved, np.float64)
    if not (np.abs(array) <= LARGEST_NUMBER).all():  # nor NaN
        raise ValueError(f"wanted finite numbers of at most {LARGEST_NUMBER:g}, got {saved!r}")
    return array


def _once_each(pairs):
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("an entry is there twice")
    return document


def _integer(text):
    """Return an integer of a file; refuse one longer than any float."""
    if len(text) > 300:
        raise ValueError(f"a number has {len(text):,} digits")
    return int(text)


def _digest(document):
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def plain(value):
    """Convert arrays and scalars of numpy, and fractions, to values that JSON can hold."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else float(value)


def found_facts(saved: Any, schema: Any) -> dict:
    """Return the discovered facts of the columns of a schema, lists by their names, from a model's file."""
    facts = {column.name: {*column.facts, "edges"} for column in schema.columns}
    if not isinstance(saved, dict) or not all(
        name in facts and isinstance(each, list) and {*map(str, each)} <= facts[name] for name, each in saved.items()
    ):
        raise ValueError("what was found must be lists of facts by the names of columns")
    return saved


def found_shares(saved: Any, schema: Any) -> dict:
    """Return the shares of rows with undiscovered values, by names of columns, from a model's file."""
    share = real(0, 1)
    if not isinstance(saved, dict) or not all(name in schema.names and share.fits(saved[name]) for name in saved):
        raise ValueError("what was not found must be shares of rows by the names of columns")
    return saved
