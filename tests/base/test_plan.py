"""Plans: the noise of each release follows from public facts, and together they cost no more than the budget."""

import copy
import os
import pickle
import threading
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from forks import in_a_child
from hypothesis import given, settings
from hypothesis import strategies as st

import dpfast
from dpfast.accounting import (
    Budget,
    Composed,
    Cost,
    Draws,
    NoisySums,
    bill_noise,
    gaussian_sigma,
    laplace_scale,
)
from dpfast.base import (
    ExponentialDraw,
    FloatArray,
    GaussianSum,
    IntArray,
    LaplaceSum,
    Model,
    Plan,
    Proved,
    Task,
    sqrt_up,
)
from dpfast.parts import MemoryParts

SUM, COUNTS, DRAW = GaussianSum(3, size=50, times=4), LaplaceSum(2, size=9), ExponentialDraw(1, times=3)


def cost(name, mechanism, noise, rows_per_unit=1):
    """What a release costs, by the theorem of its mechanism, for all rows of a unit."""
    moved = (mechanism.width if isinstance(mechanism, ExponentialDraw) else mechanism.moves) * rows_per_unit
    if isinstance(mechanism, GaussianSum):
        return Cost("gaussian", float(moved) / float(noise) * mechanism.times**0.5)
    if isinstance(mechanism, LaplaceSum):
        return Cost("pure", float(moved / noise), times=mechanism.times)
    return Cost("range", float(moved * noise), times=mechanism.times)


releases = st.builds(GaussianSum, st.integers(1, 99), size=st.integers(1, 500), times=st.integers(1, 9)) | st.builds(
    LaplaceSum, st.integers(1, 9), times=st.integers(1, 5), share=st.sampled_from([Fraction(1, 10), 1])
)
releases |= st.builds(ExponentialDraw, st.integers(1, 9), times=st.integers(1, 5), share=st.sampled_from([1, 0.5]))


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(
    named=st.dictionaries(st.sampled_from("abcd"), releases, min_size=1),
    epsilon=st.sampled_from([0.1, 1.0, 3.0]),
    delta=st.sampled_from([0.0, 1e-6]),
    rows=st.sampled_from([1, 3]),
)
def test_all_releases_together_cost_no_more_than_the_budget_and_nearly_all_of_it(named, epsilon, delta, rows):
    task, plan = Task(epsilon, delta, rows_per_unit=rows), Plan(**named)
    if not delta and any(isinstance(each, GaussianSum) for each in named.values()):
        with pytest.raises(ValueError, match="Gaussian noise needs delta > 0"):
            plan.solve(task)
        return
    solved = plan.solve(task)
    spent = [cost(name, each, solved.noise[name], rows) for name, each in plan.items()]
    if delta:
        assert Composed(spent).delta(epsilon * (1 + 1e-9)) <= delta * (1 + 1e-6)
        assert Composed(solved.cost).delta(epsilon * (1 + 1e-9)) <= delta * (1 + 1e-6)
    else:
        assert sum(each.pure for each in spent) == pytest.approx(epsilon)
    assert solved.claim.epsilon == epsilon
    assert solved.claim.rows_per_unit == (None if rows == 1 else 3)


def test_a_release_has_its_noise_in_units_of_the_sum(learner):
    drawn = []
    learner(
        lambda rows, run: drawn.extend(run.release("sum", 7 * rows.sum(number)) for _ in run.rounds("sum")),
        sum=GaussianSum(2, times=2000),
    )
    sigma = Plan(sum=GaussianSum(2, times=2000)).solve(Task(1.0, 1e-6)).noise["sum"]
    drawn = np.array(drawn, dtype=float)
    assert drawn.mean() == pytest.approx(28, abs=6 * sigma / 2000**0.5)
    assert drawn.std() == pytest.approx(sigma, rel=0.1)


def test_one_sum_has_nearly_the_noise_of_a_gaussian_one():
    sigma = Plan(sum=GaussianSum(1000)).solve(Task(1.0, 1e-6)).noise["sum"]
    assert sigma == pytest.approx(1000 * gaussian_sigma(1.0, 1e-6), rel=1e-3)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("mechanism", [LaplaceSum(2, times=3), ExponentialDraw(2, times=3)])
