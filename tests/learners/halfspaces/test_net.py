import json
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from laws import assert_follows, exponential_law
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator
from unreadable import Unreadable

import dpfast
from dpfast import BitMatrix, NetHalfspaceClassifier, random
from dpfast.accounting import Budget, BudgetExceeded
from dpfast.base import Task
from dpfast.kernels.net import Mistakes, Net, grid
from dpfast.learners.halfspaces import nets as net_halfspace
from dpfast.tables.projection import project

KEY = 20_261_121
SMALL = {"n_components": 3, "net_radius": 0.2}  # 486 members


class FixedMatrix(np.random.Generator):
    """A generator whose bytes, and so the matrix, are always the same."""

    def bytes(self, length):
        return KEY.to_bytes(length, "little")


def test_scikit_learn_finds_nothing_wrong():
    check_estimator(NetHalfspaceClassifier(n_components=2, n_projections=2, random_state=0), on_skip=None)


@pytest.fixture
def table(rng):
    y = rng.random(400) < 0.5
    X = rng.normal(size=(400, 20)) + 2.0 * np.where(y, 1, -1)[:, np.newaxis] * (np.arange(20) < 10)
    return X, np.where(y, "yes", "no")


# ---- the law -----------------------------------------------------------------------------------------------------


def enumerated(X, y, parameters):
    """The mistakes of every member, in order, from the definition."""
    clf = NetHalfspaceClassifier(**parameters)
    k, m = clf.n_projections, clf.n_components
    net, wrong = Net(m, clf.margin / 10 if clf.net_radius == "auto" else clf.net_radius), []
    if clf.fit_intercept:
        X = np.column_stack([X, np.ones(len(X))])
    for x in np.split(project(X, k * m, KEY), k, axis=1):
        z = grid(x, y.astype(np.int8), net.grid_bits).astype(np.int64)
        p = net.vectors(np.arange(net.size))
        product, length = p @ z.T, np.sqrt((p**2).sum(axis=1, keepdims=True))
        wrong.append((product / length < clf.margin / 10 * 2**net.grid_bits).sum(axis=1))
    return np.concatenate(wrong)


