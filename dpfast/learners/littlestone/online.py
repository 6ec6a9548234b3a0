"""Online learners of a class, not private: the optimal one, and the one that halves."""

from typing import Any

from .hypothesis_class import HypothesisClass, check_labels


class _OnlineLearner:
    """Keeps the members that agree with all mistakes."""

    def __init__(self, hypothesis_class: Any) -> None:
        if not isinstance(hypothesis_class, HypothesisClass):
            raise TypeError(f"hypothesis_class must be a class of dpfast.littlestone, got {hypothesis_class!r}")
        hypothesis_class._check_members()
        self.hypothesis_class, self.mistakes, self._version = hypothesis_class, 0, hypothesis_class

    def predict(self, point: int) -> int:
        raise NotImplementedError

    def update(self, point: int, label: int) -> bool:
        """Learn the label of a point; what the present prediction would have been counts.

        Parameters
        ----------
        point : int
        label : {0, 1}

        Returns
        -------
        bool
            Whether `predict` errs on it.

        Raises
        ------
        ValueError
            If no member agrees with this and the earlier mistakes, and for a point or label out of range. Nothing is
            learned.
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
    """The standard optimal algorithm: at most LDim mistakes on labels that some member explains.

    It predicts as SOA of the members that agree with its mistakes. Not private.

    Parameters
    ----------
    hypothesis_class : FiniteClass, PointFunctions or Thresholds

    Attributes
    ----------
    mistakes : int
        So far. For the data's owner.

    Notes
    -----
    A prediction costs two Littlestone dimensions; only mistakes change the learner.

    References
    ----------
    N. Littlestone, Learning Quickly When Irrelevant Attributes Abound, Machine Learning 2, 1988.

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
        """Return the label predicted for a point.

        Parameters
        ----------
        point : int

        Returns
        -------
        int
            0 or 1.
        """
        return self._version.soa(point)


class HalvingLearner(_OnlineLearner):
    """The majority of the members that agree with the mistakes: at most log2(size) mistakes. Not private.

    Parameters
    ----------
    hypothesis_class : FiniteClass, PointFunctions or Thresholds

    Attributes
    ----------
    mistakes : int
        So far. For the data's owner.

    Notes
    -----
    A prediction costs one restriction; only mistakes change the learner.

    Examples
    --------
    >>> from dpfast.littlestone import PointFunctions
    >>> learner = HalvingLearner(PointFunctions(2**40))
    >>> learner.update(5, 0), learner.update(9, 1), learner.predict(9)
    (False, True, 1)
    """

    def predict(self, point: int) -> int:
        """Return the label predicted for a point.

        Parameters
        ----------
        point : int

        Returns
        -------
        int
            0 or 1; 0 on ties.
        """
        return int(2 * self._version.restrict(point, 1).size > self._version.size)
