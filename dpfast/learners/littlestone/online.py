"""Online learners of a class without privacy: the optimal one, and halving."""

from typing import Any

from .hypothesis_class import HypothesisClass, check_labels


class _OnlineLearner:
    """Base of learners that keep the members consistent with all mistakes."""

    def __init__(self, hypothesis_class: Any) -> None:
        if not isinstance(hypothesis_class, HypothesisClass):
            raise TypeError(f"hypothesis_class must be a class of dpfast.littlestone, got {hypothesis_class!r}")
        hypothesis_class._check_members()
        self.hypothesis_class, self.mistakes, self._version = hypothesis_class, 0, hypothesis_class

    def predict(self, point: int) -> int:
        """Return the predicted label of a point, 0 for ties.

        Parameters
        ----------
        point : int

        Returns
        -------
        int
        """
        raise NotImplementedError

    def update(self, point: int, label: int) -> bool:
        """Learn the label of a point, and return whether `predict` errs on it, which counts as a mistake.

        Parameters
        ----------
        point : int
        label : {0, 1}

        Returns
        -------
        bool

        Raises
        ------
        ValueError
            If no member agrees with this label and the earlier mistakes; nothing is learned then.
        """
        label = int(check_labels(label))
        if self.predict(point) == label:
            return False
        left = self._version.restrict(point, label)
        if not left.size:
            raise ValueError(f"no hypothesis agrees with label {label} at point {point} and the earlier mistakes")
        self._version, self.mistakes = left, self.mistakes + 1
        return True

    def __repr__(self):
        return f"{type(self).__name__}({self.hypothesis_class!r}, mistakes={self.mistakes})"


class SOALearner(_OnlineLearner):
    """Standard optimal algorithm: at most LDim mistakes if some member explains the labels [Littlestone 1988].

    It predicts the SOA of the members that agree with its mistakes, whose number is `mistakes`, from two Littlestone
    dimensions for each prediction. It is not private.

    Parameters
    ----------
    hypothesis_class : FiniteClass, PointFunctions or Thresholds

    Examples
    --------
    >>> from dpfast.littlestone import Thresholds
    >>> learner = SOALearner(Thresholds(2**40))
    >>> for x in range(0, 2**40, 2**33):
    ...     _ = learner.update(x, int(x >= 123456789))
    >>> learner.mistakes <= 40
    True
    """

    def predict(self, point: int) -> int:
        return self._version.soa(point)


class HalvingLearner(_OnlineLearner):
    """Majority of the members that agree with the mistakes: at most log2(size) `mistakes`. It is not private.

    Parameters
    ----------
    hypothesis_class : FiniteClass, PointFunctions or Thresholds

    Examples
    --------
    >>> from dpfast.littlestone import PointFunctions
    >>> learner = HalvingLearner(PointFunctions(2**40))
    >>> learner.update(5, 0), learner.update(9, 1), learner.predict(9)
    (False, True, 1)
    """

    def predict(self, point: int) -> int:
        return int(2 * self._version.restrict(point, 1).size > self._version.size)
