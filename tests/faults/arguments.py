"""Calls of kernels with each argument in turn replaced by what is none: `python tests/faults/arguments.py`.

The trials of `fuzz_kernels.py` give the calls. A kernel takes another argument, or refuses it by a ValueError, a
TypeError or, for memory that it is to write to, a BufferError. Anything else is printed, and makes the script end
with 1.
"""

import argparse
import contextlib
import random
import sys
from fractions import Fraction

import numpy as np
import twins_packed
import twins_reals
from fuzz import Fuzz, Stop

from dpfast.kernels import (
    bins,
    bits,
    capped_scaling,
    cells,
    codes,
    cpu,
    descent,
    grid,
    integer_matrix,
    levels,
    logistic,
    measure,
    reals,
    resampling,
    residuals,
    sparse_vector,
    spread,
    texts,
    trees,
    unit_rows,
)
from dpfast.kernels import multiplicative_weights as weights
from dpfast.kernels import rng as generators


def plain(fuzz):
    """Calls of the kernels that have no twin in the trials."""

    def call(function, *args):
        while True:
            try:
                return fuzz.call(function, *args)
            except Stop:  # it took another argument, and its state is of no concern here
                continue

    rng, column = np.random.default_rng(0), np.array([0, 1, 2], np.uint8)
    scores, limits = np.zeros(3, np.float32), np.full(3, 9, np.int32)
    call(bits.words, 65)
    call(capped_scaling.factor, np.ones(3), 1.0)
    columns = call(codes.Columns, (column,), np.array([3]))
    call(columns.part, 0, 2)
    call(codes.matches, columns, [[0, 0, 1]])
    stored, starts, values = np.array([0, 2, 4], np.int8), np.array([0, 9]), np.array([1, 2], np.uint16)
    call(cells.compact, call(cells.of_numbers, np.ones(3)))
    call(cells.expand, stored)
    call(cells.survey, stored, np.zeros(cells.DATES, np.uint8))
    call(cells.count, stored, starts, values, 3, values)
    call(cells.take, stored, starts, values, values, True)
    call(cpu.use, cpu.level())
    call(grid.unit_sum, np.zeros(3), 8)
    call(grid.of_columns, np.ones((3, 1)), np.array([0, 2, 3]))
    groups = call(descent.Groups, np.array([0, 0, 1]), np.array([True, False]))
    call(groups.move, np.ones((3, 1)), np.ones(2), 0.5, 0.5, np.zeros((3, 1)), np.zeros((3, 1)))
    call(groups.shrink, np.ones((3, 1)), np.ones(2), 0.8, 10.0)
    call(groups.times, np.ones(2), np.ones(1), np.ones(1), 1e-6, 2.0, 1.2, 3.0, 0.5, 32.0, 0.7, 1.0)
    matrix = call(integer_matrix.IntegerMatrix, np.array([0, 1]), np.array([2]), np.ones(1), 3)
    call(matrix.products, np.ones((3, 1)))
    call(matrix.sums, np.ones((1, 1), np.int64))
    table = np.zeros((3, 1), np.int32)
    call(residuals.sums, columns, table, np.zeros(3, np.uint8), limits, 1.0, np.zeros(1, np.float32))
    table, many = np.zeros((3, 2), np.int32), np.zeros(3, np.uint16)
    call(residuals.sums, columns, table, many, limits, 1.0, np.zeros(2, np.float32))
    call(levels.draw, np.zeros(3, np.int32), Fraction(1, 2), rng)
    call(logistic.two, scores[:, np.newaxis], np.zeros(3, np.uint8), limits, 1.0, 0.0, False)
    call(logistic.many, np.zeros((3, 3), np.float32), np.zeros(3, np.uint16), limits, 1.0, np.zeros(3, np.float32))
    table = call(measure.table, 0.5, 1 << 10)
    whole, signs = np.zeros(3, np.int32), np.ones(3, np.int8)
    call(measure.units, whole, table, [0])
    call(measure.weights, whole, signs, table, 0, 1)
    losses = call(weights.dense, np.zeros((3, 2)))
    call(losses.check)
    for verb in (reals.sum, reals.norm, reals.exp, reals.log, reals.expit):
        call(verb, np.ones(3))
    call(reals.dot, np.ones(3), np.ones(3))
    call(reals.halves, np.ones(3), 9.0, 1.0)
    call(reals.smooth, np.ones(3), 1.0)
    whole, rows, ends = call(spread.Grid, True, -5.0, 5.0), np.ones(3), np.arange(4.0)
    call(whole.snap, np.ones(3))
    call(whole.distinct, np.ones(3))
    call(whole.steps, 0.0, 1.0, 8)
    call(whole.refine, rows, ends, np.ones(3), ends, 1.0, 4.0, 1.0, 1.0)
    call(spread.distinct, np.ones(3))
    call(spread.clear, rows, 1.0, 2.0)
    call(spread.divide, rows, ends, 3.0, 8, 1.0)
    call(spread.quantiles, rows, ends, 3.0, np.ones(1), False)
    call(spread.parting, rows, ends, 3.0, 0.1, np.ones(1))
    call(reals.products, np.ones((2, 3)), np.ones(3))
    call(reals.products_csr, np.array([0, 1]), np.array([0]), np.ones(1), np.ones(3))
    call(resampling.draw, np.ones(3), 2, rng)
    call(resampling.resample, np.ones(3), 2, rng)
    call(generators.Words, rng)
    call(generators.Watch, np.random.Philox(0))
    call(generators.AESWatch, np.random.Philox(0))
    tests = call(sparse_vector.Tests, 5, Fraction(1))
    call(tests.run, [0, 1], [3, 3], rng)
    marks = call(texts.pack, ["NA"])
    call(texts.kinds, np.frombuffer(b"12NA", np.uint8), np.array([0, 2, 4]), np.ones(2, np.bool_), marks)
    call(bins.count_below, np.zeros(9), np.arange(4.0), 5, np.uint8)
    call(trees.leaves, [column], np.zeros((2, 1), np.uint32), np.zeros((2, 1), np.uint8))
    call(trees.thresholds, [column], np.zeros((2, 1), np.uint32), np.full((2, 1), 0.5))
    rows = call(unit_rows.Dense, np.ones((3, 2)))
    scale = call(unit_rows.scales, rows)
    call(unit_rows.apart, rows, scale, np.zeros(3, np.int32))


