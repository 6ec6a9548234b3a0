from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import assert_follows

from dpfast.kernels import bits, cover


def pack(X):
    return bits.pack(np.ascontiguousarray(X).view(np.uint8))


def table(n, m, classes=2, seed=0, density=0.5):
    rng = np.random.default_rng((n, m, classes, seed))
    return rng.random((n, m)) < density, rng.integers(0, classes, n)


def counts_of(X, y, exponent=Fraction(1, 10), weights=((1, 2),), negations=True, prior=0, classes=2, by_columns=True):
    labels, rows, columns = pack(y == np.arange(classes)[:, np.newaxis]), pack(X), pack(X.T)
    first = cover.count(columns, len(X), labels)
    return cover.Counts(rows, columns if by_columns else None, labels, first, exponent, weights, negations, prior)


def brute_scores(X, y, left, weights, negations, classes):
    """{(feature, negated, label): score}, and the constant true's under feature -1."""
    scores = {}
    for j in range(-1, X.shape[1]):
        for negated in (False, True) if negations and j >= 0 else (False,):
            covered = left & (X[:, j] != negated if j >= 0 else True)
            for label in range(classes):
                correct = (covered & (y == label)).sum()
                scores[j, negated, label] = weights[0] * int(correct) - weights[1] * int(covered.sum() - correct)
    return scores


def kernel_scores(state, m, negations, classes):
    """The same as the kernel has them: by blocks of 64 features, plain and negated, by label."""
    scores, blocks = {}, list(state._blocks())
    for b, (block, masses) in enumerate(blocks[:-1]):
        for i in np.flatnonzero(masses):
            v, k = divmod(int(i), 64)
            scores[64 * b + k, v >= classes, v % classes] = block[i]
    scores |= {(-1, False, label): score for label, score in enumerate(blocks[-1][0])}
    return scores


@pytest.mark.parametrize("classes", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [1, 64, 300, 140_000])
def test_first_counts_are_the_counts(isa, n, classes):
    X, y = table(n, 10, classes)
    counts = cover.count(pack(X.T), n, pack(y == np.arange(classes)[:, np.newaxis]))
    np.testing.assert_array_equal(counts, [X[y == c].sum(0) for c in range(classes)])
    np.testing.assert_array_equal(cover.count_rows(pack(X), 10, y, classes), counts)


@given(
    st.integers(1, 150),
    st.integers(1, 140),
    st.integers(2, 3),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=14),
    st.sampled_from([0.02, 0.5, 0.9]),
    st.booleans(),
    st.integers(0, 10**6),
)
@settings(max_examples=25, deadline=None)
def test_scores_stay_right_while_rules_cover_rows(n, m, classes, negations, weights, density, by_columns, seed):
    X, y = table(n, m, classes, seed, density)
    state = counts_of(X, y, weights=weights, negations=negations, classes=classes, by_columns=by_columns)
    left, unused = np.ones(n, bool), set(range(m))
    rng = np.random.default_rng(seed)
    for i, feature in enumerate(rng.permutation(m)[:12].tolist()):
        expected = brute_scores(X, y, left, weights[min(i, len(weights) - 1)], negations, classes)
        expected = {key: score for key, score in expected.items() if key[0] in unused | {-1}}
        assert kernel_scores(state, m, negations, classes) == expected
        assert state.uncovered == left.sum()
        negated = bool(negations and rng.integers(2))
        state.cover_rows(feature, negated)
        left &= X[:, feature] == negated
        unused.discard(feature)


@pytest.mark.parametrize("by_columns", [True, False])
@pytest.mark.parametrize(
    "share", [0.02, 0.3, 0.6]
)  # of the rows covered: few, one batch or several, or more than are left
@pytest.mark.parametrize("n", [32_769, 70_000])
def test_the_rows_that_a_rule_covers_leave_the_counts_of_long_tables_too(n, share, by_columns):
    X, y = table(n, 12, 3)
    X[:, 0] = np.random.default_rng(n).random(n) < share
    for negations in (True, False):
        state = counts_of(X, y, negations=negations, classes=3, by_columns=by_columns)
        left = np.ones(n, bool)
        for feature in (0, 5, 9):
            state.cover_rows(feature, False)
            left &= ~X[:, feature]
            unused = {key: score for key, score in brute_scores(X, y, left, (1, 2), negations, 3).items()
                      if key[0] not in (0, 5, 9)[: (0, 5, 9).index(feature) + 1]}  # fmt: skip
            assert kernel_scores(state, 12, negations, 3) == unused
            assert state.uncovered == left.sum()


