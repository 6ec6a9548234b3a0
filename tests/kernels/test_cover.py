from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfast.kernels import bits, cover


def pack(X):
    return bits.pack(np.ascontiguousarray(X).view(np.uint8))


def table(n, m, classes=2, seed=0, density=0.5):
    rng = np.random.default_rng((n, m, classes, seed))
    return rng.random((n, m)) < density, rng.integers(0, classes, n)


def counts_of(
    X, y, exponent=Fraction(1, 10), weight=Fraction(1, 2), negations=True, prior=0, classes=2, by_columns=True
):
    labels, rows, columns = pack(y == np.arange(classes)[:, np.newaxis]), pack(X), pack(X.T)
    first = cover.count(columns, len(X), labels)
    return cover.Counts(rows, columns if by_columns else None, labels, first, exponent, weight, negations, prior)


def brute_scores(X, y, left, weight, negations, classes):
    """{(feature, negated, label): score}, and the constant true's under feature -1, scaled to integers."""
    scores = {}
    for j in range(-1, X.shape[1]):
        for negated in (False, True) if negations and j >= 0 else (False,):
            covered = left & (X[:, j] != negated if j >= 0 else True)
            for label in range(classes):
                correct = (covered & (y == label)).sum()
                scores[j, negated, label] = (weight * int(correct) - int(covered.sum() - correct)) * weight.denominator
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
    st.sampled_from([Fraction(0), Fraction(3, 10), Fraction(1)]),
    st.sampled_from([0.02, 0.5, 0.9]),
    st.booleans(),
    st.integers(0, 10**6),
)
@settings(max_examples=60, deadline=None)
def test_scores_stay_right_while_rules_cover_rows(n, m, classes, negations, weight, density, by_columns, seed):
    X, y = table(n, m, classes, seed, density)
    state = counts_of(X, y, weight=weight, negations=negations, classes=classes, by_columns=by_columns)
    left, unused = np.ones(n, bool), set(range(m))
    rng = np.random.default_rng(seed)
    for feature in rng.permutation(m)[:12].tolist():
        expected = brute_scores(X, y, left, weight, negations, classes)
        expected = {key: score for key, score in expected.items() if key[0] in unused | {-1}}
        assert kernel_scores(state, m, negations, classes) == expected
        assert state.uncovered == left.sum()
        negated = bool(negations and rng.integers(2))
        state.cover_rows(feature, negated)
        left &= X[:, feature] == negated
        unused.discard(feature)


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


def test_weights_follow_the_best_score_over_thousands_of_nats():
    X, y = table(40_000, 70, 2)
    y[:] = X[:, 5] | X[:, 9]
    state, rng = counts_of(X, y, Fraction(1, 2)), np.random.default_rng(0)  # t * score spans 20,000
    assert [state.draw(rng)[0] in (5, 9) for _ in range(20)]
    feature, negated, _ = state.draw(rng)
    state.cover_rows(feature, negated)
    assert {state.draw(rng)[0] for _ in range(20)} <= {5, 9}


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
        cover.Counts(pack(X), columns, labels, np.zeros((2, 69), np.int64), Fraction(1), Fraction(0), True, 0)
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
