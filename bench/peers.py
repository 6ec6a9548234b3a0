"""What users would pick today; each returns a function that does one piece of work."""

import json
import subprocess
import tempfile
import weakref
from functools import cache, partial
from pathlib import Path

import numpy as np
import peer_environment
import peer_worker
import pytest


class Worker:
    """A task of `peer_worker`, run in an environment of the peers: a function of JSON values.

    A call costs about a tenth of a millisecond more than the task.
    """

    def __init__(self, task, *, kind="", **arrays):
        python = peer_environment.python(kind)
        if python is None:
            pytest.skip("python bench/peer_environment.py has not made the environment that this peer needs")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "input.npz")
            peer_worker.store(file, **arrays)
            command = [python, peer_worker.__file__, task, file]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.close = weakref.finalize(self, self._process.communicate)
            self._reply()

    def __call__(self, **arguments):
        print(json.dumps(arguments), file=self._process.stdin, flush=True)
        return self._reply()

    def _reply(self):
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("a peer failed in its own environment; what it said is above")
        return json.loads(line)


def versions_elsewhere():
    """Of what runs in the peers' own environment, if it is there."""
    found = {}
    for kind in peer_environment.PINS:
        if peer_environment.python(kind) is not None:
            worker = Worker("versions", kind=kind)
            found |= {f"{name} (in its own environment)": number for name, number in worker().items()}
            worker.close()
    return found


def opendp():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    return dp


def noisy_max(scores, exponent):
    """One exact draw by OpenDP (permute-and-flip: its make_noisy_max for pure privacy)."""
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i32")), dp.linf_distance(T="i32")
    mechanism = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=1 / exponent)
    return lambda: mechanism(scores)


def exponential(scores, exponent):
    """One draw by diffprivlib in doubles, its cumulative law included."""
    return Worker("exponential", scores=scores, exponent=exponent)


def greedy_rule_list(X, y, depth):
    """The features of as many rules by imodels."""
    return partial(Worker("greedy_rule_list", X=X, y=y), depth=depth)


def discrete_laplace(size, scale):
    """`size` noisy zeros by OpenDP, exact."""
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    mechanism = dp.m.make_laplace(*space, scale=float(scale))
    zeros = np.zeros(size, np.int64)
    return lambda: mechanism(zeros)


def discrete_gaussian(size, sigma):
    """`size` noisy zeros by OpenDP, exact."""
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    mechanism = dp.m.make_gaussian(*space, scale=float(sigma))
    zeros = np.zeros(size, np.int64)
    return lambda: mechanism(zeros)


def softmax_draw(scores, exponent, rng):
    """One draw in doubles by numpy, not exact."""

    def draw():
        weights = exponent * scores
        weights -= weights.max()
        cumulative = np.cumsum(np.exp(weights))
        return np.searchsorted(cumulative, rng.random() * cumulative[-1])

    return draw


def multinomial(scores, exponent, m, rng):
    """m draws by numpy from probabilities computed beforehand, not exact."""
    weights = np.exp(exponent * (scores - scores.max()))
    probabilities = weights / weights.sum()
    return lambda: rng.multinomial(m, probabilities)


def sorted_draws(scores, exponent, m, rng):
    """m draws by numpy's cumulative sum of weights computed beforehand and a search for sorted uniforms, not exact."""
    weights = np.exp(exponent * (scores - scores.max()))
    cumulative = np.empty_like(weights)

    def draw():
        np.cumsum(weights, out=cumulative)
        return np.searchsorted(cumulative, np.sort(rng.random(m)) * cumulative[-1])

    return draw


def aes_uniforms(size):
    """`size` uniform doubles by randomgen's AES in counter mode, cryptographic."""
    from randomgen import AESCounter

    rng = np.random.Generator(AESCounter())
    return lambda: rng.random(size)


