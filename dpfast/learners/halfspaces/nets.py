"""The nets that a halfspace is drawn from, and the mistakes of their members on rows in one part or in several.

A part returns how many of its rows each member of some lines gets wrong; the release is drawn from the sums.
"""

import math
from dataclasses import dataclass, fields
from itertools import chain

import numpy as np

from dpfast.base.progress import progress_bar
from dpfast.kernels import levels, reals
from dpfast.kernels import signs as projection
from dpfast.kernels.net import Mistakes, Net, grid
from dpfast.mechanisms.draws import Question, ask
from dpfast.parts.blocks import map_blocks, slices, threads
from dpfast.tables.projection import dense_rows, project

_ROW_SECONDS, _MEMBER_SECONDS = 5e-9, 1.5e-9  # of a line: for each row, for each member; without AVX-512
_BLOCK = 1 << 21  # rows and members of lines to a piece of work: a hundredth of a second
_BATCH = 16  # pieces under way at once
_MOST_COLUMNS = 1 << 24  # coefficients are made from a key, so the file of a model does not hold as many numbers
_LEAST = 1e-300  # the length of a row of zeros, such that its cosine is 0
_TABLE = 1 << 22  # counts that are kept
_ASKED, _ASKED_ROWS = 1 << 18, 1 << 30  # members, and rows times lines, that parts are asked of at a time


@dataclass(frozen=True)
class _Shape:
    """The parameters of a `NetHalfspaceClassifier` that nets follow from."""

    margin: float
    n_components: int
    n_projections: int
    net_radius: float | str
    fit_intercept: bool


def net_radius(p):
    """Return the radius of the net."""
    return float(p.margin / 10 if p.net_radius == "auto" else p.net_radius)