PARAMETERS = [
    {"epsilon": 1.0, "n_components": 2, "net_radius": 0.4, "margin": 0.3},
    {"epsilon": 0.5, "n_components": 2, "net_radius": 0.4, "n_projections": 3, "neighbors": "add-remove"},
    {"epsilon": 3.0, "n_components": 3, "net_radius": 0.6, "fit_intercept": False},
    {"epsilon": 0.7, "n_components": 1, "n_projections": 2, "margin": 1.0},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_members_are_drawn_with_the_enumerated_law(parameters, rng, monkeypatch):
    monkeypatch.setenv("DPFAST_THREADS", "1")
    X, y = rng.normal(size=(12, 5)), rng.choice([-1, 1], 12)
    law = exponential_law(
        enumerated(X, y, parameters), -parameters["epsilon"] / (1 if "neighbors" in parameters else 2)
    )
    clf = NetHalfspaceClassifier(**parameters, random_state=FixedMatrix(np.random.PCG64(1)))
    drawn = [clf.fit(X, y).member_ for _ in range(400)]
    assert clf.projection_key_ == KEY
    assert_follows(np.bincount(drawn, minlength=len(law)), law)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_laws_of_neighbouring_tables_differ_by_epsilon_at_most(neighbors, rng):
    epsilon, largest = 0.8, 0
    parameters = {"epsilon": epsilon, "neighbors": neighbors, "n_components": 3, "net_radius": 0.3, "margin": 0.5}
    t = epsilon / (2 if neighbors == "replace" else 1)
    for _ in range(200):
        X, y = rng.normal(size=(4, 6)), rng.choice([-1, 1], 4)
        if neighbors == "replace":
            other, labels = X.copy(), y.copy()
            other[2], labels[2] = (-X[2], y[2]) if rng.random() < 0.5 else (rng.normal(size=6), rng.choice([-1, 1]))
        else:
            other, labels = X[:3], y[:3]
        laws = [exponential_law(enumerated(*pair, parameters), -t) for pair in ((X, y), (other, labels))]
        largest = max(largest, np.abs(np.log(laws[0]) - np.log(laws[1])).max())
    assert 0.5 * epsilon < largest <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize(
    ("epsilon", "neighbors", "exponent"),
    [(0.1, "replace", "1/20"), (0.1, "add-remove", "1/10"), (3, "replace", "3/2")],
)
def test_the_exponent_is_epsilon_over_the_range_exactly(epsilon, neighbors, exponent):
    task = Task(epsilon, neighbors=neighbors, n_columns=5)
    assert str(NetHalfspaceClassifier(epsilon).plan(task).solve(task).noise["halfspaces"]) == exponent


def test_one_seed_gives_one_model_at_every_level_thread_count_and_division_of_work(table, each_isa, monkeypatch):
    def fit():
        return NetHalfspaceClassifier(0.05, random_state=7, n_projections=2, **SMALL).fit(*table).member_

    results = each_isa(fit)
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("DPFAST_THREADS", threads)
        results.append(fit())
    for block, batch, kept in ((1, 1, 1), (1, 3, 5 * 401), (3000, 2, 1 << 20), (1, 1, 1 << 20)):
        monkeypatch.setattr(net_halfspace, "_BLOCK", block)
        monkeypatch.setattr(net_halfspace, "_BATCH", batch)
        monkeypatch.setattr(net_halfspace, "_TABLE", kept)
        results.append(fit())
    assert len(set(results)) == 1


@pytest.mark.parametrize("kept", [1, 2000, 1 << 20])
def test_every_rank_of_every_level_is_found(kept, rng, monkeypatch):
    monkeypatch.setattr(net_halfspace, "_BLOCK", 1)
    monkeypatch.setattr(net_halfspace, "_BATCH", 2)
    monkeypatch.setattr(net_halfspace, "_TABLE", kept)
    net = Net(3, 0.5)
    y = np.ones(9, np.int8)
    mistakes = [Mistakes(net, grid(rng.normal(size=(9, 3)), y, net.grid_bits), 0.01) for _ in range(3)]
    scan = net_halfspace.Scan(net, mistakes, 9, False)
    found = [scan.member(level, rank) for level, held in enumerate(scan.counts.tolist()) for rank in range(held)]
    wrong = np.concatenate([part.scores(0, net.lines).ravel() for part in mistakes])
    assert sorted(found) == list(range(3 * net.size))
    np.testing.assert_array_equal(wrong[found], np.sort(wrong))
    assert [scan.wrong(member) for member in found] == np.sort(wrong).tolist()


# ---- what a user meets -------------------------------------------------------------------------------------------


def test_a_halfspace_with_a_margin_is_found(table):
    X, y = table
    clf = NetHalfspaceClassifier(2.0, n_projections=20, random_state=0, **SMALL).fit(X, y)
    assert clf.score(X, y) > 0.95


def test_digits_are_told_apart():
    digits = pytest.importorskip("sklearn.datasets").load_digits(n_class=2)
    X, y = digits.data / np.linalg.norm(digits.data, axis=1, keepdims=True), digits.target
    clf = NetHalfspaceClassifier(1.0, n_projections=30, random_state=0, **SMALL).fit(X, y)
    assert clf.score(X, y) > 0.9


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_coefficients_give_the_decision(fit_intercept, table):
    X, y = table
    clf = NetHalfspaceClassifier(random_state=0, n_projections=3, fit_intercept=fit_intercept, **SMALL).fit(X, y)
    signs = np.sign(X @ clf.coef_[0] + clf.intercept_)
    np.testing.assert_array_equal(np.sign(clf.decision_function(X)), signs)
    assert (clf.intercept_ != 0) == fit_intercept
    assert clf.coef_.shape == (1, 20)
    assert clf.direction_.shape == (9,)
    assert np.linalg.norm(clf.direction_) == pytest.approx(1)
    assert clf.net_size_ == 3 * 486
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[(clf.decision_function(X) >= 0).astype(int)])