def test_pure_releases_together_cost_epsilon_for_all_rows_of_a_unit(mechanism, rows):
    noise = Plan(it=mechanism).solve(Task(Fraction(3, 2), rows_per_unit=rows)).noise["it"]
    moved = 2 * rows
    assert 3 * (moved / noise if isinstance(mechanism, LaplaceSum) else moved * noise) == Fraction(3, 2)


@pytest.mark.parametrize("moves", [1, sqrt_up(2), 1000, 1 << 40])
def test_noise_is_drawn_in_fine_steps_unless_it_would_be_too_large(moves):
    solved = Plan(sum=GaussianSum(moves, size=1000)).solve(Task(1.0, 1e-6))
    assert solved.noise["sum"] == pytest.approx(float(moves) * gaussian_sigma(1.0, 1e-6), rel=1e-5)
    assert 2**30 <= moves * solved.steps["sum"] < 2**31 or solved.steps["sum"] == 1


def test_noise_that_is_too_large_in_fine_steps_is_drawn_in_steps_of_one():
    assert Plan(sum=GaussianSum(1000)).solve(Task(1e-7, 1e-9)).steps == {"sum": 1}


def test_a_plan_is_a_value():
    plan = Plan(first=SUM, second=COUNTS)
    assert plan == Plan(first=SUM, second=COUNTS) == pickle.loads(pickle.dumps(plan))
    assert plan != Plan(first=SUM, second=LaplaceSum(3))
    assert [*plan] == ["first", "second"]
    assert hash(plan) == hash(Plan(first=SUM, second=COUNTS))
    assert repr(plan).startswith("Plan(first=GaussianSum(moves=3, size=50, times=4, share=1, steps=None), second=L")
    assert plan.solve(Task(1.0, 1e-6)) == plan.solve(Task(1.0, 1e-6))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Plan, "at least one release"),
        (lambda: Plan(sum=1), "release 'sum' must be a mechanism"),
        (lambda: GaussianSum(0), "moves"),
        (lambda: LaplaceSum(1, times=0), "times"),
        (lambda: ExponentialDraw(1, share=0), "share"),
        (lambda: Proved("none", 1.0), "mechanism must be"),
        (lambda: Plan(a=SUM, b=Proved("gaussian", 1.0)), "theorem of their own, or others, and not both"),
        (lambda: Proved("exponential", (1.0, 2.0), times=3), "a number for each of 3 releases, got 2"),
        (lambda: Proved("gaussian", 1.0, steps=0), "steps"),
        (lambda: Plan(a=Proved("gaussian", 2.0**30, steps=1 << 30)).solve(Task(1.0)), "beyond 64-bit integers"),
        (lambda: Plan(sum=LaplaceSum(1)).solve(Task(1e-17)), "beyond 64-bit integers"),
        (lambda: Task(1.0).n_codes, "no codes"),
    ],
)
def test_what_is_no_plan_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_theorem_of_ones_own_gives_its_noise_and_its_cost():
    proved = Proved("gaussian", 5.0, (Cost("gaussian", 0.2),), times=2)
    solved = Plan(sums=proved).solve(Task(1.0, 1e-6))
    assert (solved.noise, solved.steps, solved.cost) == ({"sums": 5.0}, {"sums": 1}, (Cost("gaussian", 0.2),))


def test_releases_of_one_theorem_have_their_noise_each_and_their_cost_once():
    bill, counts = (Cost("gaussian", 0.2),), (Cost("pure", 0.1),)
    plan = Plan(
        opening=Proved("gaussian", Fraction(3, 2), bill, size=9, steps=4),
        pairs=Proved("exponential", (0.1, 0.2), size=5, times=2),
        counts=Proved("laplace", 20, counts),
    )
    solved = plan.solve(Task(1.0, 1e-6))
    assert solved.noise == {"opening": Fraction(3, 2), "pairs": (0.1, 0.2), "counts": 20}
    assert solved.steps == {"opening": 4, "pairs": 1, "counts": 1}
    assert solved.cost == bill + counts


def test_roots_are_rounded_up():
    assert all(sqrt_up(n) ** 2 >= n > (sqrt_up(n) - Fraction(1, 10**9)) ** 2 for n in range(1, 50))


