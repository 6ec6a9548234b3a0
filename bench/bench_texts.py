"""What distinct texts are by their form, beside the functions of Arrow that told it."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dpfast.kernels import texts
from dpfast.tables.cells import MARKS

GROUP = "kinds of 1e5 texts: words, numbers and days"


def drawn(n=100_000):
    rng = np.random.default_rng(0)
    made = [f"word {k}" if k % 3 else f"{k / 7:.3f}" for k in range(n)]
    for k in rng.choice(n, n // 4, replace=False):
        made[k] = f"20{k % 100:02}-{1 + k % 12:02}-{1 + k % 28:02}"
    return pa.array(made, pa.large_string())


def buffers(array):
    _, ends, text = array.buffers()
    return np.frombuffer(text, np.uint8), np.frombuffer(ends, np.int64)


def by_arrow(array):
    """The texts that are missing, numbers and days, by one pass of Arrow for each."""
    array = pc.utf8_trim_whitespace(array)
    missing = pc.is_in(array, value_set=pa.array(MARKS, pa.large_string()))
    numbers = pc.match_substring_regex(array, r"^[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|inf)$")
    days = pc.match_substring_regex(array, r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].*)?$")
    return [each.to_numpy(zero_copy_only=False) for each in (missing, numbers, days)]


@pytest.mark.benchmark(group=GROUP)
def test_dpfast_kinds(benchmark):
    array = drawn()
    given = (*buffers(array), None, texts.pack(MARKS))
    kind, _, _ = benchmark(texts.kinds, *given)
    for which, found in zip((texts.MISSING, texts.NUMBER, texts.DAY), by_arrow(array), strict=True):
        np.testing.assert_array_equal(kind == which, found)


@pytest.mark.benchmark(group=GROUP)
def test_arrow_patterns(benchmark):
    benchmark(by_arrow, drawn())