class Nets:
    """Projections of rows of d features and an optional 1, each with a net; or one net for rows without projection."""

    def __init__(self, p, d):
        self._p = _Shape(**{each.name: getattr(p, each.name) for each in fields(_Shape)})
        if d > _MOST_COLUMNS:
            raise ValueError(f"a net reads at most 2**24 columns, got {d:,}")
        self._d, self._width, self._margin = d, d + p.fit_intercept, p.margin
        self.projected = self._width > p.n_components
        self._count = p.n_projections if self.projected else 1
        self._net = Net(min(p.n_components, self._width), net_radius(p))

    @property
    def size(self):
        """Return the number of members of all nets."""
        return self._count * self._net.size

    def check_time(self, n, most):
        """Refuse nets that would take longer than `most` seconds; None is a private number of rows, not looked at."""
        net, rows = self._net, "" if n is None else f" and {n:,} rows"
        seconds = self._count * net.lines * ((n or 0) * _ROW_SECONDS + 2 * net.side * _MEMBER_SECONDS) / threads()
        if seconds > most or self.size >= 2**53:
            raise ValueError(
                f"a net of {self.size:,} members{rows} would take about {seconds:,.0f} s, more than "
                f"max_seconds={most}: use fewer n_components than {net.m}, or a larger net_radius"
            )

    def __reduce__(self):
        return Nets, (self._p, self._d)

    def __eq__(self, other):
        return type(other) is Nets and (self._p, self._d) == (other._p, other._d)

    def __hash__(self):
        return hash(self._d)

    def scan(self, parts, n, key, verbose):
        """Return the mistakes of all members on n rows that `projectable` gives; `key` determines the matrices."""
        if parts.only is not None:
            return Scan(self._net, self.mistakes(parts.only, key), n, verbose)
        mistakes = [PartedMistakes(parts, self, k, key, n) for k in range(self._count)]
        step = max(1, min(_ASKED // (2 * self._net.side), _ASKED_ROWS // max(1, n)))
        return Scan(self._net, mistakes, n, verbose, step)

    def mistakes(self, piece, key):
        """Return the `Mistakes` of some rows, one for each net."""
        signs = (2 * piece.labels - 1).astype(np.int8)
        sides = np.split(self._rows(piece.rows, key), self._count, axis=1)
        return [Mistakes(self._net, grid(side, signs, self._net.grid_bits), self._margin / 10) for side in sides]

    @property
    def side(self):
        """Return half the number of members of a line."""
        return self._net.side

    def _rows(self, table, key):
        """Return A (x, 1) or A x for each row x, all projections side by side: float32, shape (n, k m)."""
        d = self._d
        if not self.projected:
            rows = np.ones((table.shape[0], self._width), np.float32)
            rows[:, :d] = dense_rows(table)
            return rows
        components = self._count * self._net.m
        x = project(table, components, key)
        if self._width > d:
            x += projection.project_csr(np.array([0, 1]), np.array([d]), None, d + 1, components, key)
        return x

    def signs(self, key):
        """Return the signs of the matrix, int64 (d, k m), what an intercept adds, float32 (k m,), and their scale.

        `_rows` gives the sum of the signs of a row's ones, as float32, times the scale, plus what the intercept adds.
        """
        components = self._count * self._net.m
        each = [np.arange(self._d + 1), np.arange(self._d), None, self._d + 1, components, key]
        rows = projection.project_csr(*each)
        scale = np.abs(rows[0, 0])
        last = np.zeros(components, np.float32)
        if self._width > self._d:
            last = projection.project_csr(np.array([0, 1]), np.array([self._d]), None, self._d + 1, components, key)[0]
        return np.sign(rows).astype(np.int64), last, scale

    @property
    def components(self):
        """Return the number of components of one projection."""
        return self._net.m

    def cosines(self, table, direction, key):
        """Return the cosine of each row of what `projectable` gives, in its components, and a `direction`: float64."""
        rows, direction = self._rows_beside(table, direction, key)
        return np.clip(reals.products(rows, direction) / np.maximum(_lengths(rows), _LEAST), -1.0, 1.0)

    def lengths(self, table, direction, key):
        """Return the length of each row in the components in which `direction` is not zero: float64."""
        return _lengths(self._rows_beside(table, direction, key)[0])

    def _rows_beside(self, table, direction, key):
        """Return the rows and a direction in the components of one projection, that of the direction."""
        rows, own = self._rows(table, key), np.flatnonzero(direction)
        first = own[0] // self._net.m * self._net.m
        of = slice(first, first + self._net.m)
        return np.ascontiguousarray(rows[:, of], np.float64), np.ascontiguousarray(direction[of])

    def direction(self, member):
        """Return a member as a unit vector in the components of its projection, zero in those of the others."""
        k, member = divmod(member, self._net.size)
        (p,) = self._net.vectors([member])
        direction = np.zeros((self._count, self._net.m))
        direction[k] = p / math.sqrt(int((p * p).sum()))
        return direction.ravel()

    def lifted(self, w, key):
        """Return the coefficients and the intercept of a halfspace of the components."""
        lifted = projection.lift(w, self._width, key) if self.projected else w
        return lifted[: self._d], float(lifted[self._d :].sum())


def _lengths(rows):
    return np.sqrt(reals.products(np.square(rows), np.ones(rows.shape[1])))


class Scan:
    """Numbers of members by how many rows they get wrong and by run of lines; private.

    Lines are counted in blocks, a batch of blocks at a time on threads; counts are stored for runs of batches. Members
    are numbered consecutively over all projections, each with its own mistakes on the same net.
    """

    def __init__(self, net, mistakes, n, verbose, step=None):
        self.net, self.mistakes = net, mistakes
        step = step or _BLOCK // (n + 2 * net.side)
        blocks = [(k, block) for k in range(len(mistakes)) for block in slices(net.lines, step)]
        batches = [blocks[i : i + _BATCH] for i in range(0, len(blocks), _BATCH)]
        length = -(-len(batches) // max(1, _TABLE // (n + 1)))
        self.runs = [list(chain(*batches[i : i + length])) for i in range(0, len(batches), length)]
        self.table = np.zeros((len(self.runs), n + 1), np.uint64)
        for i, batch in enumerate(_in_percent(batches, verbose)):
            for counts in map_blocks(self._count, batch):
                self.table[i // length] += counts
        self.counts = self.table.sum(axis=0)

    def _count(self, block):
        k, lines = block
        return self.mistakes[k].count(lines.start, lines.stop)

    def draw(self, exponent, rng):
        """Return the number of a member, drawn with weights exp(exponent * mistakes)."""
        return ask(
            lambda: Question("net", self._all(), "range", exponent),
            lambda: self.member(*levels.draw_counted(self.counts, exponent, rng)),
            rng,
        )

    def _all(self):
        """Return the mistakes of each member."""
        return np.concatenate([mistakes.scores(0, self.net.lines).ravel() for mistakes in self.mistakes])

    def member(self, level, rank):
        """Return the number of the member of this rank among those that get `level` rows wrong."""
        up_to = np.cumsum(self.table[:, level])
        run = int(np.searchsorted(up_to, rank, side="right"))
        rank -= int(up_to[run] - self.table[run, level])
        for k, lines in self.runs[run]:
            member, rank = self.mistakes[k].find(lines.start, lines.stop, level, rank)
            if member is not None:
                return k * self.net.size + member
        raise AssertionError("the counts and the search disagree")

    def wrong(self, member):
        """Return how many rows one member gets wrong."""
        k, member = divmod(member, self.net.size)
        line, place = divmod(member, 2 * self.net.side)
        return int(self.mistakes[k].scores(line, line + 1)[0, place])


def _in_percent(batches, verbose):
    """Yield the batches with a progress bar that counts percents: the number of batches depends on that of rows."""
    bar, ticks = iter(progress_bar(range(100), "net", verbose)), 0
    for k, batch in enumerate(batches, start=1):
        yield batch
        while ticks < 100 * k // len(batches):
            next(bar)
            ticks += 1
    next(bar, None)


class PartedMistakes:
    """Like `Mistakes` of net number k, for n rows in parts."""

    def __init__(self, parts, nets, k, key, n):
        self._parts, self._public, self._n, self._members = parts, (nets, k, key), n, 2 * nets.side

    def scores(self, start, stop):
        return self._parts.sum(_scores, *self._public, start, stop)

    def count(self, start, stop):
        return np.bincount(self.scores(start, stop).ravel(), minlength=self._n + 1).astype(np.uint64)

    def find(self, start, stop, level, rank):
        places = np.flatnonzero(self.scores(start, stop).ravel() == level)
        if rank < len(places):
            return start * self._members + int(places[rank]), rank
        return None, rank - len(places)


def _scores(piece, nets, k, key, start, stop):
    version, mistakes = piece.memo.get(_scores, (None, None))
    if version != key:
        mistakes = nets.mistakes(piece, key)
        piece.memo[_scores] = key, mistakes
    blocks = slices(stop - start, max(1, _BLOCK // (len(piece.labels) + 2 * nets.side)))
    return np.concatenate(map_blocks(lambda block: mistakes[k].scores(start + block.start, start + block.stop), blocks))