def count_columns(X, y):
    """Positives and negatives of each feature by numpy, from columns packed beforehand."""
    n = len(y) + -len(y) % 64
    columns, positive = np.zeros((X.shape[1], n // 8), np.uint8), np.zeros(n // 8, np.uint8)
    columns[:, : (len(y) + 7) // 8], positive[: (len(y) + 7) // 8] = np.packbits(X.T, axis=1), np.packbits(y)
    columns, positive = columns.view(np.uint64), positive.view(np.uint64)

    def count():
        ones = np.bitwise_count(columns & positive).sum(axis=1, dtype=np.int64)
        return np.stack([np.bitwise_count(columns).sum(axis=1, dtype=np.int64) - ones, ones])

    return count


def sum_rows(X, y):
    """The same by sums of bytes."""
    positive = y == 1
    return lambda: np.stack([X[~positive].sum(axis=0, dtype=np.int64), X[positive].sum(axis=0, dtype=np.int64)])


def multiplicative_update(d):
    """One update of d float weights by one row of signs, and their sum, in one pass by numba."""
    numba = pytest.importorskip("numba")

    @numba.njit
    def update(weights, x, up, down):
        total = 0.0
        for j in range(weights.size):
            weights[j] *= up if x[j] else down
            total += weights[j]
        return total

    weights, x = np.ones(d), np.random.default_rng(0).random(d) < 0.5
    update(np.ones(1), x[:1], 1.0, 1.0)  # compiles
    return lambda: update(weights, x, 1.001, 0.999)


def experts_round(losses, eta, rng):
    """One round of multiplicative weights by numpy in doubles, not exact: update, cumulative sum, one draw."""
    total = np.zeros(len(losses))

    def play():
        np.add(total, losses, out=total)
        cumulative = np.cumsum(np.exp(-eta * (total - total.min())))
        return np.searchsorted(cumulative, rng.random() * cumulative[-1])

    return play


def exp_update(d):
    """The same by numpy's exp, features +-1 and a sum after."""
    weights, x = np.ones(d), 2.0 * (np.random.default_rng(0).random(d) < 0.5) - 1

    def update():
        np.multiply(weights, np.exp(0.001 * x), out=weights)
        return weights.sum()

    return update


def where_update(d):
    """The same by numpy's where."""
    weights, x = np.ones(d), np.random.default_rng(0).random(d) < 0.5

    def update():
        np.multiply(weights, np.where(x, 1.001, 0.999), out=weights)
        return weights.sum()

    return update


def littlestone_dimension(table):
    """LDim of distinct rows in Python: integers for sets, a cache, and the bound by the logarithm of the size."""
    columns = [int.from_bytes(np.packbits(column, bitorder="little").tobytes(), "little") for column in table.T]

    def dimension():
        @cache
        def at_least(members, k):
            size = members.bit_count()
            if size >> k == 0 or k < 2:
                return size >> k > 0
            halves = [(members & column, members & ~column) for column in columns]
            halves = [sorted(pair, key=int.bit_count) for pair in halves]
            halves = [pair for pair in halves if pair[0].bit_count() >> (k - 1)]
            halves.sort(key=lambda pair: -pair[0].bit_count())
            return any(at_least(small, k - 1) and at_least(large, k - 1) for small, large in halves)

        k = 0
        while at_least((1 << len(table)) - 1, k + 1):
            k += 1
        return k

    return dimension


def gaussian_projection(X, components):
    """scikit-learn's random projection of X, fitted beforehand, in floats of the size of X's."""
    from sklearn.random_projection import GaussianRandomProjection

    fitted = GaussianRandomProjection(components, random_state=0).fit(X)
    fitted.components_ = fitted.components_.astype(X.dtype)
    return lambda: fitted.transform(X)


def count_mistakes(rows, members, threshold):
    """How many members w have g rows with <w, z> below the threshold, for each g, by BLAS in single precision."""
    rows, members = rows.T.astype(np.float32), members.astype(np.float32)

    def count():
        wrong = np.concatenate([(part @ rows < threshold).sum(axis=1) for part in np.array_split(members, 16)])
        return np.bincount(wrong, minlength=rows.shape[1] + 1)

    return count


def capped_scaling_sort(log_weights, density):
    """Weights min(1, c * exp(log_weights)) of sum density * n, by numpy: sort, then sums from the small end."""

    def project():
        mass = density * len(log_weights)
        weights = np.exp(np.minimum(log_weights, 0))
        if weights.sum() >= mass:
            return weights
        falling = np.sort(log_weights)[::-1]
        most = int(mass)  # no more than these are capped
        unit = falling[most]
        tails = np.cumsum(np.exp(np.minimum(falling - unit, 600))[::-1])[::-1]
        kept = np.arange(most + 1)
        free = (mass - kept) * np.exp(np.minimum(falling[: most + 1] - unit, 600)) <= tails[: most + 1]
        k = np.argmax(free)
        return np.minimum(1, (mass - k) / tails[k] * np.exp(np.minimum(log_weights - unit, 600)))

    return project
