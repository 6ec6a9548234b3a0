# ruff: noqa: E501
"""Mutants of mechanisms and of their randomness."""

from mutant import Mutant

_ABOVE, _SPARSE = "mechanisms/test_above_threshold.py", "mechanisms/test_sparse_sample.py"


def _m(name, file, old, new, tests):
    return Mutant(name, f"dpfast/{file}.py", old, new, tests)


MUTANTS = [
    _m("above threshold: any queries, threshold scale halved", "mechanisms/above_threshold", "(Fraction(13, 5), Fraction(13, 4))",
       "(Fraction(13, 10), Fraction(13, 4))", _ABOVE),
    _m("above threshold: any queries, test scale halved", "mechanisms/above_threshold", "(Fraction(13, 5), Fraction(13, 4))",
       "(Fraction(13, 5), Fraction(13, 8))", _ABOVE),
    _m("above threshold: monotone 2, 2 is 1, 1", "mechanisms/above_threshold", "True: (2, 2)", "True: (1, 1)", _ABOVE),
    _m("above threshold: running 1, 1 is 1/2, 1", "mechanisms/above_threshold", '"running": (1, 1)',
       '"running": (Fraction(1, 2), 1)', _ABOVE),
    _m("above threshold: reset keeps its noise", "mechanisms/above_threshold",
       "            drawn = draw(self._threshold_scale, 1, self._rng)\n",
       '            drawn = vars(self).setdefault("_z", draw(self._threshold_scale, 1, self._rng))\n', _ABOVE),
    _m("above threshold: tests on after it fired", "mechanisms/above_threshold",
       "        if self._fired:\n            raise RuntimeError", "        if False:\n            raise RuntimeError", _ABOVE),
    _m("repeated: a positive more than paid", "mechanisms/above_threshold", "if self._fired >= self._positives:",
       "if self._fired > self._positives:", _ABOVE),
    _m("repeated: claim for a positive fewer", "mechanisms/above_threshold",
       "return repeated_epsilon(self._exact, self._positives, delta), delta",
       "return repeated_epsilon(self._exact, max(1, self._positives - 1), delta), delta", _ABOVE),
    _m("exponential: seeded where it must not be", "mechanisms/exponential", "random.generator(rng)",
       "random.generator(0 if rng is None else rng)", "mechanisms/test_unseeded.py"),
    _m("laplace: one draw for all counts", "mechanisms/draws", "noise.discrete_laplace(scale, size, rng)",
       "np.repeat(noise.discrete_laplace(scale, 1, rng), size)", "mechanisms/test_laplace.py"),
    _m("noise on integers: seeded where it must not be", "mechanisms/draws", "values.astype(np.int64, copy=False), random.generator(rng)",
       "values.astype(np.int64, copy=False), random.generator(0 if rng is None else rng)", "mechanisms/test_unseeded.py"),
    _m("gaussian: one draw for all values", "mechanisms/draws", "noise.discrete_gaussian(sigma, size, rng)",
       "np.repeat(noise.discrete_gaussian(sigma, 1, rng), size)", "mechanisms/test_gaussian.py"),
    _m("sparse sample: lists of items not cut", "mechanisms/sparse_sample", "islice(dict.fromkeys(map(_plain, each)), max_length)",
       "dict.fromkeys(map(_plain, each))", _SPARSE),
    _m("sparse sample: lists of arrays not cut", "mechanisms/sparse_sample", "array[first[:max_length]]", "array[first]", _SPARSE),
    _m("sparse sample: an item counts twice in a list", "mechanisms/sparse_sample",
       "first = np.sort(np.unique(array, return_index=True)[1])", "first = np.arange(len(array))", _SPARSE),
    _m("sparse sample: seeded where it must not be", "mechanisms/sparse_sample", "random.generator(rng)",
       "random.generator(0 if rng is None else rng)", "mechanisms/test_unseeded.py"),
    _m("frequent values: factor 2 of replace dropped", "mechanisms/frequent",
       'return (2 if neighbors == "replace" else 1) / Fraction(epsilon)', "return 1 / Fraction(epsilon)",
       "mechanisms/test_frequent.py"),
    _m("frequent values: a threshold below", "mechanisms/frequent", "return 1 + max(1, math.ceil(", "return max(1, math.ceil(",
       "mechanisms/test_frequent.py"),
    _m("frequent values: empty cells tell", "mechanisms/frequent", "if count >= threshold}", "if count >= threshold - 1}",
       "mechanisms/test_frequent.py"),
    _m("quantiles: range of replace 2 is 1", "mechanisms/quantiles",
       "level_pure, level_rho = max(2, touched * width), max(Fraction(4, 8), touched * width**2 / 8)",
       "level_pure, level_rho = max(1, touched * width), max(Fraction(1, 8), touched * width**2 / 8)",
       "mechanisms/test_quantiles.py"),
    _m("quantiles: two intervals paid as one", "mechanisms/quantiles", "touched = min(2, len(draws))", "touched = 1",
       "mechanisms/test_quantiles.py"),
    _m("cover of any kind: an element stays", "mechanisms/cover", "        left &= ~covers[:, chosen]\n", "",
       "mechanisms/test_cover.py"),
    _m("random: a fixed key", "random", 'return int.from_bytes(os.urandom(self._key_bytes), "little")', "return 12345", "test_random.py"),
    _m("random: a short key", "random", "os.urandom(self._key_bytes)", "os.urandom(4)", "test_random.py"),
    _m("random: no new key after a fork", "random",
       '        own.__set__(self, new.state | {"bit_generator": own.__get__(self)["bit_generator"]})\n', "", "test_random.py"),
    _m("draws: a fork goes on", "mechanisms/draws", "        if os.getpid() != self._process:\n", "        if False:\n",
       "mechanisms/test_exclusive.py learners/experts learners/winnow"),
    _m("draws: two threads at once", "mechanisms/draws", "        if not self._lock.acquire(blocking=False):\n",
       "        self._lock.acquire(blocking=False)\n        if False:\n", "mechanisms/test_exclusive.py"),
    _m("random: seeded runs look private", "random", "return not isinstance(rng.bit_generator, SystemKeyed)", "return False",
       "test_random.py learners/lists/test_decision_list.py"),
    _m("figures: factor 2 of moved cells dropped", "metrics/figure", "moved=2", "moved=1", "metrics"),
]  # fmt: skip
