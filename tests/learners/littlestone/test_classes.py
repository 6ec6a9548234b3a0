import pickle

import numpy as np
import pytest
from reference import littlestone as slow
from tables_of_classes import functions, random_class, rows

import dpfast
from dpfast.littlestone import FiniteClass, PointFunctions, Thresholds, littlestone_dimension


def table_of(kind, n):
    return FiniteClass(np.eye(n) if kind is PointFunctions else np.arange(n) >= np.arange(n + 1)[:, None])


# ---- Littlestone's dimension -----------------------------------------------------------------------------------------


def test_thresholds_have_dimension_floor_log2_of_their_number():
    for n in range(1, 301):
        assert Thresholds(n).littlestone_dimension() == int(np.log2(n + 1))
        if n <= 40:
            assert littlestone_dimension(table_of(Thresholds, n).table) == int(np.log2(n + 1))
    assert Thresholds(2**40).littlestone_dimension() == 40
    assert Thresholds(2**62).littlestone_dimension() == 62


def test_point_functions_have_dimension_one_and_all_functions_on_k_points_k():
    assert PointFunctions(2**40).littlestone_dimension() == PointFunctions(2).littlestone_dimension() == 1
    for k in range(1, 11):
        assert littlestone_dimension(np.arange(1 << k)[:, None] >> np.arange(k) & 1) == k


def test_no_function_has_minus_one_and_one_function_zero():
    for whole in (PointFunctions(5), Thresholds(5), FiniteClass(np.eye(5))):
        nothing = whole.restrict(2, 1).restrict(2, 0)
        assert (nothing.size, nothing.littlestone_dimension(), bool(nothing)) == (0, -1, False)
    assert PointFunctions(5).restrict(2, 1).littlestone_dimension() == 0


@pytest.mark.parametrize("seed", range(20))
def test_random_tables_agree_with_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    H = random_class(rng, 64, 12)
    assert H.littlestone_dimension() == slow.dimension(rows(H)) <= np.log2(H.size)
    assert [H.soa(x) for x in range(H.n_points)] == list(slow.soa(rows(H)))


# ---- closed forms against tables -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [PointFunctions, Thresholds])
@pytest.mark.parametrize("seed", range(30))
def test_a_closed_form_answers_as_its_table_does(kind, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 14))
    form, table = kind(n), table_of(kind, n)
    for _ in range(rng.integers(0, 4)):  # any subclass: what is left of the examples at hand
        if rng.random() < 0.5:
            x, y = rng.integers(n), rng.integers(2)
            form, table = form.restrict(x, y), table.restrict(x, y)
        else:
            points, labels = rng.integers(n, size=6), rng.integers(2, size=6)
            radius = int(rng.integers(1, 6))
            (form,), (table,) = (each.balls(points, labels, [radius]) for each in (form, table))
    assert form.size == table.size
    assert form.littlestone_dimension() == table.littlestone_dimension()
    if not form.size:
        assert form.essential_hypotheses(1) == ()
        assert form.decomposition_dimension(1, 3) == -1
        return
    assert [form.soa(x) for x in range(n)] == [table.soa(x) for x in range(n)]
    assert functions([form.soa_hypothesis()], n) == functions([table.soa_hypothesis()], n)
    for r in range(3):
        assert form.reduction_depth(r) == table.reduction_depth(r)
    for p, d in [(1, None), (2, None), (1, 4), (3, None), (20, 4)]:
        assert form.decomposition_dimension(p, d) == table.decomposition_dimension(p, d)
        found = functions(form.essential_hypotheses(p, d), n)
        assert found == functions(table.essential_hypotheses(p, d), n)
        assert form.decomposition(p, d).degree == form.decomposition_dimension(p, d)


def test_equal_sets_are_equal_however_they_came_about():
    assert PointFunctions(3).restrict(0, 0).restrict(1, 0).restrict(2, 0) != PointFunctions(3)
    assert PointFunctions(9).restrict(4, 1) == PointFunctions(9).restrict(4, 1).restrict(3, 0)
    assert Thresholds(9).restrict(4, 1).restrict(1, 0) == Thresholds(9).restrict(1, 0).restrict(4, 1)
    assert FiniteClass(np.eye(4)).restrict(1, 0) == FiniteClass(np.eye(4)).restrict(1, 0)
    assert hash(Thresholds(9)) == hash(Thresholds(9))


def test_balls_hold_the_members_with_few_errors(rng):
    for kind in (PointFunctions, Thresholds):
        form, table = kind(30), table_of(kind, 30)
        points, labels = rng.integers(30, size=50), rng.integers(2, size=50)
        errors = (table.table[:, points] != labels).sum(axis=1)
        for ball, of_table, radius in zip(
            form.balls(points, labels, range(51)), table.balls(points, labels, range(51)), range(51), strict=True
        ):
            assert ball.size == of_table.size == (errors <= radius).sum()
            np.testing.assert_array_equal(of_table.table, table.table[errors <= radius])


