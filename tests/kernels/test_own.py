import pickle

import numpy as np
import pytest

from dpfast.kernels import codes, unit_rows
from dpfast.kernels import multiplicative_weights as weights
from dpfast.kernels.own import frozen, own
from dpfast.tables import BitMatrix


def test_what_a_caller_can_write_is_copied_and_what_nobody_can_write_is_not():
    whole = np.arange(8)
    view = whole[2:6]
    assert not np.shares_memory(own(view), whole)
    view.setflags(write=False)
    assert not np.shares_memory(own(view), whole)  # the array below can be written
    whole.setflags(write=False)
    assert np.shares_memory(own(whole[2:6]), whole)
    assert own(whole, np.int32).dtype == np.int32
    frozen = np.frombuffer(b"12345678", np.uint8)
    assert own(frozen) is frozen


def _csr():
    return {"indptr": np.array([0, 3]), "indices": np.array([0, 1, 2], np.int32), "data": np.ones(3, np.int32)}


@pytest.mark.parametrize(
    ("name", "value"), [("indices", 10**9), ("indptr", 10**9), ("data", 2**30), ("signs", 100)], ids=str
)
def test_losses_are_those_that_were_checked_whatever_becomes_of_the_arrays(name, value):
    given, signs = _csr(), np.ones(1, np.int8)
    losses = weights.csr(**given, d=8, signs=signs)
    (signs if name == "signs" else given[name])[-1] = value
    state = weights.Weights(8, 1)
    state.add(losses)
    assert state.totals().tolist() == [1, 1, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(("name", "value"), [("indices", 2**30), ("indptr", 2**40), ("data", 1e30)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_those_that_were_checked_whatever_becomes_of_the_arrays(name, value, dtype):
    given = _csr() | {"data": np.full(3, 0.25, dtype)}
    rows = unit_rows.Csr(**given, d=4)
    given[name][-1] = value
    total = np.zeros(5, np.int64)
    unit_rows.add(total, rows, unit_rows.scales(rows), np.ones(1, np.int32))
    assert total.tolist() == [2**15 - 1, 2**15 - 1, 2**15 - 1, 0, 0]


def test_what_own_copies_nobody_can_write_either_and_it_is_not_copied_again():
    made = own(np.arange(8), np.int32)
    assert not made.flags.writeable
    assert own(made) is made
    given = np.empty(0)
    own(given)
    assert given.flags.writeable  # the caller's stays the caller's


def test_what_its_maker_hands_over_is_not_copied():
    room = np.arange(8)
    handed = frozen(room[:5].reshape(5))
    assert own(handed) is handed
    with pytest.raises(ValueError, match="read-only"):
        room[0] = 1


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_codes_are_those_that_were_checked_whatever_becomes_of_the_arrays(dtype):
    given = [np.zeros(100, dtype) for _ in range(3)]
    columns = codes.Columns(given, [4, 4, 4])
    for column in given:
        column[:] = 255
    assert codes.margins(columns, np.ones(12, np.int32)).tolist() == [3] * 100
    assert codes.counts(columns, np.zeros(100, np.uint8), 1)[:, 0].tolist() == [100, 0, 0, 0] * 3


def test_packed_losses_are_those_that_were_checked_whatever_becomes_of_the_array():
    given = np.array([[0b101]], np.uint64)
    losses = weights.packed(given, 3)
    given[0] = 2**64 - 1
    state = weights.Weights(3, 1)
    state.add(losses)
    assert state.totals().tolist() == [1, 0, 1]


def test_packed_rows_are_those_that_were_checked_whatever_becomes_of_the_array():
    given = np.array([[0b101]], np.uint64)
    rows = unit_rows.Packed(given, 64)
    scale, total = unit_rows.scales(rows), np.zeros(65, np.int64)
    given[0] = 2**64 - 1
    unit_rows.add(total, rows, scale, np.ones(1, np.int32))
    assert 0 < np.square(total).sum() <= 4**17
    assert np.count_nonzero(total) == 2
    assert unit_rows.margins(rows, scale, np.ones(65, np.float32))[0] == 1


@pytest.mark.parametrize("make", [BitMatrix.from_rows, BitMatrix.from_columns], ids=["rows", "columns"])
def test_a_table_of_bits_is_what_was_checked_whatever_becomes_of_the_array(make):
    given = np.eye(5, dtype=np.uint64)[:, :1].copy()
    table = make(given, 5)
    before = table.toarray()
    given[:] = 2**64 - 1
    assert np.array_equal(table.toarray(), before)
    for table_ in (table, pickle.loads(pickle.dumps(table)), BitMatrix(np.eye(5)), table[1:3], table[[0, 2]]):
        for words in (table_.rows, table_.columns):
            assert own(words) is words  # what it hands out nobody can change, and kernels do not copy it
