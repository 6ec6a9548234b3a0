import numpy as np
import pytest
from scipy.stats import binom

from dpfast import metrics
from dpfast.accounting import Budget, BudgetExceeded
from dpfast.metrics import groups
from dpfast.metrics.figure import Counter

VALUES, CHANCES = ["a", "b", "c"], np.array([0.8, 0.9, 0.7, 0.6])


def drawn(rng, classes, size=3000):
    """Rows of groups of very different sizes, whose predictions are right with chances that are known."""
    group = rng.choice(4, size, p=[0.85, 0.1, 0.02, 0.03])
    chance = rng.choice([0.02, 0.3], size)
    y = (rng.random(size) < chance).astype(int) if classes == 2 else rng.choice(classes, size)
    wrong = (y + 1 + rng.integers(0, classes - 1, size)) % classes
    guess = np.where(rng.random(size) < CHANCES[group], y, wrong)
    return y, guess, np.array([*VALUES, "z"])[group], chance


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_without_noise_groups_and_classes_have_the_figures_of_their_rows(rng, classes, neighbors):
    y, guess, group, chance = drawn(rng, classes)
    y[:9] = classes  # a label that is none of the classes
    given = {"classes": range(classes), "epsilon": 1e6, "neighbors": neighbors, "random_state": 0}
    likely = chance if classes == 2 else None
    found = metrics.by_group(y, guess, group, values=VALUES, probability=likely, **given).groups
    for each, name in zip(found, [*VALUES, "z"], strict=True):
        rows = group == name
        assert each.rows.value == pytest.approx(rows.sum(), abs=0.1)
        assert each.accuracy.value == pytest.approx((y == guess)[rows].mean(), abs=1e-4)
        for label in range(classes):
            of = rows & (y == label)
            assert each.recall[label].value == pytest.approx((guess == label)[of].mean(), abs=1e-4)
        if classes == 2:
            assert each.said.value == pytest.approx(chance[rows].mean(), abs=1e-4)
            assert each.came_true.value == pytest.approx((y == 1)[rows].mean(), abs=1e-4)
            assert each.error.value == pytest.approx((y == 1)[rows].mean() - chance[rows].mean(), abs=1e-3)
    assert [each.value for each in found] == [*VALUES, None]
    found = metrics.by_class(y, guess, **given)
    assert found.rows.value == pytest.approx(len(y))
    for label, each in enumerate(found.classes[:-1]):
        right, of, said = (guess == y) & (y == label), y == label, guess == label
        figures = [each.rows, each.predicted, each.share, each.predicted_share, each.recall, each.precision]
        wanted = [of.sum(), said.sum(), of.mean(), said.mean(), right.sum() / of.sum(), right.sum() / said.sum()]
        assert [figure.value for figure in figures] == pytest.approx(wanted, abs=1e-3)
    assert found.classes[-1].label is None
    assert found.classes[-1].rows.value == pytest.approx(9)


@pytest.mark.parametrize("classes", [2, 4])
def test_intervals_of_groups_and_classes_hold_in_nineteen_of_twenty_runs(rng, classes):
    held = {}
    shares = np.full(classes, 1 / classes) if classes > 2 else np.array([0.84, 0.16])
    right = float(np.dot([0.85, 0.1, 0.02, 0.03], CHANCES))
    for run in range(400):
        y, guess, group, chance = drawn(rng, classes)
        given = {"epsilon": 0.5, "neighbors": ("replace", "add-remove")[run % 2], "random_state": rng}
        given["classes"] = range(classes)
        likely = chance if classes == 2 else None
        found = metrics.by_group(y, guess, group, values=VALUES, probability=likely, **given)
        for each, accuracy in zip(found.groups, CHANCES, strict=True):
            told = [("accuracy", each.accuracy, accuracy), ("recall", each.recall[1], accuracy)]
            told += [("rows", each.rows, np.count_nonzero(group == (each.value or "z")))]
            if classes == 2:
                told += [("said", each.said, 0.16), ("true", each.came_true, 0.16), ("error", each.error, 0)]
            for name, figure, truth in told:
                held.setdefault((each.value, name), []).append(figure.low <= truth <= figure.high)
        for label, each in enumerate(metrics.by_class(y, guess, **given).classes[:-1]):
            taken = shares @ np.where(np.arange(classes) == label, right, (1 - right) / (classes - 1))
            told = [(each.share, shares[label]), (each.recall, right), (each.predicted_share, taken)]
            told += [(each.precision, shares[label] * right / taken)]
            for k, (figure, truth) in enumerate(told):
                held.setdefault((label, k), []).append(figure.low <= truth <= figure.high)
    least = binom.isf(1 - 1e-6, 400, 0.95)
    assert min(map(sum, held.values())) >= least
    assert np.mean([*held.values()]) > 0.95
    few = metrics.by_group(y, guess, group, values=VALUES, **(given | {"epsilon": 0.1})).groups
    assert [each.small for each in few] == [False, False, True, True]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("likely", [False, True])
