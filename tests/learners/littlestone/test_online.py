import numpy as np
import pytest

from dpfast.littlestone import FiniteClass, HalvingLearner, PointFunctions, SOALearner, Thresholds


def adversary(learner, hypothesis_class):
    """Labels against the learner as long as some member explains them; the mistakes it could force by even splits."""
    version = hypothesis_class
    while version.littlestone_dimension() > 0:
        best = max(
            range(hypothesis_class.n_points),
            key=lambda x: min(version.restrict(x, y).littlestone_dimension() for y in (0, 1)),
        )
        label = 1 - learner.predict(best)
        version = version.restrict(best, label)
        assert learner.update(best, label)
    return learner.mistakes


@pytest.mark.parametrize("seed", range(20))
def test_soa_errs_at_most_its_dimension_and_halving_its_logarithm(seed):
    rng = np.random.default_rng(seed)
    H = FiniteClass(rng.random((40, 8)) < 0.4)
    for row in H.table[:10]:
        soa, halving = SOALearner(H), HalvingLearner(H)
        for x in rng.integers(8, size=40).tolist():
            soa.update(x, int(row[x]))
            halving.update(x, int(row[x]))
        assert soa.mistakes <= H.littlestone_dimension()
        assert halving.mistakes <= np.log2(H.size)
        assert all(soa.predict(x) == row[x] for x in range(8)) or soa.mistakes < 8


def test_an_adversary_forces_the_dimension_on_any_learner():
    for H in (FiniteClass(np.random.default_rng(3).random((30, 6)) < 0.5), Thresholds(15), PointFunctions(9)):
        assert adversary(SOALearner(H), H) == H.littlestone_dimension()
        assert adversary(HalvingLearner(H), H) >= H.littlestone_dimension()


def test_thresholds_on_a_huge_domain_are_found(rng):
    target, learner = 987654321987, SOALearner(Thresholds(2**40))
    for x in rng.integers(2**40, size=3000).tolist():
        learner.update(x, int(x >= target))
    assert learner.mistakes <= 40
    assert [learner.predict(x) for x in (0, 2**40 - 1)] == [0, 1]


def test_labels_that_nobody_explains_are_refused_and_change_nothing():
    for learner in (SOALearner(PointFunctions(9)), HalvingLearner(PointFunctions(9))):
        assert learner.update(3, 1)
        with pytest.raises(ValueError, match="no hypothesis agrees with label 1 at point 4"):
            learner.update(4, 1)
        assert (learner.mistakes, learner.predict(3)) == (1, 1)
        with pytest.raises(ValueError, match="labels must be 0 or 1, got 2"):
            learner.update(4, 2)
        with pytest.raises(ValueError, match=r"points must lie in \[0, 9\), got 9"):
            learner.update(9, 1)


def test_a_learner_needs_a_class_with_members():
    with pytest.raises(TypeError, match=r"must be a class of dpfast\.littlestone"):
        SOALearner([[0, 1]])
    with pytest.raises(ValueError, match="no members"):
        HalvingLearner(Thresholds(4).restrict(0, 1).restrict(0, 0))
