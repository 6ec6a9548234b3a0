import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import dpfast.learners.littlestone.learner as learner_module
import dpfast.learners.littlestone.points as points_module
from dpfast.accounting import Budget, BudgetExceeded, sparse_sample_delta
from dpfast.base import Task
from dpfast.learners.littlestone.splits import classes_of_parts, rows_of_parts
from dpfast.littlestone import (
    FiniteClass,
    LittlestoneLearner,
    OnlineLittlestoneLearner,
    PointFunctions,
    StagedLittlestoneLearner,
    Thresholds,
)
from dpfast.mechanisms.sparse_sample import votes

ALPHA = 0.1


def points(rng, n, hypothesis_class):
    """Examples that some member explains: (points, labels)."""
    if isinstance(hypothesis_class, PointFunctions):
        target, share = rng.integers(hypothesis_class.n_points), rng.choice([0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.6])
        X = np.where(rng.random(n) < share, target, rng.integers(hypothesis_class.n_points, size=n))
        return X, (target == X).astype(int)
    target = int(rng.integers(hypothesis_class.n_points + 1))
    near = np.clip(rng.normal(target, 20, n).round().astype(int), 0, hypothesis_class.n_points - 1)
    X = near if rng.random() < 0.5 else rng.integers(hypothesis_class.n_points, size=n)
    return X, (target <= X).astype(int)


@pytest.mark.parametrize("H", [PointFunctions(2**40), Thresholds(256)], ids=repr)
def test_the_training_error_is_small_in_nine_of_ten_runs_at_the_n_that_the_estimate_names(H):
    n, good = LittlestoneLearner(4.0, 1e-6, H, ALPHA).estimate().n_samples, 0
    for seed in range(10):
        X, y = points(np.random.default_rng(seed), n, H)
        learner = LittlestoneLearner(4.0, 1e-6, H, ALPHA, random_state=seed).fit(X, y)
        good += (learner.predict(X) != y).mean() <= 2 * ALPHA
    assert good >= 9


def test_a_table_learns_as_its_closed_form_does(rng):
    table = FiniteClass(np.arange(30) >= np.arange(31)[:, None])
    for H in (table, Thresholds(30)):
        n = LittlestoneLearner(1.0, 1e-6, H, ALPHA).estimate().n_samples
        X = rng.integers(30, size=n)
        learner = LittlestoneLearner(1.0, 1e-6, H, ALPHA, random_state=1).fit(X[:, np.newaxis], X >= 11)
        assert learner.selected_
        assert (learner.predict(X) != (X >= 11)).mean() <= 2 * ALPHA
        assert learner.score(X, (X >= 11).astype(int)) >= 1 - 2 * ALPHA


def test_a_class_that_does_not_decompose_to_zero_is_learned_by_an_essential_function_that_is_no_member(rng):
    H = FiniteClass(np.eye(150))
    learner = LittlestoneLearner(2.0, 1e-6, H, 0.3, rows_per_teacher=80, irreducibility=80, random_state=0)
    plan = learner.estimate()
    assert H.decomposition_dimension(plan.irreducibility) == 1
    X = rng.integers(50, 150, size=plan.n_samples)
    learner.fit(X, X == 3)  # ones are rare: nobody sees one
    assert learner.selected_
    assert not learner.predict(np.arange(150)).any()


def test_few_examples_release_nothing_and_fall_back_on_soa(rng):
    learner = LittlestoneLearner(1.0, 1e-6, Thresholds(256), ALPHA, n_teachers=20, random_state=0)
    learner.fit(rng.integers(256, size=40), rng.integers(2, size=40))
    assert not learner.selected_
    assert learner.hypothesis_ == Thresholds(256).soa_hypothesis()
    assert [event.used for event in learner.privacy_.events] in ([1, 0], [1, 1])