def test_the_intercept_is_the_weight_of_a_constant_column(table):
    X, y = table
    with_it = NetHalfspaceClassifier(random_state=3, **SMALL).fit(X, y)
    column = NetHalfspaceClassifier(random_state=3, fit_intercept=False, **SMALL).fit(np.c_[X, np.ones(400)], y)
    assert with_it.member_ == column.member_
    np.testing.assert_allclose(np.append(with_it.coef_, with_it.intercept_), column.coef_[0])


@pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, sp.csc_array, pd.DataFrame, BitMatrix, lambda X: X.astype(bool), list]
)
def test_every_form_of_input_gives_the_same_model(form, rng):
    X = (rng.random((200, 30)) < 0.3).astype(np.float64)
    y = X[:, 0] > X[:, 1]
    expected = NetHalfspaceClassifier(random_state=1, **SMALL).fit(X, y)
    clf = NetHalfspaceClassifier(random_state=1, **SMALL).fit(form(X), y)
    assert clf.member_ == expected.member_
    np.testing.assert_array_equal(clf.predict(form(X)), expected.predict(X))


def test_the_report_shows_the_best_of_the_net_beside_the_model(table):
    X, y = table
    parameters = {"n_projections": 2, "epsilon": 0.02, **SMALL}
    clf = NetHalfspaceClassifier(**parameters, random_state=FixedMatrix(np.random.PCG64(1))).fit(X, y)
    report, wrong = clf.owner_report(X, y), enumerated(X, np.where(y == "yes", 1, -1), parameters)
    assert report.rows == 400
    assert report.members == len(wrong) == clf.net_size_
    assert report.wrong == wrong[clf.member_]
    assert report.least_wrong == wrong.min() < report.wrong
    assert report.accuracy == clf.score(X, y)
    best = clf.classes_[(X @ report.best_coef + report.best_intercept >= 0).astype(int)]
    assert report.best_accuracy == (best == y).mean()


def test_the_claim_is_pure_and_one_honest_sentence(table):
    clf = NetHalfspaceClassifier(0.5, random_state=0, **SMALL).fit(*table)
    assert str(clf.privacy_) == (
        "(0.5, 0)-DP, replace one row; 1 of 1 releases used; drawn with a seed: reproducible, not private"
    )
    clf = NetHalfspaceClassifier(0.5, neighbors="add-remove", **SMALL).fit(*table)
    assert str(clf.privacy_) == "(0.5, 0)-DP, add or remove one row; 1 of 1 releases used"
    assert "seed" not in str(NetHalfspaceClassifier(random_state=random.default_rng(), **SMALL).fit(*table).privacy_)


def test_a_fitted_model_holds_nothing_but_what_was_released(table):
    X, y = table
    clf = NetHalfspaceClassifier(**SMALL).fit(X, y)
    fitted = {
        "coef_",
        "intercept_",
        "shift_",
        "direction_",
        "member_",
        "projection_key_",
        "net_size_",
        "model_",
        "notes_",
    }
    assert set(vars(clf)) == fitted | {"classes_", "n_features_in_", "privacy_"} | {*clf.get_params(), "_facts"}
    clf.owner_report(X, y)
    assert set(vars(clf)) == fitted | {"classes_", "n_features_in_", "privacy_"} | {*clf.get_params(), "_facts"}
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).predict(X), clf.predict(X))


