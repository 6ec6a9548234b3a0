import copy
import itertools
import os
import pickle
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from forks import in_a_child
from laws import assert_follows, exponential_law

from dpfast import BitMatrix, RandomizedWeightedMajority
from dpfast.accounting import Budget, BudgetExceeded, experts_epsilon, experts_learning_rate, experts_regret, zcdp_rho
from dpfast.base import Task
from dpfast.learners.experts import weighted_majority


def test_sequences_of_actions_follow_the_law_by_enumeration(rng):
    losses = np.array([[0.0, 1.0], [0.25, 1.0], [1.0, 0.0], [0.5, 0.75]])
    learner = RandomizedWeightedMajority(30.0, 1e-3, horizon=4, n_experts=2, random_state=rng)
    eta = learner.learning_rate_
    assert eta > 1
    law = {}
    for actions in itertools.product(range(2), repeat=4):
        totals = np.vstack([np.zeros(2), losses.cumsum(axis=0)[:-1]])
        law[actions] = np.prod([exponential_law(-total, eta)[a] for total, a in zip(totals, actions, strict=True)])
    seen = dict.fromkeys(law, 0)
    for _ in range(1_000):
        run = RandomizedWeightedMajority(30.0, 1e-3, horizon=4, random_state=rng)
        seen[tuple(run.play(losses).tolist())] += 1
    assert_follows(list(seen.values()), list(law.values()))


def test_neighbours_differ_by_no_more_than_the_claim(rng):
    """The exact law of all actions, for one loss vector replaced: its hockey-stick divergence at epsilon."""
    epsilon, delta, T = 1.0, 1e-2, 8
    eta = RandomizedWeightedMajority(epsilon, delta, horizon=T, n_experts=2).learning_rate_
    losses = np.tile([[0.5, 0.5]], (T, 1))
    one, other = losses.copy(), losses.copy()
    one[0], other[0] = (0, 1), (1, 0)

    def probability(matrix, actions):
        totals = np.vstack([np.zeros(2), matrix.cumsum(axis=0)[:-1]])
        return np.prod([exponential_law(-t, eta)[a] for t, a in zip(totals, actions, strict=True)])

    excess = sum(
        max(0, probability(one, actions) - np.exp(epsilon) * probability(other, actions))
        for actions in itertools.product(range(2), repeat=T)
    )
    assert excess <= delta


FORMS = {
    "float64": lambda x: x,
    "float32": lambda x: x.astype(np.float32),
    "csr": sp.csr_array,
    "coo": sp.coo_array,
    "list": lambda x: x.tolist(),
    "int": lambda x: x.astype(int),
    "bool": lambda x: x.astype(bool),
    "packed": lambda x: BitMatrix(x.astype(bool)),
}


@pytest.mark.parametrize("form", FORMS)
def test_act_and_observe_do_what_play_does(form, each_isa, rng):
    binary = form in ("int", "bool", "packed")
    x = rng.integers(0, 2, (40, 70)) if binary else np.round(rng.random((40, 70)), 1) * (rng.random((40, 70)) < 0.5)
    settings = {"horizon": 50, "n_experts": 70, "random_state": 3}

    def looped():
        learner = RandomizedWeightedMajority(20.0, 1e-3, **settings)
        for row in x.astype(float):
            learner.act()
            single = FORMS[form](row[np.newaxis])
            learner.observe(single[0] if form in ("list", "int", "bool", "float32", "float64") else single)
        return learner.actions_.tolist(), learner.owner_report()

    def played():
        learner = RandomizedWeightedMajority(20.0, 1e-3, **settings)
        blocks = (FORMS[form](x[start : start + 7].astype(float)) for start in range(0, 40, 7))
        assert learner.play(blocks).tolist() == learner.actions_.tolist()
        return learner.actions_.tolist(), learner.owner_report()

    results = each_isa(looped) + each_isa(played)
    assert all(result == results[0] for result in results)
    actions, report = results[0]
    grid = np.rint(x * 2**16) / 2**16
    assert report.loss == pytest.approx(grid[np.arange(40), actions].sum(), abs=1e-9)
    assert report.best_loss == pytest.approx(grid.sum(axis=0).min(), abs=1e-9)
    assert report.regret == report.loss - report.best_loss


