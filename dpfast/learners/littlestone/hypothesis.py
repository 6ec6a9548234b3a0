"""Functions returned by a hypothesis class or a learner, and majority votes of such functions."""

from collections import Counter
from typing import Any

import numpy as np

from dpfast.base.parameters import count


class Hypothesis:
    """Function from points to labels, returned by a class or a learner; call it on points.

    Equal hypotheses of one class compare equal and have equal hashes.

    Parameters
    ----------
    domain : HypothesisClass
        The class whose points it labels.
    code : hashable
        Identifies the hypothesis within that class.
    """

    def __init__(self, domain: Any, code: Any) -> None:
        self._domain, self._code = domain, code

    def __call__(self, points):
        """Return the labels of points, an int or array_like of int, as uint8 of the same shape."""
        points = self._domain.check_points(points)
        return self._domain._labels(self._code, points)

    def _to_document(self):
        """Return what `read_hypothesis` reads, for JSON: the code, or for a majority a list of [code, votes]."""
        return _plain(self._code)

    def __eq__(self, other):
        if not isinstance(other, Hypothesis):
            return NotImplemented
        return self._code == other._code and self._domain._key() == other._domain._key()

    def __hash__(self):
        return hash((type(self._domain), self._code))

    def __repr__(self):
        return f"<{self._domain._describe(self._code)}>"


class Majority(Hypothesis):
    """Majority vote of some functions of a root class, by the numbers of votes of their codes; 0 for ties."""

    def __init__(self, domain, votes):
        super().__init__(domain, tuple(sorted(votes.items(), key=lambda vote: (str(type(vote[0])), vote[0]))))

    def __call__(self, points):
        points = self._domain.check_points(points)
        total = sum(votes for _, votes in self._code)
        ones = sum(votes * self._domain._labels(code, points).astype(np.int64) for code, votes in self._code)
        return (2 * ones > total).astype(np.uint8)

    def _to_document(self):
        return [[_plain(code), votes] for code, votes in self._code]

    def __repr__(self):
        return f"<majority of {sum(votes for _, votes in self._code)} votes for {len(self._code)} hypotheses>"


def majority(hypothesis_class, codes):
    """Return the majority vote of the hypotheses with these codes, or the hypothesis itself if there is only one."""
    votes = Counter(codes)
    if len(votes) == 1:
        return hypothesis_class._hypothesis(next(iter(votes)))
    return Majority(hypothesis_class._root(), votes)


def read_hypothesis(saved, hypothesis_class):
    """Return the function of this class that `_to_document` wrote; refuse invalid values."""
    domain = hypothesis_class._root()
    if not isinstance(saved, list):
        return Hypothesis(domain, _code(saved, domain))
    votes = {_code(code, domain): count(1).read("votes", number) for code, number in saved}
    if not votes:
        raise ValueError("a majority of no votes")
    return Majority(domain, votes)


def _plain(code):
    """Return a number, or the packed labels of all points in hexadecimal."""
    return code.hex() if isinstance(code, bytes) else int(code)


def _code(saved, domain):
    code = bytes.fromhex(saved) if isinstance(saved, str) else saved
    if not domain._has_code(code):
        raise ValueError(f"{saved!r} is no hypothesis of {domain!r}")
    return code