# ---- what a run allows ----------------------------------------------------------------------------------------------


def number(piece):
    return np.array([len(piece.labels)])


@pytest.fixture
def learner():
    """A function that fits a learner with a plan and what it does with its run."""
    from dataclasses import dataclass

    from dpfast.base import FloatArray, Model, PrivateClassifier, estimator

    @dataclass(frozen=True)
    class Nothing(Model):
        value: FloatArray

        def scores(self, rows):
            return np.zeros(len(rows))

    @estimator
    class Learner(PrivateClassifier):
        """A learner that does what it is told."""

        def plan(self, task):
            return self.planned

        def learn(self, rows, plan, run) -> Nothing:
            self.does(rows, run)
            return Nothing(np.zeros(1))

    def fit(does, table=None, **planned):
        model = Learner(random_state=0, budget=dpfast.accounting.Budget(9.0, 1e-5))
        model.planned, model.does = Plan(**planned), does
        return model.fit(*(table or (np.eye(4), [0, 1, 0, 1])), classes=[0, 1])

    return fit


@pytest.mark.parametrize(
    ("does", "message"),
    [
        (lambda rows, run: run.release("other", [1]), "no release 'other': it names sum, draw"),
        (lambda rows, run: run.rounds("other"), "no release 'other'"),
        (lambda rows, run: run.select("sum", [1]), "planned as GaussianSum, which run.select does not make"),
        (lambda rows, run: run.release("draw", [1]), "planned as ExponentialDraw, which run.release does not make"),
        (lambda rows, run: [run.release("sum", [1]) for _ in range(3)], "planned 2 times, and was released 2 times"),
        (lambda rows, run: run.release("sum", [1, 2]), "at most 1 entries, got 2"),
        (lambda rows, run: setattr(run, "model", 3), "must return a dpfast.base.Model, got int"),
    ],
)
def test_a_run_allows_what_the_plan_names_and_no_more(learner, does, message):
    with pytest.raises((RuntimeError, TypeError), match=message):
        learner(does, sum=GaussianSum(2, times=2), draw=ExponentialDraw(2, size=2))


def test_proved_releases_have_each_their_noise_and_are_drawn_by_samplers(learner):
    told = []

    def does(rows, run):
        told.append([run.draw("draws", 3, lambda noise, rng: noise) for _ in run.rounds("draws")])
        told.append(run.draw("sums", 2, lambda noise, rng: noise))
        told.append(run.release("sums", rows.sum(number)))
        told.append(run.select("last", [0, 1]))

    model = learner(
        does,
        draws=Proved("exponential", (0.5, Fraction(1, 4)), size=3, times=2),
        sums=Proved("gaussian", 1e-9, size=2, times=2, steps=1 << 8),
        last=Proved("exponential", 100.0, size=2),
    )
    assert told == [[0.5, Fraction(1, 4)], 1e-9, [4], 1]
    assert [tuple(event) for event in model.privacy_.events] == [("draws", 2, 2), ("sums", 2, 2), ("last", 1, 1)]


@pytest.mark.parametrize("end", [2, 9])
def test_a_sampler_draws_as_many_as_are_planned_or_fewer(learner, end):
    drawn = []

    def sample(noise, rng):
        assert noise == (0.5, 1.0, 2.0)
        for each in range(end):
            drawn.append(each)
            yield each

    model = learner(
        lambda rows, run: drawn.append([*run.draws("rules", 4, sample, progress=True)]),
        rules=Proved("exponential", (0.5, 1.0, 2.0), size=4, times=3),
    )
    made = min(end, 3)
    assert drawn == [*range(made), [*range(made)]]
    assert tuple(model.privacy_.events[0]) == ("rules", made, 3)


def test_samplers_in_turn_draw_no_more_than_is_planned(learner):
    drawn = []

    def does(rows, run):
        samplers = [run.draws("rules", 4, lambda noise, rng: iter([1, 2, 3])) for _ in range(2)]
        drawn.extend([next(samplers[0]), next(samplers[1]), *samplers[0], *samplers[1]])

    model = learner(does, rules=Proved("exponential", 0.5, size=4, times=3))
    assert drawn == [1, 1, 2]
    assert tuple(model.privacy_.events[0]) == ("rules", 3, 3)


