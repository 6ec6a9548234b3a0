"""Functions that a hypothesis class or a learner gives, and what most of some functions say."""

from collections import Counter
from typing import Any

import numpy as np


class Hypothesis:
    """A function from points to labels that a class or a learner gives: call it on points.

    Equal hypotheses of one class compare equal, and hash so.

    Parameters
    ----------
    domain : HypothesisClass
        The class whose points it labels.
    code : hashable
        What tells it from other hypotheses of that class.
    """

    def __init__(self, domain: Any, code: Any) -> None:
        self._domain, self._code = domain, code

    def __call__(self, points):
        """Labels of points, an int or array_like of int: uint8 of the same shape."""
        points = self._domain.check_points(points)
        return self._domain._labels(self._code, points)

    def __eq__(self, other):
        if not isinstance(other, Hypothesis):
            return NotImplemented
        return self._code == other._code and self._domain._key() == other._domain._key()

    def __hash__(self):
        return hash((type(self._domain), self._code))

    def __repr__(self):
        return f"<{self._domain._describe(self._code)}>"


class Majority(Hypothesis):
    """What most of some hypotheses say, 0 on ties.

    Parameters
    ----------
    domain : HypothesisClass
        The root of all of them.
    votes : dict
        From their codes to how often each counts.
    """

    def __init__(self, domain, votes):
        super().__init__(domain, tuple(sorted(votes.items(), key=lambda vote: (str(type(vote[0])), vote[0]))))

    def __call__(self, points):
        points = self._domain.check_points(points)
        total = sum(count for _, count in self._code)
        ones = sum(count * self._domain._labels(code, points).astype(np.int64) for code, count in self._code)
        return (2 * ones > total).astype(np.uint8)

    def __repr__(self):
        return f"<majority of {sum(count for _, count in self._code)} votes for {len(self._code)} hypotheses>"


def majority(hypothesis_class, codes):
    """What most of the hypotheses of these codes say: one of them if they are one."""
    votes = Counter(codes)
    if len(votes) == 1:
        return hypothesis_class._hypothesis(next(iter(votes)))
    return Majority(hypothesis_class._root(), votes)
