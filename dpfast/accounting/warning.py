"""Warnings about claims that hold but are weak; each explains what to do."""

import sys
import warnings
from types import FrameType

import dpfast

from .claims import PrivacySpend


class PrivacyWarning(UserWarning):
    """A claim of privacy is true and yet protects less than its reader may think."""


def warn(message: str) -> None:
    """Warn, at the line of the user's that called into dpfast."""
    level = 1
    frame: FrameType | None = sys._getframe()
    inside = dpfast.__path__[0]
    while frame is not None and (
        frame.f_code.co_filename.startswith(inside) or frame.f_globals.get("__name__", "").startswith(_BETWEEN)
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, PrivacyWarning, stacklevel=level)


def warn_of_claim(epsilon: float, delta: float, n: int | None = None) -> None:
    """Warn of an epsilon above 10, and of a delta of at least 1 / n where the number of rows n is public."""
    if epsilon > 10:
        warn(f"epsilon = {epsilon:g} promises next to nothing: above 10 a row can be all but certain; lower it")
    if n is not None and delta * n >= 1:
        warn(
            f"delta = {delta:g} is at least one in {n:,}, the number of rows, and publishing one at random would "
            "satisfy it: take a delta well below"
        )


def warn_of_repeated_rows(X) -> None:
    """Warn where two rows of a DataFrame have one label in its index; no value is looked at."""
    if not getattr(getattr(X, "index", None), "is_unique", True):
        warn(
            "rows have one label of the index in common: if they repeat a row, or are of one person, the claim, which "
            "is for one of them, does not cover all: leave one of each"
        )


def warn_of_caller(charged: bool) -> None:
    """Warn where a fit is one of many that something of scikit-learn makes, by who called.

    Parameters
    ----------
    charged : bool
        Whether there is a budget, which counts them all.
    """
    frame: FrameType | None = sys._getframe()
    said = None
    while frame is not None and said is None:
        name = frame.f_globals.get("__name__")
        ensemble = frame.f_locals.get("ensemble") if name == _BAGGING else None
        if getattr(ensemble, "bootstrap", False):
            said = (
                "a row is drawn several times into one fit of an ensemble, and moves it as often; each fit is a "
                "release of its own besides: fit once on all rows, or set bootstrap=False and charge all fits to one "
                "budget"
            )
        elif name in _SEARCHES:
            said = (
                "a search or a cross-validation fits again and again and looks at rows to choose, and no claim of a "
                "single fit says what that costs: dpfast.model_selection.private_search states its total"
            )
        elif name in _ENSEMBLES and not charged:
            said = (
                "something that fits many times called, and the claim is for one fit: give all fits one budget, which "
                "counts them"
            )
        frame = frame.f_back
    if said is not None:
        warn(said)


def warn_of_edits(claim: PrivacySpend, epsilon, delta, neighbors) -> None:
    """Warn where the parameters of a fitted estimator are no longer those of its claim."""
    if claim.epsilon and (claim.epsilon, claim.delta, claim.neighbors) != (float(epsilon), float(delta), neighbors):
        warn(
            f"parameters were edited after the fit, whose claim stays ({claim.epsilon}, {claim.delta}) for "
            f"{claim.neighbors!r}: fit again for the new ones to hold"
        )


_BAGGING = "sklearn.ensemble._bagging"
_SEARCHES = {
    f"sklearn.{name}"
    for name in ("model_selection._validation", "model_selection._search", "feature_selection._sequential")
}
_ENSEMBLES = {
    f"sklearn.{name}"
    for name in (
        "calibration", "ensemble._bagging", "ensemble._stacking", "ensemble._voting", "feature_selection._rfe",
        "multiclass", "multioutput",
    )
}  # fmt: skip
_BETWEEN = "contextlib", "sklearn.callback"  # what stands between a call and what it runs