def test_a_file_holds_the_number_of_the_member_which_must_be_one_of_the_net(table, tmp_path):
    X, y = table
    model = NetHalfspaceClassifier(2.0, n_projections=3, random_state=7, **SMALL).fit(X, y)
    model.save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    assert document["released"] == {"member": model.member_, "projection_key": model.projection_key_}
    document["released"]["member"] = model.net_size_
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match=r"m\.json is damaged"):
        dpfast.load(tmp_path / "m.json")


def test_progress_is_shown_when_asked_for(table, capsys):
    NetHalfspaceClassifier(verbose=True, random_state=0, **SMALL).fit(*table)
    assert "net" in capsys.readouterr().out


# ---- budgets and refusals ----------------------------------------------------------------------------------------


def test_a_budget_is_charged_once_a_fit_with_no_delta(table):
    budget = Budget(1.0)
    clf = NetHalfspaceClassifier(0.5, budget=budget, random_state=0, **SMALL).fit(*table)
    clone(clf).fit(*table)
    assert budget.charges == ((0.5, 0.0), (0.5, 0.0))
    with pytest.raises(BudgetExceeded, match="left"):
        clf.fit(*table)
    with pytest.raises(ValueError, match="one relation"):
        NetHalfspaceClassifier(0.1, neighbors="add-remove", budget=Budget(1.0), **SMALL).fit(*table)


def test_an_overdraft_is_refused_before_the_data_is_read(rng):
    with pytest.raises(BudgetExceeded):
        NetHalfspaceClassifier(1.0, budget=Budget(0.5), random_state=rng).fit(Unreadable(), Unreadable())


@pytest.mark.parametrize("where", ["_count", "charge", "draw"])
def test_an_interrupted_fit_releases_nothing(where, table, monkeypatch):
    def interrupt(*_, **more):
        raise KeyboardInterrupt

    budget = Budget(1.0)
    clf = NetHalfspaceClassifier(0.5, budget=budget, random_state=0, **SMALL)
    monkeypatch.setattr(Budget if where == "charge" else net_halfspace.Scan, where, interrupt)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*table)
    assert not hasattr(clf, "coef_")
    assert len(budget.charges) == (where != "charge")
    assert hasattr(clf, "privacy_") == (where != "charge")
    if where == "draw":
        assert clf.privacy_.events == (("halfspaces", 0, 1),)
        with pytest.raises(NotFittedError):
            clf.predict(table[0])


GOOD = np.eye(3, 12), [0, 1, 1]
REFUSED = [
    ({"epsilon": 0}, "epsilon must be a finite number > 0, got 0"),
    ({"epsilon": np.nan}, "epsilon must"),
    ({"epsilon": "much"}, "epsilon must"),
    ({"margin": 0}, r"margin must lie in \(0, 1\], got 0"),
    ({"margin": 1.5}, r"margin must lie in \(0, 1\], got 1.5"),
    ({"margin": np.nan}, "margin must"),
    ({"n_components": 0}, "n_components must be an integer of at least 1, got 0"),
    ({"n_components": 2.0}, "n_components must"),
    ({"n_components": 33}, "from 1 to 32 coordinates, got 33"),
    ({"n_projections": 0}, r"n_projections must be an integer in \[1, 1048576\], got 0"),
    ({"net_radius": 0}, r'net_radius must be "auto" or lie in \(0, 1\], got 0'),
    ({"net_radius": 1.1}, "net_radius must"),
    ({"net_radius": "small"}, "net_radius must"),
    ({"neighbors": "swap"}, "neighbors must"),
    ({"max_seconds": 0}, "max_seconds must be a finite number > 0, got 0"),
    ({"max_seconds": np.inf}, "max_seconds must"),
    ({"random_state": -1}, "at least 0"),
    ({"budget": 3.0}, "budget must be None or"),
    ({"margin": 1e-4}, "radius of 1e-05 is too small"),
    ({"n_components": 8}, r"net of 1,468,388,924,796,250,000 members and 3 rows would take about .* s"),
    (
        {"n_components": 5, "max_seconds": 1e-3},
        r"more than max_seconds=0.001: use fewer n_components than 5",
    ),
]
BAD_DATA = [
    (np.array([[0, 1], [1, np.nan]]), [0, 1], "NaN"),
    (np.array([[0, 1], [1, np.inf]]), [0, 1], "infinity"),
    (sp.csr_array([[0, 1], [1, np.nan]]), [0, 1], "NaN"),
    (np.array([[0, 1], [1, 1e300]]), [0, 1], "entries must be at most"),
    (GOOD[0], [1, 1, 1], "at least two classes, got one class only"),
    (GOOD[0], [1, 2, 3], "Only binary classification is supported.*3 classes"),
    (GOOD[0], [1, 0], "inconsistent numbers of samples"),
    (GOOD[0], [0.5, 1.5, 0.1], "Unknown label type"),
    (np.empty((0, 2)), [], "at least one row"),
    (np.array([0.0, 1.0]), [0, 1], "Expected 2D array"),
    (BitMatrix.from_rows(np.empty((0, 1), np.uint64), 3), [], "at least one row"),
]