class Source:
    """Rows that are asked for, as tables of codes are."""

    def __init__(self, X, y, classes):
        self.X, self.y, self.classes, self.n = X, y, classes, len(X)
        self.totals = self.cover_last(None, True)

    def __len__(self):
        return self.n

    def cover(self, feature, negated):
        totals = self.cover_last(feature, negated)
        return np.array([self.X[self.y == c].sum(0) for c in range(self.classes)]), totals

    def cover_last(self, feature, negated):
        if feature is not None:
            left = self.X[:, feature] == negated
            self.X, self.y = self.X[left], self.y[left]
        return np.bincount(self.y, minlength=self.classes)


@pytest.mark.parametrize("negations", [False, True])
def test_rows_that_are_asked_for_give_the_same_run(negations):
    X, y = table(500, 70, 3, 1)
    labels = pack(y == np.arange(3)[:, np.newaxis])
    first = cover.count(pack(X.T), 500, labels)
    weights = [(20, 100), (50, 90), (50, 60)]
    arguments = first, Fraction(1, 900), weights, negations, 2
    states = [cover.Counts(pack(X), None, labels, *arguments), cover.Counts(Source(X, y, 3), None, None, *arguments)]
    rngs = [np.random.default_rng(4) for _ in states]
    for _ in range(12):
        drawn = [state.draw(rng) for state, rng in zip(states, rngs, strict=True)]
        assert drawn[0] == drawn[1]
        if drawn[0][0] == -1:
            break
        for state in states:
            state.cover_rows(*drawn[0][:2])
        assert states[0].uncovered == states[1].uncovered
        assert kernel_scores(states[0], 70, negations, 3) == kernel_scores(states[1], 70, negations, 3)


@pytest.mark.parametrize("negations", [False, True])
@pytest.mark.parametrize("density", [0.01, 0.5])
def test_one_stream_gives_one_list_at_every_level_and_in_multiprecision(density, negations, each_isa, monkeypatch):
    X, y = table(2000, 150, 2, 3, density)

    def run():
        rng, state, drawn = np.random.default_rng(8), counts_of(X, y, Fraction(0.03), negations=negations, prior=2), []
        while state.uncovered and len(drawn) < 40:
            drawn.append(state.draw(rng))
            if drawn[-1][0] == -1:
                break
            state.cover_rows(*drawn[-1][:2])
        return drawn

    results = each_isa(run)
    monkeypatch.setattr(cover, "_guard_scale", 2.0**60)
    assert len(results[0]) > 3
    assert all(result == results[0] for result in [*results, run()])


def test_multiprecision_decides_on_both_sides_of_a_boundary(monkeypatch):
    """Four candidates of one weight: a word is undecided within the guard of three boundaries and of the end."""
    decided = []

    class Noting(cover.Counts):
        def _decide(self, word, words):
            decided.append(word)
            return super()._decide(word, words)

    monkeypatch.setattr(cover, "Counts", Noting)
    state = counts_of(np.ones((2, 1), bool), np.array([0, 1]), Fraction(1, 100), negations=False, prior=1)
    share, draws = 0.02, 8000
    monkeypatch.setattr(cover, "_guard_scale", share / ((512 + 1 + 65 * 2) * 2.0**-51))
    rng = np.random.default_rng(4)
    for _ in range(draws):
        state.draw(rng)
    assert abs(len(decided) / draws - 7 * share) < share


def test_weights_follow_the_best_score_over_thousands_of_nats():
    X, y = table(40_000, 70, 2)
    y[:] = X[:, 5] | X[:, 9]
    state, rng = counts_of(X, y, Fraction(1, 2)), np.random.default_rng(0)  # t * score spans 20,000
    assert [state.draw(rng)[0] in (5, 9) for _ in range(20)]
    feature, negated, _ = state.draw(rng)
    state.cover_rows(feature, negated)
    assert {state.draw(rng)[0] for _ in range(20)} <= {5, 9}