def test_releases_with_noise_of_their_own_are_not_made_at_once(learner):
    def does(rows, run):
        run.release("sums", [1, 2], times=2)

    with pytest.raises(RuntimeError, match="'sums' has noise for each release, and 2 were to be made at once"):
        learner(does, sums=Proved("gaussian", (1.0, 1e9), times=2))
    with pytest.raises(RuntimeError, match="planned 2 times"):
        learner(lambda rows, run: run.release("sum", [1], times=-1), sum=GaussianSum(2, times=2))


def test_an_interrupted_fit_has_the_model_that_a_function_shows_and_all_releases_until_then(learner):
    kind, budget = type(learner(lambda rows, run: None, sum=GaussianSum(2))), dpfast.accounting.Budget(9.0, 1e-5)
    model, state = kind(random_state=0, budget=budget), []
    model.planned = Plan(sum=GaussianSum(2, times=5))

    def does(rows, run):
        run.note("Something was decided.")
        run.show(lambda: kind.learn.__annotations__["return"](np.array(state, dtype=float)))
        for _ in run.rounds("sum"):
            state.append(run.release("sum", [len(state)])[0])
            if len(state) == 3:
                raise KeyboardInterrupt

    model.does = does
    with pytest.raises(KeyboardInterrupt):
        model.fit(np.eye(4), [0, 1, 0, 1], classes=[0, 1])
    assert model.value_.tolist() == state
    assert model.privacy_.events[0].used == 3
    assert "Something was decided." in model.notes_


def narrow(piece, kind):
    return np.array([piece.labels.sum()]).astype(kind)


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint8, np.int16, np.int32, np.uint32])
def test_sums_of_narrow_integers_do_not_wrap_around(learner, kind):
    parts = MemoryParts([(np.eye(200), np.ones(200, int)), (np.eye(200), np.ones(200, int))])

    def drawn(kind, few):
        told = []
        learner(
            lambda rows, run: told.append((rows.sum(narrow, kind), run.release("sum", few.astype(kind)))),
            (parts, None),
            sum=GaussianSum(1, size=3),
        )
        return told[0]

    few = np.array([1, 2, 3]).astype(kind)
    assert drawn(kind, few)[0] == 2 * int(np.array(200).astype(kind))
    assert (drawn(kind, few)[1] == drawn(np.int64, few)[1]).all()


def fraction(piece):
    return piece.labels.mean()


def test_sums_over_rows_are_integers(learner):
    with pytest.raises(ValueError, match="sums over rows must be integers, got float64"):
        learner(lambda rows, run: rows.sum(fraction), sum=GaussianSum(1))
    with pytest.raises(ValueError, match="sums over rows must be integers, got float64"):
        learner(lambda rows, run: run.release("sum", [0.5]), sum=GaussianSum(1))


def test_releases_are_counted_in_the_claim(learner):
    model = learner(
        lambda rows, run: [run.release("sum", rows.sum(number)) for _ in run.rounds("sum")],
        sum=GaussianSum(2, times=2),
        draw=ExponentialDraw(2, size=2),
    )
    assert [tuple(event) for event in model.privacy_.events] == [("sum", 2, 2), ("draw", 0, 1)]
    assert model.budget.charges == ((1.0, 1e-6),)


@pytest.mark.parametrize(
    ("changes", "charged"),
    [(lambda task: task.epsilon < 1, False), (lambda task: task.n_codes < 200, True)],
)
@pytest.mark.parametrize("other", [{"sum": LaplaceSum(2)}, {"sum": GaussianSum(2), "counts": LaplaceSum(2)}])
def test_a_plan_spends_after_a_discovery_as_it_said_before(learner, changes, charged, other):
    kind, budget = type(learner(lambda rows, run: None, sum=GaussianSum(2))), dpfast.accounting.Budget(9.0, 1e-5)
    model = kind(encoder_share=0.3, random_state=0, budget=budget)
    released = []
    model.does = lambda rows, run: released.append(run.release("sum", [1]))
    usual = Plan(sum=GaussianSum(2))
    kind.plan = lambda self, task: Plan(**other) if changes(task) else usual
    table = pd.DataFrame({"a": np.arange(3000) % 7, "b": np.arange(3000) % 2})
    with pytest.raises(ValueError, match="plan\\(\\) of Learner must name the same mechanisms, with the same shares"):
        model.fit(table, np.arange(3000) % 2, classes=[0, 1])
    assert not released
    assert bool(budget.charges) == charged