TRIALS = (*twins_packed.TRIALS, *twins_reals.TRIALS, plain)
OTHERS = {
    "2**80": 2**80, "-2**80": -(2**80), "2**63": 2**63, "-1": -1, "None": None, "text": "x", "bytes": b"x", "list": [],
    "dict": {}, "object": object(), "NaN": float("nan"), "infinity": float("inf"), "complex": 1j, "type": int,
    "objects": np.array([2**80, None], object), "objects, of two dimensions": np.array([["x", None]], object),
    "integers": [[2**80]], "a number": np.float64(0.5), "no dimension": np.array(3), "texts": np.array(["x"]),
    "times": np.zeros(2, "M8[s]"), "nothing": np.empty((0, 0)), "records": np.zeros(2, [("a", "i8")]),
}  # fmt: skip


class Other(Fuzz):
    """A source of arguments that fit, whose calls are first made with others.

    Parameters
    ----------
    random : random.Random
    tried : set
        The calls that were made: the names of a kernel, of an argument, and of what it was.
    faults : dict
        The other errors, by these names.
    """

    def __init__(self, random, tried, faults):
        super().__init__(random)
        self._tried, self._faults = tried, faults

    def chance(self, share):
        return False if share == 0.15 else super().chance(share)  # no array is in another dress

    def call(self, function, *args, broken=0.3, filled=None, **options):
        name = getattr(function, "__qualname__", str(function))
        given = {**dict(enumerate(args)), **options}
        for place in given:
            for other, value in OTHERS.items():
                if (name, place, other) in self._tried:
                    continue
                self._tried.add((name, place, other))
                changed = given | {place: value}
                self.calls += 1
                try:
                    with np.errstate(all="ignore"):
                        function(*(changed[k] for k in range(len(args))), **{key: changed[key] for key in options})
                except (ValueError, TypeError, BufferError):
                    self.refused += 1
                    continue
                except Exception as error:
                    self._faults[name, place, other] = f"{type(error).__name__}: {error}"
                    continue
                raise Stop  # what it took may have changed its state
        return super().call(function, *args, broken=0, filled=filled, **options)


def run(trials, rounds, seed):
    """The calls made and the faults found in so many rounds of each trial."""
    tried, faults, calls = set(), {}, 0
    for trial in trials:
        for k in range(rounds):
            fuzz = Other(random.Random(seed + k), tried, faults)
            with contextlib.suppress(Stop):
                trial(fuzz)
            calls += fuzz.calls
    return tried, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    tried, faults = run(TRIALS, asked.rounds, asked.seed)
    for at, fault in faults.items():
        print(*at, "->", fault)
    kernels = {name for name, *_ in tried}
    print(f"{len(tried):,} calls of {len(kernels)} kernels, {len(faults)} other errors")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
