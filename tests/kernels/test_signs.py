import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from dpfast.kernels import bits, signs

KEY = 0x0123456789ABCDEFFEDCBA9876543210
WIDTHS = [1, 63, 64, 65, 256, 300, 700]  # of components: words and blocks of words, whole and begun


def entries(d, m, key=KEY):
    """sqrt(m) A as +-1, shape (m, d), from the stored bits."""
    return 2.0 * bits.unpack(signs.matrix(d, m, key), m).T - 1


def table(n, d, density=0.2, seed=0):
    """A CSR table of floats, one row of it empty and one full."""
    rng = np.random.default_rng((n, d, seed))
    X = np.where(rng.random((n, d)) < density, rng.normal(size=(n, d)), 0)
    X[0], X[-1] = 0, rng.normal(size=d)
    return sp.csr_array(X)


def project(X, m, key=KEY, data=True, **options):
    return signs.project_csr(X.indptr, X.indices, X.data if data else None, X.shape[1], m, key, **options)


def z_score(sums, size):
    """Largest sum of `size` signs, in standard deviations."""
    return np.abs(np.asarray(sums, float)).max() / np.sqrt(size)


def normal_limit(count):
    """What the largest of so many standard normals passes with probability 1e-6."""
    return stats.norm.isf(1e-6 / (2 * count))