def test_several_releases_are_made_at_once_and_each_is_counted(learner):
    told = []

    def does(rows, run):
        told.append(run.release("sum", [7, 8], times=2))
        told.append([*run.rounds("draw", each=2)])
        told.append(run.draw("draw", 5, lambda exponent, rng: [3, 4], times=2))
        told.append(run.permutation(4))
        with pytest.raises(RuntimeError, match="'sum' is planned 3 times, and was released 2 times"):
            run.release("sum", [7, 8], times=2)
        with pytest.raises(RuntimeError, match="'sum' is planned with at most 1 entries, got 2"):
            run.release("sum", [7, 8])

    model = learner(does, sum=Proved("gaussian", 1e-9, times=3), draw=Proved("exponential", 1.0, size=5, times=3))
    assert [each.tolist() for each in (told[0], told[3].sum())] == [[7, 8], 6]
    assert told[1:3] == [[0, 1], [3, 4]]
    assert [tuple(event) for event in model.privacy_.events] == [("sum", 2, 3), ("draw", 2, 3)]


def test_releases_without_a_number_are_drawn_without_end_and_not_counted_in_the_claim(learner):
    drawn = []
    model = learner(
        lambda rows, run: drawn.extend(run.draw("tests", 1, lambda noise, rng: noise) for _ in range(100)),
        tests=Proved("threshold", 0.5, times=None),
        sums=Proved("gaussian", 1.0, times=3),
    )
    assert drawn == [0.5] * 100
    assert [tuple(event) for event in model.privacy_.events] == [("sums", 0, 3)]
    with pytest.raises(RuntimeError, match="'tests' is planned without a number of rounds"):
        learner(lambda rows, run: run.rounds("tests"), tests=Proved("threshold", 0.5, times=None))


@pytest.mark.parametrize("name", ["cost", "learns", "public", "self"])
def test_a_release_may_have_any_name(learner, name):
    model = learner(lambda rows, run: run.release(name, rows.sum(number)), **{name: GaussianSum(2)})
    assert [tuple(event) for event in model.privacy_.events] == [(name, 1, 1)]


def test_only_a_theorem_allows_releases_without_a_number():
    for make in (GaussianSum, LaplaceSum, ExponentialDraw):
        with pytest.raises(ValueError, match="times"):
            make(1, times=None)


# ---- streams --------------------------------------------------------------------------------------------------------