def test_point_functions_on_many_points_have_one_essential_hypothesis_the_zero():
    H = PointFunctions(2**40)
    (zero,) = H.essential_hypotheses(10**6)
    assert not zero([0, 5, 2**40 - 1]).any()
    (few,) = H.balls([1, 2, 3], [1, 1, 0], [1])
    assert functions(few.essential_hypotheses(5, 1), 4) == {(0, 1, 0, 0), (0, 0, 1, 0)}


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[0, 1], [1]], r"same points, got rows of lengths \[1, 2\]"),
        ([], r"the class is empty: .* got shape \(0,\)"),
        (np.empty((0, 3)), r"the class is empty: .* got shape \(0, 3\)"),
        ([[]], "at least one of each"),
        ([0, 1], r"must have shape \(n_hypotheses, n_points\)"),
        ([[0, 2]], "entries of a table must be 0 or 1, got 2"),
        ([[0, np.nan]], "must be 0 or 1, got nan"),
        ([["a", "b"]], "must be 0 or 1, got <U1"),
    ],
)
def test_a_table_that_is_no_class_is_refused_with_what_was_seen(table, message):
    with pytest.raises(ValueError, match=message):
        FiniteClass(table)


@pytest.mark.parametrize("whole", [FiniteClass(np.eye(6)), PointFunctions(6), Thresholds(6)])
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda H: H.restrict(6, 0), r"points must lie in \[0, 6\), got 6"),
        (lambda H: H.restrict(-1, 0), "got -1"),
        (lambda H: H.restrict(0.5, 0), r"points must be integers in \[0, 6\), got float64"),
        (lambda H: H.restrict(0, 2), "labels must be 0 or 1, got 2"),
        (lambda H: H.restrict(0, 0.0), "labels must be integers 0 and 1"),
        (lambda H: H.soa(6), "points must lie in"),
        (lambda H: H.soa_hypothesis()([3, 9]), r"points must lie in \[0, 6\), got 9"),
        (lambda H: H.decomposition(3, 0), "dimension [12], above the declared 0"),
        (lambda H: H.essential_hypotheses(3, 0), "above the declared 0"),
        (lambda H: H.decomposition_dimension(0), "p must be an integer of at least 1, got 0"),
        (lambda H: H.reducibility_witness(-1), "k must be an integer of at least 0, got -1"),
        (lambda H: H.restrict(0, 1).restrict(0, 0).soa(1), "the class has no members"),
        (lambda H: H.restrict(0, 1).restrict(0, 0).decomposition(1, 3), "the class has no members"),
    ],
)
def test_what_does_not_fit_the_class_is_refused(whole, call, message):
    with pytest.raises(ValueError, match=message):
        call(whole)


def test_trees_and_lists_that_are_too_large_are_refused_with_their_size():
    with pytest.raises(ValueError, match=r"the tree may have 1,099,511,627,777 leaves, more than max_leaves=1,000,000"):
        Thresholds(2**40).decomposition(1)
    with pytest.raises(ValueError, match=r"1,099,511,627,777 essential hypotheses, more than max_hypotheses=10$"):
        Thresholds(2**40).essential_hypotheses(1, max_hypotheses=10)


def test_a_search_that_is_too_long_is_given_up_with_its_limit(rng):
    with pytest.raises(ValueError, match=r"max_nodes=5 subclasses of a class of \d+ hypotheses on 30 points"):
        FiniteClass(rng.random((300, 30)) < 0.5, max_nodes=5).littlestone_dimension()
    H = FiniteClass(rng.random((60, 20)) < 0.2, max_nodes=20)
    with pytest.raises(ValueError, match="max_nodes=20 subclasses"):
        H.reduction_depth(1)


def test_a_search_that_is_too_deep_is_refused():
    H = FiniteClass(np.vstack([np.eye(1200), np.ones((1, 1200)), 1 - np.eye(1200)]), max_nodes=2000)
    with pytest.raises(ValueError, match=r"deeper than Python's recursion limit|max_nodes=2,000"):
        H.reduction_depth(0, at_most=1190)


def test_points_outside_of_n_points_of_a_closed_form_are_no_class():
    for kind in (PointFunctions, Thresholds):
        with pytest.raises(ValueError, match=r"n_points must be an integer in \[1, 4611686018427387904\], got 0"):
            kind(0)
        with pytest.raises(ValueError, match="n_points must be an integer in"):
            kind(2**62 + 1)


def test_a_row_given_twice_counts_once():
    H = FiniteClass([[0, 1], [1, 1], [0, 1]])
    assert H.size == len(H) == 2
    np.testing.assert_array_equal(H.table, [[0, 1], [1, 1]])


def test_a_pickle_holds_the_class_and_nothing_that_searches_saw():
    H = FiniteClass(np.eye(5)).restrict(0, 0)
    before = len(pickle.dumps(H))
    H.decomposition(1)
    assert len(pickle.dumps(H)) == before
    again = pickle.loads(pickle.dumps(H))
    assert again == H
    assert again.littlestone_dimension() == 1


def test_estimates_bound_the_search_and_know_the_size(rng):
    cost = FiniteClass(rng.random((512, 64)) < 0.5).estimate()
    assert (cost.hypotheses, cost.dimension_bound) == (512, 9)
    assert cost.nodes > 10**6
    assert Thresholds(2**40).estimate()[:3] == (2**40 + 1, 40, 1)


def test_the_module_is_reached_by_its_short_name():
    assert dpfast.littlestone.FiniteClass is FiniteClass
