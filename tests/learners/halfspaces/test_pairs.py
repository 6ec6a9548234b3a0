"""Pairs of columns: their sums, how far one row moves their scores, the law of the draws, and what they are worth."""

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import assert_follows
from sklearn.base import clone

import dpfast
from dpfast import CodeTable
from dpfast.base.plan import Plan, Proved, Task
from dpfast.base.run import Run
from dpfast.learners.halfspaces.halfspace import image_of
from dpfast.learners.halfspaces.images import LIMIT, Opening
from dpfast.learners.halfspaces.model import HalfspaceState
from dpfast.learners.halfspaces.pairs import GROUPS, ColumnPairs, Interaction, _squares, draws, read_pair
from dpfast.parts import MemoryParts
from dpfast.parts.blocks import Piece
from dpfast.tables import Category, Label, Numeric, Schema
from dpfast.tables.cells import CodeColumn
from dpfast.tables.codes import CodeRows

SIZES = [3, 12, 2, 300]
PAIRS = (
    Interaction((0, 1), ((0, 1, 2), tuple(v % 5 for v in range(12)))),
    Interaction((0, 3), ((0, 1, 2), tuple(v // 50 for v in range(300)))),
    Interaction((1, 2), (tuple(v % 5 for v in range(12)), (0, 1))),
)


def cells(codes, pairs=PAIRS):
    """The cell of each row in each pair, from 0 on through all pairs: shape (n, pairs)."""
    found, start = [], 0
    for pair in pairs:
        first, second = (np.array(group)[codes[:, j]] for j, group in zip(pair.columns, pair.groups, strict=True))
        found.append(start + first * pair.shape[1] + second)
        start += pair.size
    return np.stack(found, axis=1)


@pytest.mark.parametrize("k", [1, 3])
def test_sums_by_cells_of_pairs_are_those_of_each_row(k, rng, monkeypatch):
    monkeypatch.setattr("dpfast.tables.codes._NEAR_PAIRS", 1)
    codes = rng.integers(0, SIZES, (20_000, 4))
    rows = CodeRows(CodeTable(codes, SIZES))
    labels = rng.integers(0, max(2, k), len(codes)).astype(np.uint8 if k == 1 else np.uint16)
    limits, constants = rng.integers(0, LIMIT, len(codes)).astype(np.int32), rng.normal(size=k).astype(np.float32)
    told = labels, limits, *rows.round_coefficients(rng.normal(size=(sum(SIZES), k))), constants
    expected = np.zeros((sum(pair.size for pair in PAIRS), k), np.int64)
    for i in range(40):
        one = CodeRows(CodeTable(codes[[i]], SIZES))
        residual = one.residual_sums(labels[[i]], limits[[i]], *told[2:])[codes[i, 0]]
        for cell in cells(codes[[i]])[0]:
            expected[cell] += residual
    some = CodeRows(CodeTable(codes[:40], SIZES))
    np.testing.assert_array_equal(some.pair_sums(PAIRS, labels[:40], limits[:40], *told[2:]), expected)
    whole = rows.pair_sums(PAIRS, *told)
    halves = [CodeRows(CodeTable(codes[at], SIZES)) for at in (slice(0, 9_000), slice(9_000, None))]
    parts = [
        each.pair_sums(PAIRS, labels[at], limits[at], *told[2:])
        for each, at in zip(halves, (slice(0, 9_000), slice(9_000, None)), strict=True)
    ]
    np.testing.assert_array_equal(whole, parts[0] + parts[1])


def test_joined_rows_have_a_column_more_for_each_pair(rng):
    codes = rng.integers(0, SIZES, (50, 4))
    joined = CodeRows(CodeTable(codes, SIZES)).with_pairs(PAIRS)
    starts = np.cumsum([0, *(pair.size for pair in PAIRS)])[:-1]
    coef = rng.normal(size=(joined.shape[1], 1))
    expected = coef[np.hstack([codes + np.cumsum([0, *SIZES])[:-1], cells(codes) + sum(SIZES)]), 0].sum(axis=1)
    assert joined.sizes.tolist() == SIZES + [pair.size for pair in PAIRS]
    assert len(starts) == len(joined.sizes) - 4
    np.testing.assert_allclose(joined.linear_scores(coef, np.zeros(1))[:, 0], expected, atol=1e-5)
    with pytest.raises(ValueError, match="other codes than the model's"):
        CodeRows(CodeTable(codes % 2, [2] * 4)).with_pairs(PAIRS)
    with pytest.raises(ValueError, match="other codes than the model's"):
        CodeRows(CodeTable(codes[:, :2], SIZES[:2])).with_pairs(PAIRS)


# ---- how far one row moves a score -----------------------------------------------------------------------------------

SMALL = [3, 4, 2]
COLUMNS = [
    CodeColumn("a", values=tuple("xyz")),
    CodeColumn("b", edges=(1, 2, 3), low=0, high=4),
    CodeColumn("c", values=("u", "v")),
]


def opened(codes, labels, classes, seed):
    """An image that took up an opening, coefficients and the pairs of its columns."""
    rng = np.random.default_rng(seed)
    image = image_of(CodeRows(CodeTable(codes, SMALL, columns=COLUMNS)), classes, True)
    image.open(rng.exponential(5.0, image.opening_size), 1.0, len(codes))
    u = rng.normal(scale=rng.choice([0.1, 3.0]), size=(image.size, 1 if classes == 2 else classes))
    return image, u, ColumnPairs(image.opening, image.linear(u)[0], np.zeros(1), 1.0)


def scores(image, u, pairs, codes, labels):
    question, *told = image.pair_question(u, np.zeros(u.shape[1]), pairs.of)
    rows = CodeRows(CodeTable(codes, SMALL, columns=COLUMNS))
    total = question(Piece(None, labels, rows=rows), *told)
    ends = np.cumsum([0, *(pair.size for pair in pairs.of)])
    return np.array([np.abs(total[a:b]).sum() for a, b in itertools.pairwise(ends)])


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 2**32), classes=st.sampled_from([2, 3]))
def test_one_row_moves_no_score_by_more_than_is_paid_for(seed, classes):
    rng, n = np.random.default_rng(seed), 6
    codes, labels = rng.integers(0, SMALL, (n, 3)), rng.integers(0, classes, n)
    changed, others, i = codes.copy(), labels.copy(), rng.integers(n)
    changed[i], others[i] = rng.integers(0, SMALL), rng.integers(0, classes)
    told = opened(codes, labels, classes, seed)
    assert len(told[2].of) == 3
    before = scores(*told, codes, labels)
    for relation, after in (
        ("replace", scores(*told, changed, others)),
        ("add-remove", scores(*told, np.delete(codes, i, axis=0), np.delete(labels, i))),
    ):
        most = draws(relation, classes, LIMIT, Fraction(1), 1)[0].width // 2  # "none" does not move
        assert np.abs(after - before).max() <= most


@pytest.mark.parametrize("classes", [2, 3])
def test_a_score_can_move_by_nearly_as_much(classes):
    codes, labels = np.array([[0, 0, 0], [0, 0, 0]]), np.array([1, 1])
    image, u, pairs = opened(codes, labels, classes, 0)
    u[:] = 0
    image._squares[:] = 0  # no row is longer than the radius
    alone = scores(image, u, pairs, codes[:1], labels[:1])
    both = scores(image, u, pairs, codes, labels)
    apart = scores(image, u, pairs, codes, np.array([0, 1]))
    most = draws("add-remove", classes, LIMIT, Fraction(1), 1)[0].width / 2
    assert 0.99 * most < (both - alone).max() <= most
    if classes == 2:
        most = draws("replace", classes, LIMIT, Fraction(1), 1)[0].width / 2
        assert 0.99 * most < (both - apart).max() <= most


def test_the_draws_have_their_share_and_no_more():
    first, others = draws("replace", 2, LIMIT, Fraction(1, 20), 8)
    assert first.share + others.share == Fraction(1, 20)
    assert (first.times, others.times) == (1, 7)
    assert [each.times for each in draws("replace", 2, LIMIT, Fraction(1, 20), 1)] == [1]


def test_units_of_several_rows_move_scores_by_as_many_times_as_much():
    assert (
        draws("replace", 2, LIMIT, Fraction(1), 5, 3)[0].width
        == 3 * draws("replace", 2, LIMIT, Fraction(1), 5)[0].width
    )


# ---- the law of the draws --------------------------------------------------------------------------------------------


def law(q, pairs, exponents, most, limit=1):
    """The chance of each sequence of pairs that is released, by enumeration."""
    less = [math.ceil(each * limit) for each in pairs._less]

    def go(left, chance, taken, found):
        if len(taken) == most or not left:
            found[taken] = found.get(taken, 0.0) + chance
            return found
        exponent, margin = (exponents[1], 1.0) if taken else (exponents[0], 3.0)
        none = math.ceil((math.log(len(left)) + margin) / exponent)
        weights = [math.exp(exponent * (q[k] - less[k])) for k in left] + [math.exp(exponent * none)]
        for k, weight in zip([*left, None], weights, strict=True):
            if k is None:
                found[(*taken, None)] = chance * weight / sum(weights)
            else:
                go([j for j in left if j != k], chance * weight / sum(weights), (*taken, k), found)
        return found

    return go(list(range(len(q))), 1.0, (), {})


def plain_pairs(n=40.0):
    """The pairs of three columns of two values each."""
    opening = Opening(n, np.array([n / 2, n / 2]), (np.array([n / 2, n / 2]),) * 3, (None,) * 3)
    return ColumnPairs(opening, np.zeros((6, 1)), np.zeros(1), 1.0)


def totals(q, pairs):
    total = np.zeros((sum(pair.size for pair in pairs.of), 1), np.int64)
    total[np.cumsum([0, *(pair.size for pair in pairs.of)])[:-1], 0] = q
    return total


def test_pairs_are_drawn_by_the_exponential_law_until_none_is(rng):
    pairs, q, exponents = plain_pairs(), [32, 50, 41], (Fraction(1, 8), Fraction(1, 11))
    expected = law(q, pairs, list(map(float, exponents)), 2)
    assert sum(expected.values()) == pytest.approx(1)
    counts = dict.fromkeys(expected, 0)
    plan = Plan(pairs=Proved("exponential", exponents, size=4, times=2))
    for _ in range(1000):
        run = Run(SimpleNamespace(rng=rng), plan, plan.solve(Task(1)), iter)
        drawn = [pairs.of.index(pair) for pair in pairs.choose(totals(q, pairs), 1, run)]
        counts[tuple(drawn) if len(drawn) == 2 else (*drawn, None)] += 1
    assert_follows(np.array(list(counts.values())), np.array(list(expected.values())))


@pytest.mark.parametrize(("relation", "moves"), [("replace", 2), ("add-remove", 1)])
def test_neighbours_differ_by_no_more_than_the_bill_has_for_a_draw(relation, moves):
    """All changes that one row can make: log ratios of one draw lie in an interval of exponent * width."""
    pairs, exponent = plain_pairs(), 0.25
    width = draws(relation, 2, 1, Fraction(1), 1)[0].width
    before = law([12, 30, 21], pairs, [exponent], 1)
    longest = 0.0
    for change in itertools.product([-moves, 0, moves], repeat=3):
        after = law(np.add([12, 30, 21], change).tolist(), pairs, [exponent], 1)
        ratios = [math.log(before[each] / after[each]) for each in before]
        longest = max(longest, max(ratios) - min(ratios))
    assert longest == pytest.approx(exponent * width)


# ---- what pairs are worth --------------------------------------------------------------------------------------------


def exclusive(rng, n, more=3):
    """Labels that say whether one of two columns is high, but not both; and columns that say nothing."""
    codes = np.hstack([rng.integers(0, 6, (n, 2)), rng.integers(0, 4, (n, more))])
    return CodeTable(codes, [6, 6] + [4] * more), ((codes[:, 0] > 2) ^ (codes[:, 1] > 2)).astype(int)


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_a_pair_says_what_neither_column_does(relation, rng):
    table, labels = exclusive(rng, 4000)
    options = {"n_rounds": 40, "neighbors": relation, "random_state": 0}
    alone = dpfast.HalfspaceClassifier(**options).fit(table, labels, classes=[0, 1])
    model = dpfast.HalfspaceClassifier(interactions=8, **options).fit(table, labels, classes=[0, 1])
    assert alone.score(table, labels) < 0.6
    assert model.score(table, labels) > 0.95
    assert model.interactions_[0].columns == (0, 1)
    assert alone.interactions_ == ()
    assert "pairs" in str(model.privacy_.events)


def test_auto_looks_for_pairs_by_public_or_released_numbers_alone(rng):
    table, labels = exclusive(rng, 3000)
    for relation in ("replace", "add-remove"):
        few = dpfast.HalfspaceClassifier(1.0, n_rounds=10, neighbors=relation, random_state=0)
        few.fit(table, labels, classes=[0, 1])
        assert few.interactions_ == ()
        many = dpfast.HalfspaceClassifier(50.0, n_rounds=10, neighbors=relation, random_state=0)
        many.fit(table, labels, classes=[0, 1])
        assert [pair.columns for pair in many.interactions_][:1] == [(0, 1)]
        assert "pairs" in str(many.privacy_.events)
        # without a public number of rows the share of the bill is set aside before it is known
        assert ("pairs" in str(few.privacy_.events)) == (relation == "add-remove")


@pytest.mark.parametrize(("belong", "planted"), [(1, False), (3, True)])
def test_few_rows_have_trees_if_several_pairs_were_found(belong, planted, rng):
    codes = rng.integers(0, 4, (12_000, 6))
    labels = sum((codes[:, k] > 1) ^ (codes[:, k + 3] > 1) for k in range(belong)) > belong / 2
    model = dpfast.HalfspaceClassifier(2.0, n_rounds=20, random_state=0)
    model.fit(CodeTable(codes, [4] * 6), labels, classes=[False, True])
    assert {(k, k + 3) for k in range(belong)} <= {pair.columns for pair in model.interactions_}
    assert (model.trees_ is not None) == planted


@pytest.mark.parametrize(("chosen", "epsilon", "rounds"), [(True, 2.0, 14), (False, 2.0, 17), (True, 1e7, 17)])
def test_trees_wait_after_pairs_if_some_are_chosen_and_terms_are_noisy_and_are_slower_if_none_is(
    chosen, epsilon, rounds, rng, monkeypatch
):
    table, labels = exclusive(rng, 3000)
    if not chosen:
        monkeypatch.setattr(ColumnPairs, "choose", lambda self, total, limit, run: [])
    left, plant = [], HalfspaceState.plant
    monkeypatch.setattr(
        HalfspaceState, "plant", lambda self, *given: left.append((given[3], given[5])) or plant(self, *given)
    )
    model = dpfast.HalfspaceClassifier(epsilon, n_rounds=20, interactions=2, trees=5, random_state=0)
    assert bool(model.fit(table, labels, classes=[0, 1]).interactions_) == chosen
    assert left == [(rounds, chosen)]


@pytest.mark.parametrize("trees", [0, 5])
def test_pairs_are_chosen_after_15_of_100_rounds_with_and_without_trees(trees, rng, monkeypatch):
    table, labels = exclusive(rng, 3000)
    left, join = [], HalfspaceState.join
    monkeypatch.setattr(HalfspaceState, "join", lambda self, *given: left.append(given[2]) or join(self, *given))
    model = dpfast.HalfspaceClassifier(2.0, n_rounds=20, interactions=2, trees=trees, random_state=0)
    model.fit(table, labels, classes=[0, 1])
    assert left == [17]


def test_pairs_of_many_classes(rng):
    table, labels = exclusive(rng, 6000)
    labels = labels + 2 * (np.asarray(table.column(2)) > 1)
    model = dpfast.HalfspaceClassifier(interactions=1, n_rounds=40, random_state=0)
    assert model.fit(table, labels, classes=range(4)).score(table, labels) > 0.9
    assert model.coef_.shape == (4, 6 + 6 + 3 * 4 + 36)


@pytest.mark.parametrize("seed", range(3))
def test_no_pair_is_chosen_where_none_is_worth_it(seed):
    rng = np.random.default_rng(seed)
    table, _ = exclusive(rng, 3000)
    labels = (np.asarray(table.column(0)) + rng.normal(size=3000) > 2.5).astype(int)
    model = dpfast.HalfspaceClassifier(interactions=8, n_rounds=40, random_state=seed)
    assert model.fit(table, labels, classes=[0, 1]).interactions_ == ()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("effect", [0.0, 0.15])
def test_pairs_of_noise_are_not_chosen_however_many_rows_there_are(effect, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 8, (30_000, 20)).astype(np.uint8)
    scores = codes @ rng.normal(scale=effect, size=20)
    labels = (rng.random(len(codes)) < 1 / (1 + np.exp(scores.mean() - scores))).astype(int)
    model = dpfast.HalfspaceClassifier(3, n_rounds=40, trees=0, random_state=seed)
    assert model.fit(dpfast.CodeTable(codes, [8] * 20), labels, classes=[0, 1]).interactions_ == ()


@pytest.mark.parametrize("classes", [2, 4])
def test_residuals_have_the_mean_square_that_scores_of_their_classes_say(classes, rng):
    scores = rng.normal(scale=1.5, size=(40_000, classes))
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    likely = p * np.maximum(0.5, 1 - p)
    drawn = (rng.random((len(p), 1)) > np.cumsum(likely / likely.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
    own = np.eye(classes)[drawn.clip(max=classes - 1)]
    others = p * (1 - own)
    others /= others.sum(axis=1, keepdims=True)
    residuals = np.minimum(1, 2 * (1 - (p * own).sum(axis=1, keepdims=True))) * (own - others)
    told = _squares(scores[:, 1:] - scores[:, :1] if classes == 2 else scores)
    np.testing.assert_allclose(told, np.square(residuals).mean(axis=0)[-len(told) :], rtol=0.03)
    np.testing.assert_allclose(_squares(np.zeros((5, 1))), 1.0)  # where scores tell nothing


def test_rows_in_parts_choose_the_same_pairs(rng, tmp_path):
    table, labels = exclusive(rng, 3000)
    image, parts = image_of(CodeRows(table), 2, True), [slice(0, 1000), slice(1000, 3000)]
    image.open(np.full(image.opening_size, 500.0), 1.0, 3000)
    u = rng.normal(size=(image.size, 1))
    pairs = ColumnPairs(image.opening, image.linear(u)[0], np.zeros(1), 1.0)
    question, *told = image.pair_question(u, np.zeros(1), pairs.of)
    whole = question(Piece(None, labels, rows=CodeRows(table)), *told)
    some = [question(Piece(None, labels[at], rows=CodeRows(table[at])), *told) for at in parts]
    np.testing.assert_array_equal(whole, some[0] + some[1])
    joined = image.with_pairs(pairs.of[:2])
    question, *told = joined.question(rng.normal(size=(joined.size, 1)), np.zeros(1))
    whole = question(Piece(None, labels, rows=CodeRows(table)), *told)
    some = [question(Piece(None, labels[at], rows=CodeRows(table[at])), *told) for at in parts]
    np.testing.assert_array_equal(whole, some[0] + some[1])


def test_rows_that_are_not_codes_have_no_pairs(rng):
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    model = dpfast.HalfspaceClassifier(interactions="auto", n_rounds=2, random_state=0).fit(X, y, classes=[0, 1])
    assert model.interactions_ == ()
    with pytest.raises(ValueError, match='interactions must be 0 or "auto" for rows that are not codes, got 3'):
        dpfast.HalfspaceClassifier(interactions=3).fit(X, y, classes=[0, 1])


def test_columns_of_one_code_have_no_pairs():
    table = CodeTable(np.zeros((30, 3), int), [1, 1, 1])
    model = dpfast.HalfspaceClassifier(interactions=8, n_rounds=5, random_state=0)
    assert model.fit(table, np.arange(30) % 2, classes=[0, 1]).interactions_ == ()


def test_columns_are_folded_into_few_groups(rng):
    counts, ranks = (rng.random(20), rng.random(31)), (None, np.linspace(-1, 1, 30))
    pairs = ColumnPairs(Opening(100.0, np.array([50.0, 50.0]), counts, ranks), np.zeros((51, 1)), np.zeros(1), 1.0)
    (pair,) = pairs.of
    values, numbers = pair.groups
    assert sorted(set(values)) == list(range(GROUPS))
    assert values[int(np.argmax(counts[0]))] == 0
    assert list(numbers[:30]) == sorted(numbers[:30])
    assert numbers[30] == GROUPS - 1
    assert numbers[29] == GROUPS - 2


def test_a_saved_model_has_its_pairs(rng, tmp_path):
    schema = Schema([Numeric("x", 0, 1, edges=8), Category("c", ["a", "b"])], label="y")
    frame = {"x": rng.random(2000), "c": rng.choice(["a", "b"], 2000)}
    labels = (frame["x"] > 0.5) ^ (frame["c"] == "a")
    model = dpfast.HalfspaceClassifier(4.0, interactions=1, schema=schema, n_rounds=20, random_state=0)
    model.fit(frame, labels, classes=[False, True]).save(tmp_path / "model.json")
    again = dpfast.load(tmp_path / "model.json")
    assert again.interactions_ == model.interactions_ != ()
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert model.score(frame, labels) > 0.9


@pytest.mark.parametrize(
    "saved",
    [
        {"columns": [0, 1]},
        {"columns": [0], "groups": [[0], [0]]},
        {"columns": [0, 1], "groups": [[0, 1]]},
        {"columns": [0, 1], "groups": [[0, 8], [0]]},
        {"columns": [0, 1], "groups": [[], [0]]},
        {"columns": [0, 1], "groups": 3},
    ],
)
def test_a_damaged_pair_is_refused(saved):
    with pytest.raises(ValueError, match="wanted"):
        read_pair(saved)


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_replay_asks_for_pairs_within_what_was_charged(relation, classes, rng):
    table, labels = exclusive(rng, 400)
    others = (labels + (np.arange(400) == 399)) % classes
    after = (table, others) if relation == "replace" else (table[:399], labels[:399])
    model = dpfast.HalfspaceClassifier(50.0, interactions=2, n_rounds=10, neighbors=relation)
    found = dpfast.audit.replay(model, (table, labels), after, classes=range(classes))
    assert found.holds, found
    asked = [ratio for name, ratio in found.ratios if "exponential" in name]
    assert len(asked) == 2
    assert min(asked) > 0


def test_draws_of_more_classes_have_half_the_exponent_where_noise_was_planned_for_two(rng, monkeypatch):
    """Scores of more classes move by twice as much; a discovery plans before it knows how many there are."""
    exponents, draw = [], dpfast.mechanisms.exponential

    def noted(scores, exponent, **given):
        exponents.append(exponent)
        return draw(scores, exponent, **given)

    monkeypatch.setattr("dpfast.base.run.exponential", noted)
    frame = pd.DataFrame({"a": rng.choice(["x", "y"], 300), "b": rng.choice(["u", "v"], 300)})
    for classes in (2, 3):
        labels = np.arange(300) % classes
        model = dpfast.HalfspaceClassifier(interactions=1, n_rounds=4, random_state=0)
        model.fit(frame, labels, classes=range(classes))
    assert exponents[0] == 2 * exponents[1]


@pytest.mark.parametrize("classes", [2, 4])
def test_files_and_parts_give_the_model_of_the_whole(classes, tmp_path, rng):
    schema = Schema(
        [Numeric("x", 0, 1, edges=8), Numeric("z", 0, 1, edges=30), Category("c", ["a", "b"])],
        label=Label("y", [str(c) for c in range(classes)]),
    )
    frame = pd.DataFrame({"x": rng.random(900), "z": rng.random(900), "c": rng.choice(["a", "b"], 900)})
    frame["y"] = (((frame["x"] > 0.5) ^ (frame["c"] == "a")) + 2 * (frame["z"] > 0.5)) % classes
    frame.to_csv(tmp_path / "table.csv", index=False)
    labels = frame.pop("y").astype(str)
    model = dpfast.HalfspaceClassifier(20.0, interactions=8, schema=schema, n_rounds=10, random_state=0)
    whole = clone(model).fit(frame, labels)
    assert whole.interactions_
    parts = MemoryParts([(frame[at], labels[at]) for at in (slice(0, 200), slice(200, 900))])
    assert clone(model).fit(parts)._saver.released() == whole._saver.released()
    assert (
        clone(model).fit(dpfast.files.FileParts(tmp_path / "table.csv", memory=0))._saver.released()
        == whole._saver.released()
    )
