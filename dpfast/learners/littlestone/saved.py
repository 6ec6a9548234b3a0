"""Conversion of classes and their hypotheses to and from JSON."""

from dpfast.learners.parameters import count

from .closed_forms import PointFunctions, Thresholds
from .hypothesis import Hypothesis, Majority
from .listed import FiniteClass

_KINDS = {kind.__name__: kind for kind in (FiniteClass, PointFunctions, Thresholds)}


def class_to_json(hypothesis_class):
    """Return the JSON values that `class_from_json` reads."""
    return {"kind": type(hypothesis_class).__name__, **hypothesis_class._saved()}


def class_from_json(saved):
    """Return the class that `class_to_json` wrote; raise ValueError, KeyError or TypeError for invalid values."""
    if saved["kind"] not in _KINDS:
        raise ValueError(f"unknown kind of class {saved['kind']!r}")
    return _KINDS[saved["kind"]]._from_saved(saved)


def hypothesis_to_json(hypothesis):
    """Return a code, or a list of [code, votes] for a majority; None for None."""
    if hypothesis is None:
        return None
    if isinstance(hypothesis, Majority):
        return [[_code_to_json(code), votes] for code, votes in hypothesis._code]
    return _code_to_json(hypothesis._code)


def hypothesis_from_json(saved, hypothesis_class):
    """Return the function of this class that `hypothesis_to_json` wrote."""
    if saved is None:
        return None
    domain = hypothesis_class._root()
    if isinstance(saved, list):
        votes = {_code_from_json(code, domain): count(1).read("votes", votes) for code, votes in saved}
        if not votes:
            raise ValueError("a majority of no votes")
        return Majority(domain, votes)
    return Hypothesis(domain, _code_from_json(saved, domain))


def _code_to_json(code):
    """Return a number, or the packed labels of all points in hexadecimal."""
    return code.hex() if isinstance(code, bytes) else int(code)


def _code_from_json(saved, domain):
    code = bytes.fromhex(saved) if isinstance(saved, str) else saved
    if not domain._has_code(code):
        raise ValueError(f"{saved!r} is no hypothesis of {domain!r}")
    return code