def _streams():
    from dpfast.littlestone import OnlineLittlestoneLearner, PointFunctions, StagedOnlineLittlestoneLearner, Thresholds

    rng = np.random.default_rng(5)
    X, points = rng.integers(2, size=(6000, 4)) > 0, rng.integers(30, size=6000)
    rows, few = (X, X[:, 1]), (points, points >= 11)
    winnow, of_class = dpfast.DPWinnowClassifier, {"hypothesis_class": Thresholds(30), "horizon": 6000}
    yield winnow(random_state=0), rows, {"updates", "tests"}
    yield winnow(schedule="fixed", horizon=6000, random_state=0), rows, {"updates"}
    yield winnow(window=True, n_updates=3, random_state=0), rows, {"updates", "tests"}
    paper = {"calibration": "paper", "batch": 1, "average": False, "horizon": 6000, "margin": 0.5, "confidence": 0.2}
    yield winnow(**paper, random_state=0), rows, {"tests"}
    yield (
        OnlineLittlestoneLearner(5.0, n_teachers=20, n_releases=2, **of_class, random_state=0),
        few,
        {
            "hypotheses",
            "tests",
        },
    )
    points = np.where(np.arange(6000) % 4, 123456789, np.arange(6000))
    staged = StagedOnlineLittlestoneLearner(8.0, 1e-6, PointFunctions(2**40), 6000, scale=1e-6, random_state=0)
    yield staged, (points, points == 123456789), {"hypotheses", "tests", "failures", "first"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("which", range(6))
def test_a_stream_has_all_its_noise_from_a_run_by_the_names_of_its_plan(which, monkeypatch):
    from dpfast.base.run import Run

    stream, (X, y), names = [*_streams()][which]
    drawn, before = set(), Run.draw

    def draw(run, name, size, sample, times=1):
        drawn.add(name)
        return before(run, name, size, sample, times)

    monkeypatch.setattr(Run, "draw", draw)
    for start in range(0, len(X), 2000):
        stream.partial_fit(X[start : start + 2000], y[start : start + 2000])
    state = stream._state
    assert drawn == names
    assert not any(isinstance(each, np.random.Generator) for each in vars(state).values())
    counted = {event.name: event.used for event in stream.privacy_.events}
    assert counted == {name: state.run._used[name] for name in counted}
    if counted:
        assert sum(counted.values()) + ("first" in names) == len(
            getattr(stream, "releases_", getattr(stream, "released_weights_", ()))
        )


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_run_is_not_copied(learner, make):
    with pytest.raises(TypeError, match="a run is not copied or pickled"):
        learner(lambda rows, run: make(run), sum=GaussianSum(2))


def test_a_release_that_fails_was_taken_from_the_plan(learner):
    tried = []

    def bad(noise, rng):
        tried.append(noise)
        raise LookupError

    def does(rows, run):
        for _ in range(3):
            with pytest.raises(LookupError if len(tried) < 2 else RuntimeError):
                run.draw("draws", 2, bad)
        with pytest.raises(RuntimeError, match="planned 1 times, and was released 1 times"):
            run.draw("inner", 1, lambda noise, rng: run.draw("inner", 1, lambda *_: tried.append("inner")))
        each = run.draws("each", 1, lambda noise, rng: map(bad, [noise], [rng]))
        with pytest.raises(LookupError):
            next(each)
        assert [*run.draws("each", 1, lambda noise, rng: iter([1, 2]))] == [1]

    draws = {"draws": 2, "inner": 1, "each": 2}
    model = learner(does, **{name: Proved("exponential", 0.5, size=2, times=n) for name, n in draws.items()})
    assert tried == [0.5] * 3
    assert [event.used for event in model.privacy_.events] == [2, 1, 2]


def test_threads_together_make_no_more_releases_than_are_planned(learner):
    """Each thread waits within its draw until the others have asked for theirs."""
    made, refused = [], []

    def does(rows, run):
        asked = threading.Barrier(4)

        def sample(noise, rng):
            asked.wait(600)
            made.append(noise)

        def one():
            try:
                run.draw("draws", 1, sample)
            except RuntimeError:
                refused.append(1)
                asked.wait(600)

        threads = [threading.Thread(target=one) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

    model = learner(does, draws=Proved("exponential", 0.5, times=2))
    assert (len(made), len(refused)) == (2, 2)
    assert model.privacy_.events[0].used == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_fork_of_a_fit_releases_nothing(learner):
    def does(rows, run):
        kinds = (
            lambda: run.release("sum", rows.sum(number)),
            lambda: run.select("draw", [1, 2]),
            lambda: next(run.draws("draws", 1, lambda noise, rng: iter([1]))),
        )
        assert [in_a_child(each) for each in kinds] == ["RuntimeError"] * 3
        run.release("sum", rows.sum(number))

    learner(does, sum=Proved("gaussian", 2.0), draw=Proved("exponential", 0.5, size=2), draws=Proved("threshold", 1.0))


# ---- the better of all bounds ---------------------------------------------------------------------------------------


def test_one_draw_has_all_of_epsilon_whatever_delta():
    for epsilon in (0.1, 1, 4):
        pure, other = (Plan(a=ExponentialDraw(2)).solve(Task(epsilon, delta)) for delta in (0, 1e-6))
        assert pure.noise == other.noise
        assert pure.cost == other.cost
        assert pure.noise["a"] * 2 == Fraction(str(epsilon))


def test_many_draws_have_the_noise_of_a_bill_or_less():
    noise = Plan(a=ExponentialDraw(2, times=100)).solve(Task(1.0, 1e-6)).noise["a"]
    assert float(noise) >= bill_noise([Draws(2, 1, 100)], 1.0, 1e-6).noise[0] * (1 - 1e-6)


@pytest.mark.parametrize("rows", [1, 3])
def test_a_draw_beside_sums_gets_what_their_composition_leaves(rows):
    plan = Plan(a=GaussianSum(1), b=ExponentialDraw(1))
    solved = plan.solve(Task(1.0, 1e-6, rows_per_unit=rows))
    steps = solved.steps["a"]
    billed = bill_noise([NoisySums(steps * rows, 1), Draws(rows, 1)], 1.0, 1e-6)
    assert solved.noise["a"] == billed.noise[0] / steps
    assert float(solved.noise["b"]) > 1.1 * billed.noise[1]
    spent = [cost(name, each, solved.noise[name], rows) for name, each in plan.items()]
    for epsilon in (0.3, 1.0):
        assert Composed(solved.cost).delta(epsilon) == pytest.approx(Composed(spent).delta(epsilon), rel=1e-6)


def test_many_counts_cost_what_they_compose_to():
    assert float(Plan(a=LaplaceSum(1, times=1000)).solve(Task(1.0, 1e-6)).noise["a"]) < 1.02 * laplace_scale(
        1, 1e-6, releases=1000
    )
    assert Plan(a=LaplaceSum(1)).solve(Task(1.0, 1e-6)).noise["a"] == 1


# ---- messages that a first author meets -----------------------------------------------------------------------------


def test_a_learner_without_a_method_or_with_another_plan_is_told_before_the_charge(learner):
    from dpfast.base import PrivateClassifier, estimator

    X, y = np.eye(4), [0, 1, 0, 1]
    budget = Budget(5, 1e-3)

    @estimator
    class Nothing(PrivateClassifier):
        pass

    with pytest.raises(TypeError, match=r"Nothing must define the method plan\(task\), which returns a Plan"):
        Nothing(budget=budget).fit(X, y, classes=[0, 1])

    @estimator
    class OnlyPlans(PrivateClassifier):
        def plan(self, task):
            return {"counts": GaussianSum(1)}

    with pytest.raises(TypeError, match="OnlyPlans must define the method learn"):
        OnlyPlans(budget=budget).fit(X, y, classes=[0, 1])
    OnlyPlans.learn = lambda self, rows, plan, run: None
    with pytest.raises(TypeError, match="must return a Plan, got dict"):
        OnlyPlans(budget=budget).fit(X, y, classes=[0, 1])
    assert budget.spent == (0, 0)


@pytest.mark.parametrize("mechanism", [LaplaceSum(2, size=2), ExponentialDraw(2, size=2), GaussianSum(2, size=2)])
def test_a_plan_without_gaussian_noise_accepts_delta_0(mechanism):
    from dpfast.base import PrivateClassifier, estimator

    @estimator
    class Pure(PrivateClassifier):
        def plan(self, task):
            return Plan(it=mechanism)

        def learn(self, rows, plan, run):
            run.release("it", [1, 2]) if isinstance(mechanism, LaplaceSum) else run.select("it", [1, 2])
            return Nothing(np.zeros(2, int))

    if isinstance(mechanism, GaussianSum):
        with pytest.raises(ValueError, match="Gaussian noise needs delta > 0"):
            Pure(delta=0).fit(np.eye(4), [0, 1, 0, 1], classes=[0, 1])
        return
    model = Pure(delta=0, random_state=0).fit(np.eye(4), [0, 1, 0, 1], classes=[0, 1])
    assert (model.privacy_.epsilon, model.privacy_.delta) == (1, 0)


@dataclass(frozen=True)
class Nothing(Model):
    counts: IntArray
    weights: FloatArray | None = None

    def scores(self, rows):
        return np.zeros(len(rows))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ((np.array([1.5]),), "counts is annotated as IntArray, and holds an array of float64"),
        (([1, 2],), "counts is annotated as IntArray, and holds a list"),
        ((np.array([1]), np.array(["a"])), "weights is annotated as FloatArray, and holds an array of <U1"),
    ],
)
def test_a_model_refuses_arrays_that_its_file_could_not_give_back(fields, message):
    with pytest.raises(TypeError, match=message):
        Nothing(*fields)
    Nothing(np.array([1], np.int32), np.array([1]))
