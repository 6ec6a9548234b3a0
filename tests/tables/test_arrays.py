import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dpfast.files.readers import read_table
from dpfast.tables.arrays import as_numbers, sound_csr
from dpfast.tables.bit_matrix import BitMatrix
from dpfast.tables.projection import project
from dpfast.tables.signed_rows import signed_rows
from dpfast.tables.unit_rows import unit_rows

SPARSE = ["csr", "csc"]


def test_a_type_stays_and_what_has_none_is_float64():
    for dtype in (bool, np.uint8, np.int64, np.float16, np.float32, np.float64):
        assert as_numbers(np.ones((2, 2), dtype)).dtype == dtype
    for X in ([[True, False]], [[1, 2]], [[1, 2.5]], [np.array([1, 2], np.int8)], np.array([[1, 2]], object)):
        assert as_numbers(X).dtype == np.float64


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array, pd.DataFrame])
@pytest.mark.parametrize("read", [unit_rows, BitMatrix, signed_rows, lambda X: project(X, 3, 1)])
def test_what_float64_cannot_hold_is_refused_before_it_is_cast(make, read):
    X = np.ones((2, 2), np.longdouble)
    X[1, 0] = np.longdouble("1e400")
    with pytest.raises(ValueError, match=r"infinity or a value too large for dtype\('float64'\)"):
        read(make(X))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1, 10**400]], "too large for float64"),
        (np.array([["2020-01-01"]], "M8[D]"), "must hold numbers, got datetime64"),
        (np.array([[1j]]), "Complex data"),
        (sp.coo_array(np.ones(3)), "Expected 2D array"),
    ],
)
def test_what_is_no_number_is_refused(X, message):
    with pytest.raises(ValueError, match=message):
        as_numbers(X, SPARSE)


def _csr(indptr, indices, *, n=3, d=4):
    """A CSR matrix that is not checked."""
    X = sp.csr_array((n, d))
    X.indptr, X.indices, X.data = np.array(indptr), np.array(indices), np.ones(len(indices))
    return X


UNSOUND = {
    "falling indptr": _csr([0, 3, 1, 4], [0, 1, 2, 3]),
    "falling to nothing": _csr([0, 10**8, 0, 0], []),
    "far indptr": _csr([0, 10**8, 10**8, 4], [0, 1, 2, 3]),
    "long indptr": _csr([0, 1, 2, 10**8], [0, 1, 2, 3]),
    "negative indptr": _csr([0, -5, 2, 4], [0, 1, 2, 3]),
    "short indptr": _csr([0, 4], [0, 1, 2, 3]),
    "index past the end": _csr([0, 1, 2, 4], [0, 1, 2, 10**8]),
    "negative index": _csr([0, 1, 2, 4], [0, 1, 2, -(10**8)]),
    "index one past the end": _csr([0, 1, 2, 4], [0, 1, 2, 4]),
    "real indices": _csr([0, 1, 2, 4], [0.0, 1, 2, 3]),
}


@pytest.mark.parametrize("unsound", UNSOUND)
@pytest.mark.parametrize("read", [unit_rows, BitMatrix, signed_rows, sound_csr, lambda X: project(X, 3, 1)])
def test_indices_are_checked_before_anything_compiled_touches_them(unsound, read):
    with pytest.raises(ValueError, match=r"indptr|index pointer|indices|Last value of index"):
        read(UNSOUND[unsound])


@pytest.mark.parametrize("values", ["bits", "numbers", "either"])
def test_a_file_of_unsound_indices_is_refused(tmp_path, values):
    path = tmp_path / "t.npz"
    sp.save_npz(path, sp.csr_array(np.eye(3, 4)))
    with np.load(path) as stored:
        arrays = dict(stored) | {"indptr": np.array([0, 10**8, 2, 3], np.int32)}
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=r"t\.npz: indptr of a sparse matrix must not fall"):
        read_table(path, values=values)


def test_a_coo_matrix_whose_indices_were_changed_is_refused():
    X = sp.coo_array(np.eye(3))
    X.coords[0][1] = 10**8
    with pytest.raises(ValueError, match="exceeds matrix dimension"):
        unit_rows(X)


def test_the_callers_matrix_is_left_as_it_is():
    X = sp.csr_array((np.ones(3), np.array([1, 0, 0]), np.array([0, 3])), shape=(1, 2))
    assert as_numbers(X, SPARSE).toarray().tolist() == [[2, 1]]
    assert X.indices.tolist() == [1, 0, 0]


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.bsr_array])
def test_indices_up_to_the_last_are_sound(make):
    assert sound_csr(make(np.eye(3, 5))).toarray().tolist() == np.eye(3, 5).tolist()
    assert sound_csr(make((3, 5))).nnz == 0
    X = make(np.eye(3, 5))
    X.indices[0] = 5
    with pytest.raises(ValueError, match=r"ind(ices|ex)|must be <"):
        sound_csr(X)


def test_text_among_numbers_is_refused_and_not_repeated():
    for X in ([[1.0], ["a diagnosis"]], np.array([["1"], ["a diagnosis"]]), pd.DataFrame({"x": ["1", "a diagnosis"]})):
        with pytest.raises(ValueError, match=r"text where numbers|not compatible with arrays of") as refused:
            as_numbers(X)
        assert "diagnosis" not in str(refused.value)
