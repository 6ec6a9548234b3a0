"""Saved models: what was released, as JSON."""

import json
from pathlib import Path

import numpy as np

from dpfast.accounting import PrivacySpend
from dpfast.learners import (
    BoostedHalfspaceClassifier,
    DecisionListClassifier,
    DPWinnowClassifier,
    FiniteClassLearner,
    LinearLearner,
    NetHalfspaceClassifier,
    ProjectedHalfspaceClassifier,
)
from dpfast.learners.base import FORMAT, FORMAT_VERSION
from dpfast.learners.littlestone import LittlestoneLearner, OnlineLittlestoneLearner

_MODELS = {
    estimator._model: estimator
    for estimator in (
        BoostedHalfspaceClassifier,
        DecisionListClassifier,
        DPWinnowClassifier,
        FiniteClassLearner,
        LinearLearner,
        LittlestoneLearner,
        NetHalfspaceClassifier,
        OnlineLittlestoneLearner,
        ProjectedHalfspaceClassifier,
    )
}


def load(path):
    """The fitted estimator that ``estimator.save(path)`` wrote.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    estimator
        Predicts; holds no budget and no random state.

    Raises
    ------
    ValueError
        If the file is cut short, is no dpfast model, or was written by a newer version.
    """
    path = Path(path)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path.name} is not a whole JSON file (cut short?): {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"{path.name} is not a dpfast model")
    version = document.get("version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise ValueError(
            f"{path.name} has format version {version!r}, this dpfast reads up to {FORMAT_VERSION}: install a newer one"
        )
    if document.get("model") not in _MODELS:
        raise ValueError(f"{path.name} holds a model of unknown kind {document.get('model')!r}")
    try:
        model = _MODELS[document["model"]](**document["parameters"])
        model.classes_ = np.array(document["classes"])
        model.n_features_in_ = document["n_features"]
        if document["feature_names"] is not None:
            model.feature_names_in_ = np.array(document["feature_names"], dtype=object)
            if model.feature_names_in_.shape != (model.n_features_in_,):
                raise ValueError(f"{model.n_features_in_} features, names {document['feature_names']!r}")
        model._restore(document["released"])
        model.privacy_ = PrivacySpend.from_dict(document["privacy"])
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise ValueError(f"{path.name} is damaged: {type(error).__name__}: {error}") from None
    return model