def test_one_row_changes_one_teachers_lists_and_so_the_largest_vote_by_at_most_one(rng):
    H = FiniteClass(rng.random((30, 12)) < 0.4)
    learner = LittlestoneLearner(1.0, 1e-6, H, 0.3, n_teachers=7)
    plan = learner.estimate()
    d = H.littlestone_dimension()
    for _ in range(30):
        X, y, teacher = rng.integers(12, size=60), rng.integers(2, size=60), rng.integers(7, size=60)
        other_X, other_y = X.copy(), y.copy()
        row = rng.integers(60)
        other_X[row], other_y[row] = rng.integers(12), rng.integers(2)
        for j in range(len(plan.accuracies)):
            lists = [
                [list(classes)[j]._essential_codes(plan.irreducibility, d) for classes in teachers]
                for teachers in (
                    classes_of_parts(H, X, y, rows_of_parts(teacher, 7), plan.accuracies),
                    classes_of_parts(H, other_X, other_y, rows_of_parts(teacher, 7), plan.accuracies),
                )
            ]
            assert sum(list(a) != list(b) for a, b in zip(*lists, strict=True)) <= 1
            assert max(len(each) for each in lists[0]) <= plan.list_bound
            first, second = (votes(each, max_length=plan.list_bound)[1].max(initial=0) for each in lists)
            assert abs(int(first) - int(second)) <= 1


def test_a_run_tests_and_draws_with_what_its_plan_says_and_gives_rows_to_teachers_at_random(monkeypatch, rng):
    tests, draws, teachers = [], [], []
    above, sample, parts = points_module.AboveThreshold, points_module.sparse_sample, learner_module.rows_of_parts

    def note(function, noted):
        def noting(*arguments, **given):
            noted.append((arguments, {name: value for name, value in given.items() if name != "rng"}))
            return function(*arguments, **given)

        return noting

    monkeypatch.setattr(points_module, "AboveThreshold", note(above, tests))
    monkeypatch.setattr(points_module, "sparse_sample", note(sample, draws))
    monkeypatch.setattr(learner_module, "rows_of_parts", note(parts, teachers))
    learner = LittlestoneLearner(
        4.0, 1e-3, Thresholds(5), 0.2, n_teachers=9, vote_fraction=0.02, minority=0.01, random_state=rng
    )
    plan = learner.estimate()
    for _ in range(20):
        learner.fit([2], [1])
    assert tests == [((plan.votes_needed, plan.threshold_epsilon), {})] * 20
    assert len(draws) > 5
    for (_, *numbers), given in draws:
        assert (*numbers, given) == (plan.exponent, plan.bottom_score, {"max_length": plan.list_bound})
    assert len({arguments[0][0] for arguments, _ in teachers}) > 4  # the first row's, of nine
    assert plan.threshold_epsilon + 2 * plan.exponent <= 4.0 + 1e-12


def table_whose_teachers_search_long(seed, **limits):
    rng = np.random.default_rng(seed)
    H = FiniteClass(rng.random((40, 14)) < rng.choice([0.1, 0.2, 0.3]), **limits)
    X = rng.integers(14, size=30)
    return H, X, H.table[3][X].astype(int)


def test_a_search_that_a_teacher_gives_up_ends_no_fit_and_is_told_to_nobody():
    """It would say something of that teacher's rows; and what others searched before must not decide it."""
    given_up = 0
    for seed in range(100, 140):
        H, X, y = table_whose_teachers_search_long(seed, max_nodes=250)
        learner = LittlestoneLearner(4.0, 1e-2, H, 0.3, n_teachers=5, irreducibility=2, random_state=0)
        try:
            plan = learner.estimate()
        except ValueError:
            continue  # of the public class, before anything is read
        d, teacher = H.littlestone_dimension(), np.random.default_rng(0).integers(5, size=len(X))
        parts = [
            part for each in classes_of_parts(H, X, y, rows_of_parts(teacher, 5), plan.accuracies) for part in each
        ]
        first = [part._private_codes(2, d) for part in parts]
        given_up += sum(part.size > 0 and not len(codes) for part, codes in zip(parts, first, strict=True))
        again = [part._private_codes(2, d) for part in reversed(parts)]
        assert all(list(a) == list(b) for a, b in zip(first, reversed(again), strict=True))
        assert hasattr(learner.fit(X, y), "privacy_")
    assert given_up


