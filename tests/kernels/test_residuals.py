"""Sums of residuals by code in one call are those of the three kernels that it goes through."""

import numpy as np
import pytest

from dpfast.kernels import codes, logistic, residuals

SIZES = [3, 300, 7, 1, 256]


def drawn(rng, n, k):
    """Columns, a table, labels, limits and constants; k is 1 for two classes."""
    arrays = [rng.integers(0, size, n).astype(np.uint16 if size > 256 else np.uint8) for size in SIZES]
    columns = codes.Columns(arrays, SIZES)
    labels = rng.integers(0, max(2, k), n).astype(np.uint8 if k == 1 else np.uint16)
    table = rng.integers(-(2**20), 2**20, (sum(SIZES), k)).astype(np.int32)
    return columns, table, labels, rng.integers(0, 1 << 16, n).astype(np.int32), rng.normal(size=k).astype(np.float32)


@pytest.mark.parametrize("k", [1, 2, 3, 9])
@pytest.mark.parametrize("n", [0, 1, 64, 5000])
def test_sums_of_residuals_are_those_of_each_kernel_by_itself(n, k, rng, each_isa):
    columns, table, labels, limits, constants = drawn(rng, n, k)
    scores = codes.margins(columns, table)
    if k == 1:
        of_rows = logistic.two(scores, labels, limits, 1e-6, float(constants[0]))
    else:
        of_rows = logistic.many(scores, labels, limits, 1e-6, constants)
    wanted = codes.sums(columns, of_rows)
    for found in each_isa(lambda: residuals.sums(columns, table, labels, limits, 1e-6, constants)):
        np.testing.assert_array_equal(found, wanted)
    start, stop = n // 3, n // 2
    part = residuals.sums(columns.part(start, stop), table, labels[start:stop], limits[start:stop], 1e-6, constants)
    np.testing.assert_array_equal(part, codes.sums(columns.part(start, stop), of_rows[start:stop].copy()))


@pytest.mark.parametrize("k", [1, 3])
def test_arguments_that_do_not_fit_are_refused(k, rng):
    columns, table, labels, limits, constants = drawn(rng, 9, k)
    given = {"table": table, "labels": labels, "limits": limits, "step": 1e-6, "constants": constants}

    def call(**other):
        return residuals.sums(columns, **given | other)

    with pytest.raises(ValueError, match="table must have shape"):
        call(table=table[1:])
    with pytest.raises(ValueError, match="fit into 32 bits"):
        call(table=np.full_like(table, 2**30))
    with pytest.raises(ValueError, match="labels and limits must have length 9"):
        call(labels=labels[1:])
    with pytest.raises(ValueError, match="labels and limits must have length 9"):
        call(limits=limits[1:])
    with pytest.raises(ValueError, match=r"labels must lie in \[0, "):
        call(labels=np.full_like(labels, max(2, k)))
    for wrong in (-1, 2**24 + 1):
        with pytest.raises(ValueError, match="limits must lie within 0 and 2"):
            call(limits=np.full_like(limits, wrong))
    for other in ({"step": np.inf}, {"constants": np.full_like(constants, np.nan)}):
        with pytest.raises(ValueError, match="step and constants must be finite"):
            call(**other)