def switching(T, d):
    """A good expert that turns bad halfway, and one that starts late."""
    losses = np.ones((T, d))
    losses[: T // 2, 0], losses[T // 2 :, 1] = 0, 0
    losses[T // 4 :, 2] = 0.2
    return losses


def alternating(T, d):
    return np.tile([[1.0, 0.0], [0.0, 1.0]], (T // 2, d // 2))


@pytest.mark.parametrize("calibration", ["tight", "paper"])
@pytest.mark.parametrize("adversary", [switching, alternating])
def test_regret_stays_below_theorem_11_1_on_average(adversary, calibration, rng):
    T, d, runs = 2000, 20, 100
    losses, regrets = adversary(T, d), []
    for _ in range(runs):
        learner = RandomizedWeightedMajority(2.0, 1e-6, horizon=T, calibration=calibration, random_state=rng)
        learner.play(losses)
        report = learner.owner_report()
        regrets.append(report.regret)
    assert report.theorem_11_1 == experts_regret(learner.learning_rate_, d, T)
    assert report.theorem_11_3 >= report.theorem_11_1 * (1 - 1e-12)
    assert np.mean(regrets) < report.theorem_11_1
    if adversary is switching and calibration == "tight":
        assert np.mean(regrets) > 0
        assert report.theorem_11_1 < T / 2  # says something


def test_regret_stays_below_the_bound_against_an_adaptive_adversary():
    """Who was followed in the last round is punished in this one."""
    T, d, last = 3000, 5, 0
    learner = RandomizedWeightedMajority(4.0, 1e-6, horizon=T, n_experts=d, random_state=0)
    for _ in range(T):
        losses = np.zeros(d)
        losses[last] = 1
        last = learner.act()
        learner.observe(losses)
    report = learner.owner_report()
    assert report.rounds == T
    assert report.regret < report.theorem_11_1 + np.sqrt(T / 2 * np.log(1e6))  # Azuma


def test_losses_that_answer_their_own_round_break_the_bound_and_cannot_be_given_before_the_draw(rng):
    T, d = 1500, 5
    answered = RandomizedWeightedMajority(4.0, 1e-6, horizon=T, n_experts=d, random_state=0)
    for _ in range(T):
        losses = np.zeros(d)
        losses[answered.act()] = 1  # what `observe` says that it must not do
        answered.observe(losses)
    report = answered.owner_report()
    assert report.regret > 2 * report.theorem_11_1

    fixed = rng.random((200, d))
    one, other = (RandomizedWeightedMajority(4.0, 1e-6, horizon=200, random_state=1) for _ in range(2))
    assert [one.act(row) for row in fixed] == other.play(fixed).tolist()
    assert one.owner_report() == other.owner_report()
    before = RandomizedWeightedMajority(4.0, 1e-6, horizon=200, random_state=1)
    changed = fixed.copy()
    changed[7] = 1 - changed[7]
    assert [before.act(row) for row in changed[:8]] == one.actions_[:8].tolist()  # its own losses do not move a draw
    with pytest.raises(RuntimeError, match="no round to observe"):
        before.observe(fixed[8])
    with pytest.raises(ValueError, match="of one round, got 2"):
        before.act(BitMatrix(fixed[:2] < 0.5))
    assert before.rounds_ == 8


def test_without_a_promise_of_the_paper_the_report_says_so():
    learner = RandomizedWeightedMajority(1000.0, 0.5, horizon=1, random_state=0)
    learner.play(np.zeros((1, 2)))
    assert learner.owner_report().theorem_11_3 == np.inf


def test_the_learning_rate_is_that_of_the_accountant():
    for neighbors, width in (("replace", 2), ("add-remove", 1)):
        for calibration in ("tight", "paper"):
            learner = RandomizedWeightedMajority(horizon=100, neighbors=neighbors, calibration=calibration)
            assert learner.learning_rate_ == experts_learning_rate(
                1.0, 1e-6, horizon=100, loss_range=width, calibration=calibration
            )
            assert experts_epsilon(learner.learning_rate_, 1e-6, horizon=100, loss_range=width) <= 1
    tight = RandomizedWeightedMajority(horizon=100)
    assert tight.learning_rate_**2 * 100 / 2 == pytest.approx(zcdp_rho(1.0, 1e-6))


def test_beyond_the_horizon_nothing_is_drawn(rng):
    learner = RandomizedWeightedMajority(horizon=2, n_experts=3, random_state=rng)
    learner.play(np.zeros((1, 3)))
    before = copy.deepcopy(rng.bit_generator.state)
    with pytest.raises(BudgetExceeded, match="2 more actions do not fit: of horizon=2, 1 are left"):
        learner.play(np.zeros((2, 3)))
    learner.act()
    state = copy.deepcopy(rng.bit_generator.state)
    learner.observe([0, 0, 1])
    with pytest.raises(BudgetExceeded, match="1 more actions do not fit: of horizon=2, 0 are left"):
        learner.act()
    assert before != rng.bit_generator.state == state
    assert str(learner.privacy_).startswith("(1.0, 1e-06)-DP, replace one row; 2 of 2 releases used; drawn with a seed")


@pytest.mark.parametrize("bad", [[0, 0.5, np.nan], [0, 1.5, 1], [-0.1, 0, 0], [0, 1], [[0, 0, 0]], [0, np.inf, 0]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_losses_that_will_not_do_are_refused_before_they_count(bad, dtype):
    learner, twin = (RandomizedWeightedMajority(50.0, horizon=3, n_experts=3, random_state=1) for _ in range(2))
    for run in (learner, twin):
        run.act()
    with pytest.raises(ValueError, match="losses must"):
        learner.observe(np.array(bad, dtype))
    for run in (learner, twin):
        run.observe([0.0, 0.25, 1])
    with pytest.raises(ValueError, match="losses must"):
        learner.play(np.array([[0.0, 0.5, 1.0], bad if len(bad) == 3 else [0, 2, 0]], dtype))
    assert learner.rounds_ == 1
    assert learner.play(np.zeros((2, 3))).tolist() == twin.play(np.zeros((2, 3))).tolist()
    assert learner.owner_report() == twin.owner_report()


def test_rounds_take_their_turns():
    learner = RandomizedWeightedMajority(horizon=5)
    with pytest.raises(ValueError, match="n_experts= must be given"):
        learner.act()
    with pytest.raises(RuntimeError, match="no round to observe"):
        learner.observe([0.0])
    with pytest.raises(RuntimeError, match="nothing to report"):
        learner.owner_report()
    learner.play(np.zeros((1, 2)))
    learner.act()
    with pytest.raises(RuntimeError, match="were not observed yet"):
        learner.act()
    with pytest.raises(RuntimeError, match="were not observed yet"):
        learner.play(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="those of one round, got 2"):
        learner.observe(sp.csr_array(np.zeros((2, 2))))
    with pytest.raises(ValueError, match="n_experts=2 experts, got 3"):
        learner.observe(np.zeros(3))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon must"),
        ({"delta": 0}, "delta must"),
        ({"horizon": 0}, "horizon must"),
        ({"n_experts": 0}, "n_experts must be None or an integer"),
        ({"n_experts": True}, "n_experts must"),
        ({"neighbors": "swap"}, "neighbors must"),
        ({"calibration": "loose"}, "calibration must"),
        ({"budget": 1.0}, "budget must"),
    ],
)
def test_parameters_are_refused_by_name(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomizedWeightedMajority(**{"horizon": 10} | parameters)


def test_the_budget_is_charged_once_before_the_first_action():
    budget = Budget(1.5, 1e-5, composition="basic")
    learner = RandomizedWeightedMajority(1.0, 1e-6, horizon=5, n_experts=2, budget=budget)
    other = RandomizedWeightedMajority(1.0, 1e-6, horizon=5, n_experts=2, budget=budget)
    assert budget.spent == (0.0, 0.0)
    learner.act()
    learner.observe([0, 1])
    learner.play(np.zeros((2, 2)))
    assert budget.spent == (1.0, 1e-6)
    with pytest.raises(BudgetExceeded, match="nothing was charged"):
        other.act()
    assert other.rounds_ == 0
    with pytest.raises(BudgetExceeded):
        RandomizedWeightedMajority(1.0, 1e-6, horizon=5, budget=budget)
    assert not learner.privacy_.reproducible


def test_what_is_private_shows_nowhere():
    learner = RandomizedWeightedMajority(horizon=50, random_state=0)
    learner.play(np.full((50, 3), 0.123))
    assert "0.123" not in repr(learner) + repr(learner.privacy_)
    assert set(vars(learner)) - {name for name in vars(learner) if name.startswith("_")} == {
        "epsilon", "delta", "n_experts", "horizon", "neighbors", "calibration", "budget",
    }  # fmt: skip
    for copied in (pickle.dumps, copy.deepcopy, copy.copy):
        with pytest.raises(TypeError, match="private"):
            copied(learner)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_draws_no_actions_again():
    learner = RandomizedWeightedMajority(horizon=5, n_experts=2)
    learner.act()
    assert in_a_child(lambda: learner.observe([0, 1])) == "RuntimeError"
    learner.observe([0, 1])
    for again in (learner.act, lambda: learner.play(np.zeros((1, 2))), learner.owner_report):
        assert in_a_child(again) == "RuntimeError"
    assert learner.play(np.zeros((4, 2))).tolist() == learner.actions_[1:].tolist()


def test_one_thread_at_a_time_plays_and_the_horizon_is_never_passed():
    learner = RandomizedWeightedMajority(horizon=40, n_experts=3, random_state=0)

    def play(_):
        try:
            return learner.play(np.full((3, 3), 0.5)).tolist()
        except (BudgetExceeded, RuntimeError):
            return []

    with ThreadPoolExecutor(8) as pool:
        played = [each for each in pool.map(play, range(100)) if each]
    assert 3 * len(played) == len(learner.actions_) == learner.rounds_ <= 40
    assert sorted(learner.actions_.reshape(-1, 3).tolist()) == sorted(played)
    assert learner.owner_report().rounds == learner.rounds_


def test_attributes_that_are_edited_change_neither_what_is_paid_nor_the_claim():
    learner = RandomizedWeightedMajority(0.5, horizon=1, n_experts=2, random_state=0)
    learner.epsilon, learner.horizon, learner.neighbors = 0.01, 9, "add-remove"
    learner.play(np.zeros((1, 2)))
    with pytest.raises(BudgetExceeded, match="of horizon=1, 0 are left"):
        learner.act()
    assert str(learner.privacy_).startswith("(0.5, 1e-06)-DP, replace one row; 1 of 1 releases used")


# ---- without a horizon -----------------------------------------------------------------------------------------------


def test_without_a_horizon_phases_double_and_each_forgets_the_losses_before(rng):
    losses = rng.random((1000, 4))
    learner = RandomizedWeightedMajority(1.0, 1e-6, random_state=0)
    rates = []
    for length in (128, 256, 512):
        learner.play(losses[:length])
        rates.append(learner.learning_rate_)
        assert rates[-1] == experts_learning_rate(1.0, 1e-6, horizon=length)
        np.testing.assert_allclose(learner._weights.totals() / 2**16, losses[:length].sum(axis=0), atol=0.02)
    assert learner.rounds_ == 896
    assert str(learner.privacy_).startswith("(1.0, 1e-06)-DP, replace one row; 896 of 896 releases used")


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_phase_that_could_not_begin_draws_nothing_from_the_losses_of_the_one_before(error, rng, monkeypatch):
    losses, learner = rng.random((300, 4)), RandomizedWeightedMajority(1.0, 1e-6, n_experts=4, random_state=0)
    learner.play(losses[:128])
    kind = weighted_majority.weights.Weights

    def fails(*arguments):
        if error is MemoryError:
            raise error
        signal.raise_signal(signal.SIGINT)
        return kind(*arguments)

    monkeypatch.setattr(weighted_majority.weights, "Weights", fails)
    with pytest.raises(error):
        learner.act()
    monkeypatch.undo()
    learner.act(losses[128])
    assert learner.learning_rate_ == experts_learning_rate(1.0, 1e-6, horizon=256)
    np.testing.assert_allclose(learner._weights.totals() / 2**16, losses[128], atol=1e-4)
    report = learner.owner_report()
    assert report.rounds >= 129


def test_without_a_horizon_a_phase_draws_what_a_learner_with_its_horizon_draws(rng):
    """From the same words: so a phase has the law of that learner, whatever was lost before."""
    losses = rng.random((300, 5))
    learner = RandomizedWeightedMajority(1.0, 1e-6, random_state=(words := np.random.default_rng(3)))
    learner.play(rng.random((128, 5)))
    state = copy.deepcopy(words)
    fresh = RandomizedWeightedMajority(1.0, 1e-6, horizon=256, random_state=state)
    np.testing.assert_array_equal(learner.play(losses[:256]), fresh.play(losses[:256]))


def test_without_a_horizon_play_and_act_and_blocks_draw_the_same(rng):
    losses = rng.random((500, 3))
    make = lambda: RandomizedWeightedMajority(1.0, 1e-6, n_experts=3, random_state=7)  # noqa: E731
    whole, blocks, single = make(), make(), make()
    whole.play(losses)
    blocks.play(iter([losses[:100], losses[100:450], losses[450:]]))
    for row in losses[:400]:
        single.act()
        single.observe(row)
    for row in losses[400:]:
        single.act(row)
    np.testing.assert_array_equal(whole.actions_, blocks.actions_)
    np.testing.assert_array_equal(whole.actions_, single.actions_)
    assert whole.owner_report() == single.owner_report()


def test_without_a_horizon_the_regret_is_that_of_all_rounds_and_its_bound_at_most_3_42_times_as_large(rng):
    losses = (rng.random((3000, 10)) < np.where(np.arange(10) == 4, 0.2, 0.5)).astype(float)
    learner = RandomizedWeightedMajority(4.0, 1e-6, random_state=0)
    followed = learner.play(losses)
    report = learner.owner_report()
    regret = losses[np.arange(3000), followed].sum() - losses.sum(axis=0).min()
    assert report.regret == pytest.approx(regret)
    assert report.rounds == 3000
    for rounds in (128, 129, 384, 385, 3000):
        learner = RandomizedWeightedMajority(4.0, 1e-6, random_state=0)
        learner.play(losses[:rounds])
        known = experts_regret(experts_learning_rate(4.0, 1e-6, horizon=rounds), 10, rounds)
        assert learner.owner_report().theorem_11_1 <= 3.42 * known
    assert regret <= report.theorem_11_1
    assert report.theorem_11_3 == np.inf


def test_without_a_horizon_a_budget_is_charged_once_and_changed_attributes_change_nothing(rng):
    budget = Budget(1.0, 1e-6)
    learner = RandomizedWeightedMajority(1.0, 1e-6, budget=budget, random_state=0)
    learner.play(rng.random((100, 2)))
    learner.epsilon = 50.0
    learner.play(rng.random((100, 2)))
    assert learner.learning_rate_ == experts_learning_rate(1.0, 1e-6, horizon=256)
    assert budget.left == (0.0, 0.0)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("horizon", [20, None])
def test_experts_have_a_plan_of_each_phase(horizon, neighbors):
    learner = RandomizedWeightedMajority(n_experts=3, horizon=horizon, neighbors=neighbors, random_state=0)
    learner.play(np.zeros((20, 3)))
    task = Task(1.0, 1e-6, neighbors, n_rows=horizon or 128)
    solved = learner.plan(task).solve(task)
    assert learner.plan(task)["actions"].times == (horizon or 128)
    assert solved.noise["actions"] == learner.learning_rate_
    assert solved.cost == learner.privacy_.cost
