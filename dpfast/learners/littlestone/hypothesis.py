"""Functions returned by a hypothesis class or a learner, and majority votes of such functions."""

from collections import Counter
from typing import Any

import numpy as np


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
        total = sum(count for _, count in self._code)
        ones = sum(count * self._domain._labels(code, points).astype(np.int64) for code, count in self._code)
        return (2 * ones > total).astype(np.uint8)

    def __repr__(self):
        return f"<majority of {sum(count for _, count in self._code)} votes for {len(self._code)} hypotheses>"


def majority(hypothesis_class, codes):
    """Return the majority vote of the hypotheses with these codes, or the hypothesis itself if there is only one."""
    votes = Counter(codes)
    if len(votes) == 1:
        return hypothesis_class._hypothesis(next(iter(votes)))
    return Majority(hypothesis_class._root(), votes)