@pytest.mark.parametrize(
    ("parameters", "X", "y", "message"),
    [pytest.param(parameters, *GOOD, message, id=str(parameters)) for parameters, message in REFUSED]
    + [pytest.param({}, X, y, message, id=message) for X, y, message in BAD_DATA],
)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
def test_a_refusal_charges_nothing_and_draws_nothing(parameters, X, y, message, rng):
    budget, state = Budget(1.0), rng.bit_generator.state
    parameters = {"budget": budget, "random_state": rng, **parameters}
    with pytest.raises(ValueError, match=message):
        NetHalfspaceClassifier(**parameters).fit(X, y)
    assert budget.charges == ()
    assert rng.bit_generator.state == state


def test_rows_of_few_columns_are_not_projected(rng):
    X = rng.normal(size=(400, 2))
    y = X[:, 0] - X[:, 1] > 0.1
    clf = NetHalfspaceClassifier(5.0, n_components=4, n_projections=3, random_state=0).fit(X, y)
    assert clf.direction_.tolist() == [*clf.coef_[0], *clf.intercept_]
    assert clf.net_size_ == Net(3, 0.01).size
    assert clf.score(X, y) > 0.9


def test_weights_of_rows_are_refused(table):
    with pytest.raises(ValueError, match="sample_weight is refused"):
        NetHalfspaceClassifier(**SMALL).fit(*table, sample_weight=np.ones(400))


def test_declared_classes_are_not_read_off_the_data(table):
    X, y = table
    clf = NetHalfspaceClassifier(random_state=0, **SMALL).fit(X, np.full(400, "no"), classes=["no", "yes"])
    assert clf.classes_.tolist() == ["no", "yes"]
    with pytest.raises(ValueError, match=r"label of row \d+ is not among classes"):
        NetHalfspaceClassifier(**SMALL).fit(X, y, classes=["yes", "maybe"])


def test_tables_of_another_width_are_refused_at_predict(table):
    clf = NetHalfspaceClassifier(random_state=0, **SMALL).fit(*table)
    with pytest.raises(ValueError, match="has 19 features, but NetHalfspaceClassifier is expecting 20"):
        clf.predict(table[0][:, :19])
    with pytest.raises(ValueError, match="has 19 features"):
        clf.owner_report(table[0][:, :19], table[1])


def test_rows_of_zeros_are_wrong_for_all_and_change_no_law():
    X, y = np.r_[GOOD[0], np.zeros((5, 12))], np.r_[GOOD[1], [0, 1, 0, 1, 0]]
    parameters = {"fit_intercept": False, "random_state": 5, **SMALL}
    with_them = NetHalfspaceClassifier(**parameters).fit(X, y)
    assert with_them.member_ == NetHalfspaceClassifier(**parameters).fit(*GOOD).member_
    assert with_them.owner_report(X, y).least_wrong >= 5
