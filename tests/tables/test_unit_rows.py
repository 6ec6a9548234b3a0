import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dpfast import BitMatrix
from dpfast.tables import unit_rows as module
from dpfast.tables.unit_rows import unit_rows

FORMS = {
    "float32": lambda X: X.astype(np.float32),
    "float64": lambda X: X,
    "int8": lambda X: X.astype(np.int8),
    "int64": lambda X: X.astype(np.int64),
    "columns first": np.asfortranarray,
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "list": lambda X: X.tolist(),
    "frame": pd.DataFrame,
    "csr": sp.csr_array,
    "csr, 64-bit": lambda X: sp.csr_array(X),
    "csc": sp.csc_array,
    "coo": sp.coo_array,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
def test_every_form_of_input_gives_the_same_rows(form, fit_intercept, normalize, rng):
    X = rng.integers(-2, 3, (203, 70)).astype(float)
    X[3] = 0
    rows = unit_rows(FORMS[form](X), fit_intercept=fit_intercept, normalize=normalize)
    assert rows.shape == (203, 70 + fit_intercept)
    whole = np.hstack([X, np.ones((203, 1))])[:, : 70 + fit_intercept]
    norm = np.linalg.norm(whole, axis=1, keepdims=True)
    ball = whole / np.maximum(norm, 1e-9 if normalize else 1)
    w = rng.normal(size=rows.shape[1]) / 5
    np.testing.assert_allclose(rows.margins(w), np.clip(ball @ w, -1, 1), atol=1e-5)
    weights = rng.integers(-4096, 4097, 203).astype(np.int32)
    np.testing.assert_allclose(rows.weighted_sum(weights) / rows.reach, weights @ ball, atol=0.5)


@pytest.mark.parametrize("form", [lambda X: X, BitMatrix, sp.csr_array, lambda X: X.astype(float)])
def test_bits_are_zeros_and_ones(form, rng):
    X = rng.random((300, 80)) < 0.2
    rows = unit_rows(form(X), fit_intercept=True)
    ball = np.hstack([X, np.ones((300, 1))])
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    w = rng.normal(size=81) / 5
    np.testing.assert_allclose(rows.margins(w), np.clip(ball @ w, -1, 1), atol=1e-4)


@pytest.mark.parametrize("form", [lambda X: X, sp.csr_array, BitMatrix])
def test_sums_and_margins_do_not_depend_on_threads_and_blocks(form, rng, monkeypatch):
    X = form(rng.random((3000, 130)) < 0.3)
    weights = rng.integers(-4096, 4097, 3000).astype(np.int32)
    w = rng.normal(size=131)
    results = []
    for threads, size in (("1", 1 << 22), ("2", 1000), ("5", 70_000)):
        monkeypatch.setenv("DPFAST_THREADS", threads)
        monkeypatch.setattr(module, "BLOCK_BYTES", size)
        rows = unit_rows(X, fit_intercept=True)
        results.append((rows.margins(w), rows.weighted_sum(weights)))
    for margins, total in results[1:]:
        np.testing.assert_array_equal(margins, results[0][0])
        np.testing.assert_array_equal(total, results[0][1])


def test_a_memory_mapped_file_is_read_where_it_is(tmp_path, rng):
    X = rng.normal(size=(500, 40)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    w = rng.normal(size=40)
    np.testing.assert_array_equal(unit_rows(mapped).margins(w), unit_rows(X).margins(w))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0, np.nan]], "NaN"),
        ([[0, np.inf]], "infinity"),
        (sp.csr_array([[0, np.inf]]), "infinity"),
        ([1, 2], "Expected 2D array"),
    ],
)
def test_rows_that_will_not_do_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        unit_rows(X)


@pytest.mark.parametrize("form", ["float32", "float64", "csr"])
def test_normalized_rows_lie_on_the_sphere_and_others_where_they_were_in_the_ball(form, rng):
    X = 0.05 * np.abs(rng.normal(size=(120, 3)))
    norms = np.linalg.norm(X, axis=1)
    for i in (0, 70):
        w = X[i] / norms[i]
        assert unit_rows(FORMS[form](X), normalize=True).margins(w)[i] == pytest.approx(1, abs=1e-5)
        assert unit_rows(FORMS[form](X)).margins(w)[i] == pytest.approx(norms[i], abs=1e-5)


@pytest.mark.parametrize("form", ["float32", "float64", "int8", "int64", "columns first"])
def test_dense_rows_that_were_changed_are_refused_by_the_next_sum(form, rng):
    X = FORMS[form](rng.integers(-2, 3, (203, 70)).astype(float))
    rows, weights = unit_rows(X), np.ones(203, np.int32)
    rows.weighted_sum(weights)
    X[7] *= 20
    with pytest.raises(ValueError, match="must not be changed while"):
        rows.weighted_sum(weights)
    with pytest.raises(ValueError, match="must not be changed while"):
        rows.limits(np.zeros(70, np.int32), 0, 1, 1 << 20)