@pytest.mark.parametrize("m", WIDTHS)
def test_csr_rows_are_multiplied_by_the_matrix(isa, m):
    X = table(9, 600)
    expected = X @ entries(600, m).T / np.sqrt(m)
    for matrix in (None, signs.matrix(600, m, KEY)):
        wide = project(X, m, matrix=matrix)
        assert wide.dtype == np.float64
        np.testing.assert_allclose(wide, expected, rtol=1e-12, atol=1e-12)
        narrow = project(X.astype(np.float32), m, matrix=matrix)
        assert narrow.dtype == np.float32
        np.testing.assert_allclose(narrow, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("m", WIDTHS)
def test_entries_that_are_one_are_counted(isa, m):
    X = (table(9, 600) != 0).astype(np.float64)
    expected = X @ entries(600, m).T
    for matrix in (None, signs.matrix(600, m, KEY)):
        np.testing.assert_array_equal(np.rint(project(X, m, data=False, matrix=matrix) * np.sqrt(m)), expected)


@pytest.mark.parametrize("n", [1, 3, 4, 9])
def test_dense_rows_are_multiplied_by_the_matrix(isa, n, rng):
    X = rng.normal(size=(n, 77))
    expected = X @ entries(77, 130).T / np.sqrt(130)
    np.testing.assert_allclose(signs.project_dense(X, 130, KEY), expected, rtol=1e-12, atol=1e-12)
    narrow = signs.project_dense(X.astype(np.float32), 130, KEY)
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("density", [0, 0.1, 0.5, 0.9, 1])
def test_packed_rows_are_multiplied_by_the_matrix(isa, density, rng):
    X = rng.random((5, 700)) < density
    projected = signs.project_packed(bits.pack(X.view(np.uint8)), 700, 300, KEY)
    np.testing.assert_array_equal(np.rint(projected * np.sqrt(300)), X @ entries(700, 300).T)


@pytest.mark.parametrize("m", WIDTHS)
def test_the_lift_is_the_transpose(isa, m, rng):
    v = rng.normal(size=m)
    expected = entries(500, m).T @ v / np.sqrt(m)
    np.testing.assert_allclose(signs.lift(v, 500, KEY), expected, rtol=1e-12, atol=1e-12)


def test_every_level_gives_the_same_bits(each_isa, rng):
    X, v = table(11, 900), rng.normal(size=200)
    packed = bits.pack((X.toarray() != 0).view(np.uint8))

    def everything():
        return [
            signs.matrix(900, 200, KEY),
            project(X, 200),
            project(X.astype(np.float32), 200),
            project(X, 200, data=False),
            signs.project_dense(X.toarray(), 200, KEY),
            signs.project_dense(X.toarray().astype(np.float32), 200, KEY),
            signs.project_packed(packed, 900, 200, KEY),
            signs.lift(v, 900, KEY),
        ]

    first, *others = each_isa(everything)
    for other in others:
        for a, b in zip(first, other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("m", [70, 512])
def test_csr_dense_and_packed_rows_agree_to_the_bit(m):
    X = table(8, 700)
    for dtype in (np.float32, np.float64):
        Y = X.astype(dtype)
        np.testing.assert_array_equal(project(Y, m), signs.project_dense(Y.toarray(), m, KEY))
    ones = (X != 0).astype(np.float32)
    dense = signs.project_dense(ones.toarray(), m, KEY)
    packed = bits.pack(ones.toarray().astype(np.uint8))
    np.testing.assert_array_equal(project(ones, m, data=False), dense)
    np.testing.assert_array_equal(project(ones, m), dense)
    np.testing.assert_array_equal(signs.project_packed(packed, 700, m, KEY), dense)


def test_a_sign_depends_on_the_key_the_coordinate_and_the_component_only():
    large = signs.matrix(100, 200, KEY)
    np.testing.assert_array_equal(signs.matrix(40, 200, KEY), large[:40])
    np.testing.assert_array_equal(signs.matrix(100, 128, KEY), large[:, :2])
    np.testing.assert_array_equal(bits.unpack(signs.matrix(100, 70, KEY), 70), bits.unpack(large, 200)[:, :70])
    assert not (signs.matrix(100, 70, KEY)[:, 1] >> np.uint64(6)).any()  # bits past m


def test_a_block_of_rows_is_projected_like_the_whole():
    X = table(8, 300).astype(np.float32)
    part = signs.project_csr(X.indptr[3:7], X.indices, X.data, 300, 100, KEY)
    np.testing.assert_array_equal(part, project(X, 100)[3:6])
    wide = signs.project_csr(X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data, 300, 100, KEY)
    np.testing.assert_array_equal(wide, project(X, 100))


def test_entries_stored_twice_add_up():
    indptr, indices, data = np.array([0, 3]), np.array([5, 2, 5]), np.array([1.0, 2.0, 3.0])
    expected = 4 * entries(9, 64)[:, 5] + 2 * entries(9, 64)[:, 2]
    np.testing.assert_allclose(8 * signs.project_csr(indptr, indices, data, 9, 64, KEY)[0], expected, rtol=1e-15)


def test_projections_and_lift_are_adjoint(rng):
    X, v = table(6, 400), rng.normal(size=90)
    np.testing.assert_allclose(project(X, 90) @ v, X @ signs.lift(v, 400, KEY), rtol=1e-10, atol=1e-12)


def test_norms_are_kept_in_the_mean(rng):
    """E |A x|^2 = |x|^2 over keys, and the variance is 2 (|x|^4 - sum x_j^4) / m."""
    m, trials = 64, 4000
    x = rng.normal(size=(1, 50))
    x /= np.linalg.norm(x)
    norms = [(signs.project_dense(x, m, key) ** 2).sum() for key in range(trials)]
    variance = 2 * (1 - (x**4).sum()) / m
    assert abs(np.mean(norms) - 1) < normal_limit(1) * np.sqrt(variance / trials)
    spread = (trials - 1) * np.var(norms, ddof=1) / variance
    kurtosis = stats.kurtosis(norms, fisher=False)  # close to that of a chi-square with m degrees of freedom, 3 + 12/m
    assert 2.5 < kurtosis < 4
    assert abs(spread / trials - 1) < normal_limit(1) * np.sqrt((kurtosis - 1) / trials)


def test_angles_are_kept_by_the_lemma_of_johnson_and_lindenstrauss(rng):
    X = rng.normal(size=(30, 3000))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    error = signs.project_dense(X, 2048, KEY)
    error = error @ error.T - X @ X.T
    assert np.abs(error).max() < normal_limit(30 * 31 / 2) * np.sqrt(2 / 2048)


def test_each_component_has_as_many_plus_as_minus_signs():
    A = entries(50_000, 192)
    assert z_score(A.sum(axis=1), 50_000) < normal_limit(192)
    assert z_score(A.sum(axis=0), 192) < normal_limit(50_000)


@pytest.mark.parametrize("step", [1, 2, 64, 1024])
def test_signs_of_coordinates_a_step_apart_are_uncorrelated(step):
    A = entries(20_000, 128)
    products = A[:, step:] * A[:, :-step]
    assert z_score(products.sum(axis=1), products.shape[1]) < normal_limit(128)
    assert z_score(products.sum(), products.size) < normal_limit(1)


def test_signs_of_any_two_components_are_uncorrelated():
    A = entries(20_000, 256)
    products = A @ A.T - 20_000 * np.eye(256)
    assert z_score(products, 20_000) < normal_limit(256 * 255 / 2)


@pytest.mark.parametrize("other", [KEY + 1, KEY ^ 1 << 63, KEY + (1 << 64), KEY ^ 1 << 127, KEY >> 64])
def test_signs_of_neighbouring_keys_are_uncorrelated(other):
    products = entries(20_000, 128) * entries(20_000, 128, other)
    assert z_score(products.sum(axis=1), 20_000) < normal_limit(128)
    assert z_score(products.sum(axis=0), 128) < normal_limit(20_000)


@pytest.mark.parametrize("key", [0, 2**128 - 1])
def test_keys_at_the_ends_of_the_range_do_as_well_as_others(key):
    A = entries(20_000, 128, key)
    assert z_score(A.sum(axis=1), 20_000) < normal_limit(128)
    assert z_score(A @ A.T - 20_000 * np.eye(128), 20_000) < normal_limit(128 * 127 / 2)


def test_words_are_not_repeated():
    words = signs.matrix(100_000, 256, KEY)
    assert len(np.unique(words)) == words.size


def test_tables_without_rows_columns_or_entries_are_projected_to_zeros():
    assert signs.project_dense(np.empty((0, 5)), 8, 1).shape == (0, 8)
    assert not signs.project_dense(np.empty((3, 0)), 8, 1).any()
    assert not project(sp.csr_array((3, 0)), 8).any()
    assert not project(sp.csr_array((3, 9)), 8).any()
    assert not signs.project_packed(np.empty((3, 0), np.uint64), 0, 8, 1).any()
    assert signs.lift(np.ones(8), 0, 1).shape == (0,)
    assert signs.matrix(0, 70, 1).shape == (0, 2)


@pytest.mark.parametrize("key", [-1, 2**128])
def test_a_key_out_of_range_is_refused(key):
    with pytest.raises(ValueError, match=r"key must be an integer in \[0, 2\*\*128\)"):
        signs.matrix(3, 3, key)


@pytest.mark.parametrize(("d", "m"), [(-1, 3), (3, 0), (2**31 + 1, 3)])
def test_numbers_out_of_range_are_refused(d, m):
    with pytest.raises(ValueError, match=r"d must lie in \[0, 2\*\*31\] and m in \[1, 2\*\*31\]"):
        signs.matrix(d, m, KEY)


def test_a_matrix_of_another_key_or_shape_is_refused():
    X = table(3, 50)
    with pytest.raises(ValueError, match="matrix is not the one of key="):
        project(X, 64, matrix=signs.matrix(50, 64, KEY + 1))
    with pytest.raises(ValueError, match=r"matrix must be uint64 of shape \(50, 2\), got uint64 \(50, 1\)"):
        project(X, 65, matrix=signs.matrix(50, 64, KEY))


@pytest.mark.parametrize(
    ("indptr", "indices", "data", "message"),
    [
        ([0, 1], [5], None, r"indices must lie in \[0, 5\), got 5 to 5"),
        ([0, 1], [-1], None, r"indices must lie in \[0, 5\), got -1 to -1"),
        ([0, 2], [1], None, "indptr must rise"),
        ([0, 2, 1], [1, 2], None, "indptr must rise"),
        ([-1, 1], [1, 2], None, "indptr must rise"),
        ([], [1, 2], None, "one-dimensional"),
        ([0, 1], [1], np.ones(2), r"data must be None or float32 or float64 of shape \(1,\), got float64 \(2,\)"),
        ([0, 1], [1], np.ones(1, int), "data must be None or float32 or float64"),
    ],
)
def test_csr_rows_that_do_not_fit_are_refused(indptr, indices, data, message):
    with pytest.raises(ValueError, match=message):
        signs.project_csr(np.array(indptr, np.int32), np.array(indices, np.int32), data, 5, 64, KEY)


def test_dense_and_packed_rows_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"X must be float32 or float64 of shape \(n, d\), got int64 \(2, 2\)"):
        signs.project_dense(np.ones((2, 2), int), 8, KEY)
    with pytest.raises(ValueError, match=r"d=65 needs 2 words a row, got shape \(3, 1\)"):
        signs.project_packed(np.zeros((3, 1), np.uint64), 65, 8, KEY)
    with pytest.raises(ValueError, match=r"v must have shape \(m,\), got \(1, 2\)"):
        signs.lift([[1, 2]], 4, KEY)
