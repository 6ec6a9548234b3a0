"""What every fuzzer of kernels asks for: arguments that fit, in any dress, and such as do not."""

import copy
from fractions import Fraction

import numpy as np

from dpfast.kernels import cpu

SIZES = (0, 1, 2, 3, 7, 63, 64, 65, 130)
REFUSALS = (ValueError, TypeError, OverflowError, BufferError, MemoryError)
_NUMBERS = (-(2**63), -1, 0, 1, 65, 2**62, 2**63 - 1, 2**63, 2**64, 10**30, 0.5, -1.5, float("nan"), None, "x")
_REALS = (0, -1, 1e-300, 1e300, 2**52, 2**53, float("nan"), float("inf"), Fraction(1, 3), Fraction(10**40), None, "x")
_BEST = cpu.LEVELS.index(cpu.best())


class Stop(Exception):
    """A call was not given what fits; there is nothing to compare."""


class Fuzz:
    """A source of arguments, and of calls with some of them broken.

    Parameters
    ----------
    random : random.Random
        All choices come from it: Hypothesis has one that it can shrink.
    """

    def __init__(self, random):
        self.random, self.calls, self.refused = random, 0, 0
        self.rng = np.random.default_rng(random.getrandbits(60))
        cpu.use(cpu.LEVELS[random.randint(0, _BEST)])

    # ---- choices -----------------------------------------------------------------------------------------------------

    def chance(self, share):
        return self.random.random() < share

    def one(self, *choices):
        return self.random.choice(choices)

    def size(self, least=0):
        return self.random.choice([size for size in SIZES if size >= least])

    def generator(self):
        return np.random.default_rng(self.random.getrandbits(60))

    # ---- arrays ------------------------------------------------------------------------------------------------------

    def bits(self, n, d):
        """Booleans of some density."""
        return self.rng.random((n, d)) < self.one(0.0, 0.05, 0.5, 0.95, 1.0)

    def signs(self, n):
        return self.rng.choice(np.array([-1, 1], np.int8), n)

    def index(self, n):
        """Rows in any order and number, or None for all."""
        return None if n == 0 or self.chance(0.4) else self.rng.integers(0, n, self.size())

    def csr(self, n, d):
        """indptr, indices and the places that are stored."""
        held = self.bits(n, d)
        indptr = np.r_[0, np.cumsum(held.sum(axis=1))].astype(self.one(np.int32, np.int64))
        return indptr, np.nonzero(held)[1].astype(self.one(np.int32, np.int64)), held

    def reals(self, *shape):
        """Floats of one type and of sizes that differ by rows."""
        x = self.rng.normal(size=shape) * self.rng.choice(
            [1e-30, 0.01, 1, 30, 1e15], (shape[0],) + (1,) * (len(shape) - 1)
        )
        return x.astype(self.one(np.float32, np.float64))

    # ---- calls -------------------------------------------------------------------------------------------------------

    def call(self, function, *args, broken=0.3, filled=None, **options):
        """The result, if all arguments fit; Stop if one was broken, or a dress refused that a kernel need not take.

        A refused call must draw nothing. `filled` is the array that is written to, if one is.
        """
        args = [
            self._dressed(value)
            if isinstance(value, np.ndarray) and value is not filled and self.chance(0.15)
            else value
            for value in args
        ]
        dressed, fits = any(isinstance(value, _Dressed) for value in args), True
        args = [value.array if isinstance(value, _Dressed) else value for value in args]
        if args and self.chance(broken):
            place = self.random.randrange(len(args))
            args[place], fits = self._broken(args[place])
        rng = next((value for value in args if isinstance(value, np.random.Generator)), None)
        before = copy.deepcopy(rng.bit_generator.state) if rng is not None and not fits else None
        self.calls += 1
        try:
            with np.errstate(all="ignore"):  # of arrays that are broken
                result = function(*args, **options)
        except REFUSALS:
            self.refused += 1
            if fits and not dressed:
                raise
            if before is not None and rng.bit_generator.state != before:
                raise AssertionError(f"{function} was refused and drew") from None
            raise Stop from None
        if not fits:
            raise Stop
        return result

    def _dressed(self, array):
        """The same entries in other memory."""
        kind = self.random.randrange(5)
        if kind == 0:
            array = array.copy()
            array.setflags(write=False)
        elif kind == 1 and array.ndim:
            array = np.repeat(array, 2, axis=-1)[..., ::2]
        elif kind == 2:
            array = np.asfortranarray(array)
        elif kind == 3:
            array = array.astype(array.dtype.newbyteorder())
        elif array.nbytes:
            moved = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
            moved[...] = array
            array = moved
        return _Dressed(array)

    def _broken(self, value):
        """Another argument in the place of one, and whether that fits after all."""
        if isinstance(value, np.ndarray):
            return self._broken_array(value), False
        if value is None or isinstance(value, bool | str):
            return value, True
        if isinstance(value, int | np.integer):
            return self.random.choice(_NUMBERS), False
        if isinstance(value, float | Fraction):
            return self.random.choice(_REALS), False
        return value, True

    def _broken_array(self, array):
        kind = self.random.randrange(6)
        if kind == 0:
            other = self.one(np.uint8, np.int8, np.int32, np.int64, np.uint64, np.float32, np.float64)
            with np.errstate(all="ignore"):  # whatever numbers become
                return array.astype(other)
        if kind == 1:
            return array[..., :-1] if array.ndim else array.reshape(1)
        if kind == 2:
            return np.concatenate([array, array[:1]]) if array.ndim and len(array) else array[np.newaxis]
        if kind == 3:
            return array.ravel() if array.ndim > 1 else array[np.newaxis]
        array = array.copy()
        for _ in range(self.random.randint(1, 3) if array.size else 0):
            array.flat[self.random.randrange(array.size)] = self._extreme(array.dtype)
        return array

    def _extreme(self, dtype):
        if dtype.kind == "f":
            return self.one(np.nan, np.inf, -np.inf, 3e38, 5e-324, -0.0)
        if dtype.kind == "b":
            return self.chance(0.5)
        limits = np.iinfo(dtype)
        number = self.one(limits.min, limits.max, limits.min // 2, limits.max // 2 + 1, 2, -1, 300, 10**6)
        return min(max(number, limits.min), limits.max)


class _Dressed:
    def __init__(self, array):
        self.array = array