def test_the_callers_class_remembers_nothing_of_what_teachers_searched():
    H, X, y = table_whose_teachers_search_long(54)
    learner = LittlestoneLearner(4.0, 1e-2, H, 0.3, n_teachers=5, irreducibility=1, random_state=0)
    online = OnlineLittlestoneLearner(4.0, 1e-2, H, 100, n_teachers=5, irreducibility=1, batch_constant=0.7)
    learner.estimate(), online.estimate(), H.soa_hypothesis(), H.estimate()
    shared = H._shared
    before = shared.memo.copy(), dict(shared.dimensions)
    learner.fit(X, y)
    while not getattr(online, "releases_", []):
        online.partial_fit(X, 1 - y)
    np.testing.assert_array_equal(shared.memo, before[0])
    assert shared.dimensions == before[1]


def test_the_plans_numbers_fit_the_budget_and_depend_on_parameters_alone():
    for calibration in ("tight", "paper"):
        plan = LittlestoneLearner(0.7, 1e-7, PointFunctions(10**9), 0.2, calibration=calibration).estimate()
        assert plan.threshold_epsilon + 2 * plan.exponent <= 0.7
        assert sparse_sample_delta(plan.exponent, plan.bottom_score, plan.list_bound) <= 1e-7
        assert plan.n_samples == plan.n_teachers * plan.rows_per_teacher
        assert plan.list_bound == 2 * plan.irreducibility + 1
    paper = LittlestoneLearner(0.7, 1e-7, PointFunctions(10**9), 0.2, calibration="paper").estimate()
    assert paper.n_teachers > LittlestoneLearner(0.7, 1e-7, PointFunctions(10**9), 0.2).estimate().n_teachers


def test_the_claim_is_kept_and_a_seed_is_named(rng):
    X = rng.integers(9, size=100)
    learner = LittlestoneLearner(1.0, 1e-6, Thresholds(9), neighbors="add-remove", random_state=3).fit(X, X > 4)
    assert "add or remove one row" in str(learner.privacy_)
    assert learner.privacy_.reproducible
    assert not LittlestoneLearner(1.0, 1e-6, Thresholds(9)).fit(X, X > 4).privacy_.reproducible


def test_a_budget_is_charged_once_and_a_fit_that_it_cannot_pay_is_refused(rng):
    budget = Budget(1.5, 1e-5)
    X = rng.integers(9, size=100)
    learner = LittlestoneLearner(1.0, 1e-6, Thresholds(9), budget=budget, random_state=0).fit(X, X > 4)
    assert budget.spent == (1.0, 1e-6)
    with pytest.raises(BudgetExceeded):
        learner.fit(X, X > 4)


def test_models_are_cloned_and_pickled_without_what_they_saw(rng):
    H = FiniteClass(np.arange(20) >= np.arange(21)[:, None])
    X = rng.integers(20, size=3000)
    learner = LittlestoneLearner(1.0, 1e-6, H, random_state=0)
    fresh = len(pickle.dumps(H))
    learner.fit(X, X > 4)
    assert len(pickle.dumps(H)) == fresh
    again = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(again.predict(X), learner.predict(X))
    assert not hasattr(clone(learner), "privacy_")
    assert "FiniteClass" in repr(learner)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"hypothesis_class": None}, r"must be a class of dpfast\.littlestone, got None"),
        ({"hypothesis_class": Thresholds(4).restrict(0, 1).restrict(0, 0)}, "no members"),
        ({"dimension": 2}, "the class has Littlestone dimension 3, above the declared 2"),
        ({"accuracy": 0.5}, r"accuracy must lie in \(0, 0.5\), got 0.5"),
        ({"confidence": 0}, r"confidence must lie in \(0, 1\), got 0"),
        ({"vote_fraction": 0.4}, "minority < vote_fraction < agreement is needed"),
        ({"n_teachers": 0}, 'n_teachers must be "auto" or an integer of at least 1, got 0'),
        ({"irreducibility": "many"}, 'irreducibility must be "auto" or'),
        ({"sample_constant": -1}, "sample_constant must be a finite number > 0"),
        ({"calibration": "guess"}, 'calibration must be "tight" or "paper"'),
        ({"epsilon": 0}, "epsilon must"),
        ({"delta": 0}, "delta must"),
        ({"neighbors": "swap"}, "neighbors must"),
        ({"budget": 1.0}, "budget must"),
        ({"max_work": 100}, r"there may be [\d,]+ items on the teachers' lists, more than max_work=100"),
        (
            {"hypothesis_class": Thresholds(2**40)},
            r"[\d,]+ items on the teachers' lists, more than max_work=1,000,000,000",
        ),
    ],
)
def test_parameters_that_will_not_do_are_refused_by_name_and_draw_nothing(parameters, message, rng):
    before = copy.deepcopy(rng.bit_generator.state)
    learner = LittlestoneLearner(**{"hypothesis_class": Thresholds(9), "random_state": rng} | parameters)
    with pytest.raises(ValueError, match=message):
        learner.fit([0, 1], [0, 1])
    assert rng.bit_generator.state == before
    assert not hasattr(learner, "privacy_")


