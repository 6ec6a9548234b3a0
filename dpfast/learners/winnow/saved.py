"""A model of DP-Winnow as it is saved."""

from dpfast.learners.parameters import choice, optional, positive
from dpfast.learners.saving import entries, integer
from dpfast.learners.winnow.hypothesis import histograms_from_json, histograms_to_json

_FACTS = ("updates", "n_updates", "n_draws", "learning_rate", "reads")  # saved attributes, beside the weights
_MOST = 1 << 62


def to_json(model):
    """What was released of a `DPWinnowClassifier`."""
    facts = {name: getattr(model, f"{name}_") for name in _FACTS}
    return {"weights": histograms_to_json(model.released_weights_), **facts}


def restore(model, released):
    """Be the model that `to_json` saved; all else is refused."""
    if isinstance(released, list) and model.calibration == "tight":  # of version 1
        known = {"updates": len(released), "n_updates": model.n_updates, "n_draws": model.n_draws}
        released = {"weights": released, **known, "learning_rate": None, "reads": None}
    entries(released, "weights", *_FACTS)
    model.released_weights_ = histograms_from_json(released["weights"], model._width)
    for name in ("n_updates", "n_draws"):
        setattr(model, f"{name}_", integer(released[name], 1, _MOST))
    model.updates_ = integer(released["updates"], 0, _MOST if model.window else model.n_updates_)
    if len(model.released_weights_) != min(model.updates_, model.n_updates_):
        raise ValueError(f"{len(model.released_weights_)} releases of {model.updates_} updates")
    model.learning_rate_ = optional(positive()).read("learning_rate", released["learning_rate"])
    model.reads_ = optional(choice("signs", "numbers")).read("reads", released["reads"])
