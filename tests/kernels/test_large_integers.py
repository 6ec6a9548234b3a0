"""Integers that no C type holds are refused by a ValueError, like every other value that a kernel cannot take."""

import re
from pathlib import Path

import numpy as np
import pytest

from dpfast import kernels
from dpfast.kernels import bits, classes, codes, cover, grid, measure

WORDS = np.zeros((2, 1), np.uint64)
CALLS = {
    "unpack": lambda large: bits.unpack(WORDS, large),
    "transpose": lambda large: bits.transpose(WORDS, large),
    "column": lambda large: bits.column(WORDS, 3, large),
    "pack_sparse": lambda large: bits.pack_sparse(np.zeros(1, np.int32), np.zeros(0, np.int32), large),
    "positional_popcount": lambda large: bits.positional_popcount(WORDS, large),
    "memo": lambda large: classes.memo(large),
    "restrict": lambda large: classes.restrict(WORDS, WORDS[:, 0], large, True),
    "count": lambda large: cover.count(WORDS, large, WORDS),
    "to_grid": lambda large: grid.to_grid(np.zeros(3), large),
    "table": lambda large: measure.table(0.5, large),
    "match": lambda large: codes.match(codes.Columns((np.zeros(2, np.uint8),), np.array([1])), large, 0, 1),
}


@pytest.mark.parametrize("large", [2**63, 2**200, -(2**63) - 1])
@pytest.mark.parametrize("name", CALLS)
def test_an_integer_beyond_64_bits_is_a_value_error(name, large):
    with pytest.raises((ValueError, TypeError)):
        CALLS[name](large)


def test_every_kernel_with_integers_of_c_refuses_large_ones():
    function = re.compile(r"((?:^@.*\n)*)^def ([a-z]\w*)\(([^)]*)\):", re.M)
    integer = re.compile(r"\b(?:Py_ssize_t|size_t|unsigned|u?int(?:32|64)_t|int) \w+")
    texts = {path.stem: path.read_text() for path in Path(kernels.__file__).parent.glob("*.pyx")}
    found = [(file, *each[:2]) for file in texts for each in function.findall(texts[file]) if integer.search(each[2])]
    assert len(found) > 8
    assert [(file, name) for file, before, name in found if "@of_64_bits" not in before] == []