def test_the_largest_prior_is_drawn_by_its_law_and_a_larger_one_is_refused(rng):
    # One feature is right for all rows; the constant errs on a third of them, and its mass nearly makes up for that.
    X = np.repeat([[True], [False]], [60, 30], axis=0)
    y = X[:, 0].astype(int)
    exponent, prior = Fraction(61, 100), 2**53
    state = counts_of(X, y, exponent, prior=prior)
    scores = brute_scores(X, y, np.ones(90, bool), (1, 2), True, 2)
    masses = [prior if feature < 0 else 1 for feature, _, _ in scores]
    logs = np.log(masses) + [float(exponent * score) for score in scores.values()]
    law = np.exp(logs - logs.max())
    assert 0.01 < law[masses.index(prior) + 1] / law.sum() < 0.99
    drawn = [state.draw(rng) for _ in range(20_000)]
    assert_follows([drawn.count(candidate) for candidate in scores], law / law.sum())
    for wrong in (prior + 1, 2**63, 10**35, -1):
        with pytest.raises(ValueError, match=r"prior must lie in \[0, 2\*\*53\], got"):
            counts_of(X, y, exponent, prior=wrong)


@pytest.mark.parametrize("weights", [(), ((1, -1),), ((1, 2), (10**6 + 1, 0)), ((2**63, 1),)])
def test_weights_that_integers_may_not_hold_are_refused(weights):
    with pytest.raises(ValueError, match=r"weights must be pairs of integers in \[0, 1000000\], got"):
        counts_of(*table(10, 3), weights=weights)


def test_a_tail_knows_the_largest_prior(rng):
    state = counts_of(np.ones((3, 2), bool), np.array([0, 1, 1]), prior=2**53)
    state.cover_rows(0, False)
    assert all(state.draw_tail(5, rng)[0][0] == -1 for _ in range(50))


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(-1, 2)])
def test_an_exponent_that_is_not_positive_is_refused(exponent):
    with pytest.raises(ValueError, match="exponent must be positive"):
        counts_of(np.ones((3, 2), bool), np.array([0, 1, 1]), exponent)


def test_a_tail_of_less_than_nothing_is_refused_and_draws_nothing(rng):
    state, before = counts_of(np.ones((3, 2), bool), np.array([0, 1, 1])), rng.bit_generator.state
    with pytest.raises(ValueError, match="length must be at least 0, got -1"):
        state.draw_tail(-1, rng)
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("exponent", [Fraction(1, 10**9), Fraction(25), Fraction(10**30)])
def test_exponents_of_any_size_give_a_choice(exponent):
    X, y = table(50, 5)
    state = counts_of(X, y, exponent)
    for feature in range(5):
        state.draw(np.random.default_rng(feature))
        state.cover_rows(feature, False)
    with pytest.raises(ValueError, match="none is left to draw"):
        state.draw(np.random.default_rng(0))


def test_a_table_without_features_leaves_the_constant_true():
    state = counts_of(np.empty((6, 0), bool), np.array([0, 1, 1, 1, 1, 1]), Fraction(9), prior=1)
    assert state.draw(np.random.default_rng(0)) == (-1, False, 1)
    assert state.draw_label(np.random.default_rng(0)) == 1


def test_a_feature_is_used_once():
    X, y = table(10, 3)
    state = counts_of(X, y)
    state.cover_rows(1, False)
    for feature in (1, 3, -1):
        with pytest.raises(ValueError, match="must be one of 3 not used before"):
            state.cover_rows(feature, False)


def test_shapes_that_do_not_fit_together_are_refused():
    X, y = table(100, 70)
    columns, labels = pack(X.T), pack(y == np.arange(2)[:, np.newaxis])
    with pytest.raises(ValueError, match="do not fit together"):
        cover.Counts(pack(X), columns, labels, np.zeros((2, 69), np.int64), Fraction(1), [(0, 1)], True, 0)
    with pytest.raises(ValueError, match="n=200 needs 4 words"):
        cover.count(columns, 200, labels)


@pytest.mark.parametrize("codes", [np.full(100, 2), np.full(100, -1), np.zeros(99, int), np.zeros((100, 1), int)])
def test_codes_that_are_no_labels_of_the_rows_are_refused(codes):
    with pytest.raises(ValueError, match=r"codes must be 100 labels in \[0, 2\), got shape"):
        cover.count_rows(pack(table(100, 70)[0]), 70, codes, 2)


def test_rows_without_one_label_are_refused():
    X, y = table(100, 70)
    columns, labels = pack(X.T), pack(y == np.arange(2)[:, np.newaxis])
    for wrong in (labels[:1], labels[[0, 1, 1]], labels[[0, 0]]):
        with pytest.raises(ValueError, match="each of the 100 rows exactly one label"):
            cover.count(columns, 100, wrong)