def test_one_row_moves_the_cells_of_groups_and_classes_by_what_the_noise_is_for(rng, monkeypatch, classes, likely):
    counted = []

    def kept(counter, counts):
        counted.append((np.array(counts), counter))
        return np.array(counts)

    monkeypatch.setattr(Counter, "release", kept)
    if likely and classes > 2:
        return
    for neighbors in ("replace", "add-remove"):
        given = {"classes": range(classes), "epsilon": 1.0, "neighbors": neighbors, "random_state": 0}
        for _ in range(60):
            y, guess, group, chance = drawn(rng, classes, 12)
            other = drawn(rng, classes + 1, 1)
            rows = slice(0, 11) if neighbors == "add-remove" else slice(None)
            changed = [each.copy() for each in (y, guess, group, chance)]
            for mine, new in zip(changed, other, strict=True):
                mine[-1] = min(new[0], classes - 1) if mine is changed[1] else new[0]
            counted.clear()
            for each in ((y, guess, group, chance), changed):
                part = [entries[rows] for entries in each] if each is changed else each
                of = part[3] if likely else None
                metrics.by_group(*part[:3], values=VALUES, probability=of, **given)
                metrics.by_class(*part[:2], **given)
            for first, second in ((0, 2), (1, 3)):
                moved = np.abs(counted[first][0] - counted[second][0]).sum()
                assert moved <= counted[first][1]._scale


def test_groups_are_refused_before_anything_is_charged(rng, monkeypatch):
    monkeypatch.setattr(groups, "_MOST_CELLS", 100)
    y, guess, group, chance = drawn(rng, 2)
    ledger = Budget(1.0)
    given = {"classes": [0, 1], "epsilon": 0.4, "budget": ledger, "random_state": rng}
    for more, words in (
        ({"values": ["a", "a "]}, "distinct"),
        ({"values": "abc"}, "list"),
        ({"values": VALUES, "probability": chance + 1}, r"in \[0, 1\]"),
        ({"values": VALUES, "probability": chance[1:]}, "of shape"),
        ({"values": VALUES, "classes": [0, 1, 2], "probability": chance}, "two classes"),
        ({"values": VALUES, "classes": [0]}, "two or more"),
        ({"values": range(99)}, "name fewer"),
    ):
        with pytest.raises(ValueError, match=words):
            metrics.by_group(y, guess, group, **(given | more))
    with pytest.raises(ValueError, match="no other label"):
        metrics.by_class(y, guess + 1, **given)
    assert ledger.spent[0] == 0
    metrics.by_group(y, guess, group, values=VALUES, **given)
    metrics.by_class(y, guess, **given)
    with pytest.raises(BudgetExceeded):
        metrics.by_class(y, guess, **given)
    assert ledger.spent[0] == pytest.approx(0.8)


def test_all_rows_of_no_value_are_one_group(rng):
    y, guess, group, _ = drawn(rng, 2)
    column = np.where(group == "z", None, group.astype(object))
    given = {"classes": [0, 1], "epsilon": 1e6, "random_state": 0}
    found = metrics.by_group(y, guess, column, values=VALUES, **given).groups
    assert found[-1].rows.value == pytest.approx((group == "z").sum())
    (alone,) = metrics.by_group(y, guess, column, values=[], **given).groups
    assert alone.rows.value == pytest.approx(len(y))