def test_a_refused_refit_leaves_the_old_model_and_an_interrupted_one_publishes_what_was_released(rng, monkeypatch):
    X = rng.integers(9, size=3000)
    budget = Budget(2.5, 1e-5)
    learner = LittlestoneLearner(1.0, 1e-6, Thresholds(9), budget=budget, random_state=0).fit(X, X > 4)
    before = dict(vars(learner))
    with pytest.raises(ValueError, match="labels must be 0 or 1"):
        learner.fit(X, X)
    with pytest.raises(BudgetExceeded):
        learner.set_params(epsilon=2.0).fit(X, X > 2)
    assert vars(learner.set_params(epsilon=1.0)) == before

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("dpfast.learners.littlestone.points.sparse_sample", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.fit(X, X > 2)
    assert budget.spent == (2.0, 2e-6)
    assert (learner.selected_, learner.hypothesis_) == (False, Thresholds(9).soa_hypothesis())
    assert [event.used for event in learner.privacy_.events] == [1, 0]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([0, 9], [0, 1], r"points must lie in \[0, 9\), got 9"),
        ([0, -1], [0, 1], "got -1"),
        ([0.0, 1.0], [0, 1], "points must be integers"),
        ([[0, 1]], [0], r"of shape \(n,\) or \(n, 1\), got shape \(1, 2\)"),
        ([0, 1], [0, 2], "labels must be 0 or 1, got 2"),
        ([0, 1], ["a", "b"], "labels must be integers 0 and 1"),
        ([0, 1], [0, 1, 1], r"y must have shape \(2,\), one label a point, got \(3,\)"),
        ([], [], "at least one point"),
    ],
)
def test_data_that_will_not_do_is_refused_before_the_charge(X, y, message):
    budget = Budget(1.0, 1e-6)
    with pytest.raises(ValueError, match=message):
        LittlestoneLearner(1.0, 1e-6, Thresholds(9), budget=budget).fit(X, y)
    assert budget.charges == ()


@pytest.mark.parametrize(
    ("learner", "times"),
    [
        (LittlestoneLearner(hypothesis_class=Thresholds(9)), {"accuracy": 1, "hypothesis": 1}),
        (StagedLittlestoneLearner(hypothesis_class=Thresholds(9), scale=1e-4), {"stage": 1, "hypothesis": 1}),
        (
            StagedLittlestoneLearner(
                hypothesis_class=Thresholds(9), scale=1e-4, proper_share=0.1, probability_share=0.2
            ),
            {"stage": 1, "hypothesis": 1, "member": 1, "class counts (0.2 of epsilon)": 1},
        ),
        (
            OnlineLittlestoneLearner(hypothesis_class=Thresholds(9), horizon=1000, n_releases=7),
            {"hypotheses": 7, "tests": None},
        ),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_learner_of_a_class_has_a_plan_of_what_it_releases(learner, times):
    plan, numbers = learner.plan(Task(1.0, 1e-6)), learner.estimate()
    assert {name: each.times for name, each in plan.items()} == times
    (drawn,) = [plan[name] for name in ("hypothesis", "hypotheses") if name in plan]
    assert drawn.noise == numbers.exponent
    assert learner.plan(Task(0.5, 1e-6)) != plan == learner.plan(Task(1.0, 1e-6))


def test_a_model_with_probabilities_has_what_its_counts_leave_of_epsilon():
    for kind in (LittlestoneLearner, StagedLittlestoneLearner):
        less, shared = kind(0.75, 1e-6, Thresholds(9)), kind(1.0, 1e-6, Thresholds(9), probability_share=0.25)
        assert shared.estimate() == less.estimate()
        assert shared.plan(Task(1.0, 1e-6))["hypothesis"] == less.plan(Task(0.75, 1e-6))["hypothesis"]
