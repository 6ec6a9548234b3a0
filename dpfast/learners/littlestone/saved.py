"""Classes and their hypotheses as JSON."""

from .closed_forms import PointFunctions, Thresholds
from .finite_class import FiniteClass
from .hypothesis_class import Hypothesis

_KINDS = {kind.__name__: kind for kind in (FiniteClass, PointFunctions, Thresholds)}


def class_to_json(hypothesis_class):
    """What `class_from_json` reads."""
    return {"kind": type(hypothesis_class).__name__, **hypothesis_class._saved()}


def class_from_json(saved):
    """The class that `class_to_json` wrote; ValueError, KeyError or TypeError if it is none."""
    if saved["kind"] not in _KINDS:
        raise ValueError(f"unknown kind of class {saved['kind']!r}")
    return _KINDS[saved["kind"]]._from_saved(saved)


def hypothesis_to_json(hypothesis):
    """A number, or the packed labels of all points in hexadecimal; None for None."""
    if hypothesis is None:
        return None
    code = hypothesis._code
    return code.hex() if isinstance(code, bytes) else int(code)


def hypothesis_from_json(saved, hypothesis_class):
    """The function of this class that `hypothesis_to_json` wrote."""
    if saved is None:
        return None
    code, domain = bytes.fromhex(saved) if isinstance(saved, str) else saved, hypothesis_class._root()
    if not domain._has_code(code):
        raise ValueError(f"{saved!r} is no hypothesis of {domain!r}")
    return Hypothesis(domain, code)
