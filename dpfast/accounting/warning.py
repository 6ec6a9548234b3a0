"""What a claim that holds may still be worth little for: one warning, each with a sentence on what to do."""

import sys
import warnings

import dpfast

from .claims import PrivacySpend


class PrivacyWarning(UserWarning):
    """A claim of privacy is true and yet protects less than its reader may think."""


def warn(message: str) -> None:
    """Warn, at the line of the user's that called into dpfast."""
    level, frame = 1, sys._getframe()
    inside = dpfast.__path__[0]
    while frame is not None and (
        frame.f_code.co_filename.startswith(inside) or frame.f_code.co_filename == _CONTEXTLIB
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
    """Warn where rows are likely to be in a table more than once, or in many fits, of which no claim for one row and
    one fit speaks.

    No value is looked at: only whether scikit-learn's bagging, drawing rows with replacement, or a search is what
    called, and whether two rows of a DataFrame have one label in its index.
    """
    frame, bagging, searched = sys._getframe(), False, False
    while frame is not None and not bagging:
        searched = searched or frame.f_globals.get("__name__") == _SEARCH
        ensemble = frame.f_locals.get("ensemble") if frame.f_globals.get("__name__") == _BAGGING else None
        frame, bagging = frame.f_back, getattr(ensemble, "bootstrap", False)
    if searched:
        warn(
            "a search of scikit-learn fits a private learner again and again and looks at rows to choose: what that "
            "costs no claim of a single fit says; dpfast.model_selection.private_search states its total"
        )
    if bagging:
        warn(
            "a row is drawn several times into one fit of an ensemble, and moves it as often; each fit is a release of "
            "its own besides: fit once on all rows, or set bootstrap=False and charge all fits to one budget"
        )
    elif not getattr(getattr(X, "index", None), "is_unique", True):
        warn(
            "rows have one label of the index in common: if they repeat a row, or are of one person, the claim, which "
            "is for one of them, does not cover all: leave one of each"
        )


def warn_of_edits(claim: PrivacySpend, epsilon, delta, neighbors) -> None:
    """Warn where the parameters of a fitted estimator are no longer those of its claim."""
    if claim.epsilon and (claim.epsilon, claim.delta, claim.neighbors) != (float(epsilon), float(delta), neighbors):
        warn(
            f"parameters were edited after the fit, whose claim stays ({claim.epsilon}, {claim.delta}) for "
            f"{claim.neighbors!r}: fit again for the new ones to hold"
        )


_BAGGING = "sklearn.ensemble._bagging"
_SEARCH = "sklearn.model_selection._search"
_CONTEXTLIB = sys.modules["contextlib"].__file__
