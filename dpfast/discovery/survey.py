"""Private discovery of what a schema leaves open, by a survey of all columns that precedes the learner.

Every cell has a fixed code or is a word of its own (`dpfast.tables.cells`). The first look counts the rows of each
label, of each word, and of few cells of each column: missing, zero, a power of two of each sign, for whole numbers and
for others, or a year. If the rows of a column lie in one or two of these, narrowings follow: each divides these cells
into many parts and keeps the few that hold nearly all rows, so that numbers that are close together beside their size
are told apart. The last look divides what holds rows into many cells, and counts these, and the groups of words that
were not published.

All counts of a look are one Gaussian release (`dpfast.mechanisms.opening`). The looks after the first one share what is
paid beforehand for all columns and a pool of further ones: a look of q columns for which s are paid has sqrt(q / s)
times the noise of the first one. q, s, the cells and the end of the narrowings follow from earlier releases, and what
is paid together is planned. The theorem is that of `dpfast.accounting.curves.opening`, "Looks that follow".

Everything is computed from the counts and is defined for every outcome: at most about `bins` bins of numbers and of
dates, words that enough rows have, and labels. A column in which nothing is clear of the noise has bins at public
places, or groups of words. From there on the table is read as if the bins and words had been declared.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from dpfast.accounting import Cost
from dpfast.accounting.claims.noise import LARGEST_SCALE, changed_rows
from dpfast.accounting.curves.opening import opening_moves, opening_threshold, survey_noise
from dpfast.accounting.numbers import cache_results, decimal_above, exact, split
from dpfast.discovery.facts import ColumnFacts
from dpfast.discovery.spread import LIKELY, NARROWABLE, SURE
from dpfast.mechanisms.opening import OpeningHistogram
from dpfast.tables.columns import BINS, Category
from dpfast.tables.discovered import holds_words, refuse_many
from dpfast.tables.schema import Schema
from dpfast.tables.words import Counts

UNIT = 1 << 30  # grid steps per row, or fewer if the noise is too large for it
_LARGEST_STEPS = 1 << 35  # that one row adds to a count: those of 2^28 rows fit into 64 bits
WORDS_SHARE = Fraction(1, 10)  # of delta, for publishing words of columns, and as much for publishing labels
LOOKS = Fraction(1, 100), Fraction(1, 50), Fraction(1, 25)  # shares of either look in the bill
CELLS_SEEN = 0.03, 0.15  # the share of the rows of a cell that the first one, and the second, has to see
POOL = Fraction(1, 2)  # of a look, for narrowings; what they leave belongs to the last look
NARROWINGS = 5  # at most
NARROWED = 80.0  # deviations of the noise of a narrowing that all rows should have, and at most as much is paid for
_PAID = 64  # the pool is paid out in such fractions of a column, of which each column takes one at least
PAIR = Fraction(25, 4)  # times as much of epsilon and delta for the survey
LABEL_WEIGHTS = 1, 2, 4  # shares of labels, as multiples of that of a look
COMMON_LABEL, RARE_LABEL = 0.3, 0.02  # shares of the rows
RARER_LABEL = 0.005  # for which labels beside the smallest looks have more, if that finds it
ROWS_A_COLUMN = 30  # from which arrays are surveyed at epsilon 1, and those of FEW_COLUMNS from FEW_ROWS_A_COLUMN
FEW_COLUMNS, FEW_ROWS_A_COLUMN = 32, 8
OTHERS = 2.0  # deviations from which rows have another label than the only one that was discovered


@dataclass(frozen=True)
class SurveyPlan:
    """The planned survey, its cost, and the budget that it leaves.

    `look` counts columns in either look, and `labels` the labels. `cost` is that of the survey, and `total` that of the
    survey and the learner together; empty if it is the pair (epsilon, delta). `epsilon` and `delta` are told to the
    learner, and `noise` is that of its parts, if it named them. `columns` is the number of columns that are discovered,
    and `pool` how many more are paid for: the looks after the first one share both.
    """

    look: OpeningHistogram
    labels: OpeningHistogram
    cost: tuple[Cost, ...]
    epsilon: float = 0.0
    delta: float = 0.0
    total: tuple[Cost, ...] = ()
    noise: tuple[float, ...] = ()
    columns: int = 0
    pool: int = 0

    def shared(self, columns: int, charge: Fraction) -> OpeningHistogram:
        """Return a histogram of so many columns for which so many columns of `look` are paid."""
        ratio = columns / Fraction(charge)
        scale = self.look.scale * ratio if self.look.pure else float(self.look.scale) * math.sqrt(ratio) * (1 + 1e-12)
        return OpeningHistogram(scale, self.look.unit, pure=self.look.pure)

    def price(self, columns: int, deviation: float) -> Fraction:
        """Return how many columns of `look` have to be paid for a histogram of columns with this deviation, or less."""
        ratio = self.look.deviation / deviation
        return Fraction(math.ceil(columns * max(1.0, _PAID * ratio ** (1 if self.look.pure else 2))), _PAID)


def plan(
    schema: Schema,
    epsilon: Any,
    delta: Any,
    neighbors: str,
    *,
    share: Any = 1,
    labels: str | None = None,
    rows_per_unit: int = 1,
    n: int | None = None,
    **learner: Any,
) -> SurveyPlan:
    """Plan the survey of a schema for a budget, which it shares with the learner that follows if `share` is below 1.

    `labels` says whether labels are counted, too, and whether their set has to be discovered ("open") or is "declared".
    `n` is the number of rows, if it is public. `learner` are the arguments `kind`, `pure` and `rest` of
    `dpfast.accounting.curves.opening.survey_noise`.

    With the share "auto", either look has the first share of LOOKS at which a cell with its share of the rows, of
    CELLS_SEEN, is clear of noise, or the last one. Labels that are open have the first one of LABEL_WEIGHTS times as
    much at which a label with RARE_LABEL of the rows is discovered, or the last one. Beside looks of the first share,
    they have twice as much at least, and enough for a label with RARER_LABEL if one of LABEL_WEIGHTS suffices. Without
    a public number of rows, all have the second share.

    A ValueError refuses a budget that does not suffice, words to be discovered with delta = 0, and more than
    MOST_COLUMNS columns to be discovered.
    """
    columns = len(schema.to_find)
    refuse_many(columns)
    if not delta:
        _refuse_pure(schema, labels)
    problem: Any = columns, sum(map(holds_words, schema.columns)), epsilon, delta, share
    public: dict[str, Any] = {"neighbors": neighbors, "labels": labels, "rows_per_unit": rows_per_unit} | learner
    looks = LOOKS if share == "auto" else (share,)
    if n is None:
        return _plan(*problem, looks[len(looks) // 2], 1, **public)
    for part, common in zip(looks, (*CELLS_SEEN, 0.0), strict=False):
        planned = _plan(*problem, part, 1, **public)
        if SURE * planned.look.deviation <= n * common:
            break
    if labels != "open":
        return planned
    least = share == "auto" and part == LOOKS[0]
    weighed = [] if least else [planned]
    for label in (RARER_LABEL, RARE_LABEL) if least else (RARE_LABEL,):
        for k, weight in enumerate(LABEL_WEIGHTS[least:]):
            if k == len(weighed):
                weighed.append(_plan(*problem, part, weight, **public))
            if labels_seen(weighed[k], n, label):
                return weighed[k]
    return weighed[-1]


def labels_seen(planned: SurveyPlan, n: int, rows: float = COMMON_LABEL) -> bool:
    """Return whether a label with this share of n rows is discovered, nearly always."""
    return planned.labels.least + LIKELY * planned.labels.deviation <= n * rows


def suffice(n: int, d: int, epsilon: float) -> bool:
    """Return whether n rows suffice for a survey of an array of d columns to be better than rows as vectors."""
    return d > 0 and (n >= ROWS_A_COLUMN * d / math.sqrt(epsilon) or (d <= FEW_COLUMNS and n >= FEW_ROWS_A_COLUMN * d))


@cache_results
def _plan(columns, worded, epsilon, delta, share, look, weight, *, neighbors, labels, rows_per_unit, **learner):
    """Return the plan of a survey in which the square of the weight of labels is this multiple of the columns.

    The share "auto" is the one at which either look would have the share `look` without the pool. So many columns are
    `worded`: they hold words.
    """
    epsilon, delta = exact("epsilon", epsilon), exact("delta", delta)
    of_labels = 0 if labels is None else Fraction(weight) / (1 if labels == "open" else 4)
    pool = math.ceil(columns * POOL)
    if share == "auto":
        share = look * (2 + of_labels) if learner.get("kind", "pair") != "pair" else look * PAIR
    weight = 0 if labels is None else max(1, round(math.sqrt(columns * of_labels)))
    if not delta:
        moved = changed_rows(neighbors) * rows_per_unit
        moved *= 2 * columns + pool + (labels is not None)
        return replace(_pure_plan(epsilon, moved, share), columns=columns, pool=pool)
    words = [worded, int(labels == "open")]
    delta_of_words = delta * WORDS_SHARE * sum(map(bool, words))
    moves = opening_moves(2 * columns + pool + weight**2, neighbors, rows_per_unit)  # of all looks and of the labels
    unit = min(UNIT, 1 << (_LARGEST_STEPS // max(1, weight)).bit_length() - 1)
    while True:
        noise = survey_noise(epsilon, delta, share, moves=moves, unit=unit, words=delta_of_words, **learner)
        if math.isqrt(_PAID) * noise.sigma <= LARGEST_SCALE or unit == 1:
            break
        unit //= 2
    chance = float(delta * WORDS_SHARE * (1 if learner.get("kind") != "pair" or share == 1 else exact("share", share)))
    histogram = [
        _histogram(noise.sigma, each, chance, of, rows_per_unit)
        for each, of in zip((unit, unit * max(1, weight)), words, strict=True)
    ]
    return SurveyPlan(*histogram, noise.cost, *noise[2:], columns=columns, pool=pool)


def _histogram(sigma, unit, delta, words, rows_per_unit):
    """Return a histogram in which so many columns hold words, and lone ones are published with probability `delta`."""
    if not words:
        return OpeningHistogram(sigma, unit)
    chance = delta * (1 - 1e-12)
    threshold = opening_threshold(sigma, chance, unit=unit, words=words, rows_per_unit=rows_per_unit)
    return OpeningHistogram(sigma, unit, threshold, lone=delta / words)


def _refuse_pure(schema, labels):
    """Refuse words and labels that cannot be discovered with delta = 0."""
    lists = [column.name for column in schema.columns if column.to_find and isinstance(column, Category)]
    if lists:
        names = ", ".join(map(repr, lists))
        raise ValueError(f"values cannot be found privately with delta = 0: declare those of {names}")
    if labels == "open":
        raise ValueError("labels cannot be found privately with delta = 0: declare them by classes=")


def _pure_plan(epsilon, moved, share):
    """Return the plan for delta = 0, with discrete Laplace noise on counts that move by so much in all looks."""
    left, of_survey = (0.0, epsilon) if share == 1 else split(epsilon, share)
    if (scale := moved / of_survey) * _PAID > LARGEST_SCALE:  # a narrowing may have so many times the noise
        raise ValueError("epsilon is too small to discover columns: declare them")
    look = OpeningHistogram(scale, 1, pure=True)
    return SurveyPlan(look, look, (Cost("pure", decimal_above(of_survey)),), left)


@dataclass(frozen=True)
class Found:
    """The facts of a table that a survey gives: the schema with everything discovered, and the labels.

    `labels` are noisy numbers of rows by label, the most frequent first, and `others` is that of rows with labels that
    were not discovered, 0 if it is not clear of noise or the number of rows is private. If it is public, `labelled` is
    the noisy number of rows with a label, and the deviation of its noise. `other` has, for each name of a column, the
    estimated share of the rows whose cell has no discovered value; 1 if nothing was discovered for the column. `coarse`
    names columns in which many rows share few codes, though their numbers may differ, and `persons` those whose values
    may say whose a row is.
    """

    schema: Schema
    labels: dict[str, float]
    other: dict[str, float]
    others: float = 0.0
    labelled: tuple[float, float] | None = None
    coarse: tuple[str, ...] = ()
    persons: tuple[str, ...] = ()


def discover(
    encoding: Any,
    exact: Counts,
    planned: SurveyPlan,
    rng: np.random.Generator,
    classes: Sequence | None = None,
    n: int | None = None,
    complete: bool = False,
    *,
    bins: int = BINS,
    groups: bool = False,
) -> Found:
    """Release the survey of a table; compute its schema from it.

    `exact` are the private counts of the first look at `encoding`, whose schema is to be completed. All declared
    labels, `classes`, are counted. `n` is the number of rows, if it is public; by default it is the sum of the noisy
    numbers of rows by label. Labels are `complete` if their type has no missing one. Rows have another label than the
    published ones only if there are more of them than noise explains: that of the rows without a label counts, too.
    Numbers and dates of a column have about so many `bins` at most; with `groups`, words beside published ones have
    groups.
    """
    look, others, labelled = planned.look, 0.0, None
    if classes is None:
        labels = planned.labels.words(exact.labels, rng)
        if n is not None:
            noisy = planned.labels.codes(np.array([n - sum(exact.labels.values())]), rng)[0]  # rows without a label
            lost = 0.0 if complete else max(noisy, 0.0)
            deviation = planned.labels.deviation * (2**0.5 if lost else 1.0)  # of the difference from one label
            rest = n - sum(labels.values()) - lost
            labelled = n - lost, 0.0 if complete else planned.labels.deviation
            others = rest if rest > OTHERS * deviation else 0.0
    else:
        noisy_counts = planned.labels.codes(np.array([exact.labels[each] for each in classes], np.int64), rng)
        labels = dict(zip(classes, noisy_counts.tolist(), strict=True))
    rows = max(0.0, sum(labels.values())) if n is None else float(n)
    rows_noise = planned.labels.deviation * math.sqrt(len(labels)) if n is None else 0.0
    looks = [
        (column, fixed, look.words(words, rng) if holds_words(column) else {})
        for column, fixed, words in zip(encoding.schema.columns, exact.fixed, exact.words, strict=True)
        if column.to_find
    ]
    noisy = _noisy(look, [fixed for _, fixed, _ in looks], rng)
    columns = [
        ColumnFacts(column, cells, words, look, rows, bins, groups, columns=len(looks), rows_noise=rows_noise)
        for (column, _, words), cells in zip(looks, noisy, strict=True)
    ]
    left = _narrow(columns, encoding, planned, rng)
    counted = [each for each in columns if each.counted]
    look = planned.shared(max(1, len(counted)), planned.columns + left)
    cells = {each.column.name: each.cells(look.deviation) for each in counted}
    for each, counts in zip(counted, _look(encoding, cells, look, rng), strict=True):
        each.look(counts, look.deviation)
    discovered_rows = {each.column.name: each.rows_of_kinds() for each in columns}
    unseen = {each.column.name: rows - discovered_rows[each.column.name] > OTHERS * each.noise() for each in columns}
    other = {
        name: round(min(max(1 - each / (rows or each), 0.0), 1.0), 4) * unseen[name] if each else 1.0
        for name, each in discovered_rows.items()
    }
    return Found(
        encoding.schema.with_facts({each.column.name: each.facts() for each in columns}),
        labels,
        other,
        others,
        labelled,
        tuple(each.column.name for each in columns if each.coarse),
        tuple(each.column.name for each in columns if each.like_persons),
    )


def _narrow(columns, encoding, planned, rng):
    """Narrow the cells of columns whose rows lie in few cells; return what is left of the pool.

    Each narrowing is one histogram. Its columns, its noise and whether there is another one follow from earlier
    releases, and all that is paid for together is at most the pool.
    """
    left = Fraction(planned.pool)
    for _ in range(NARROWINGS):
        cells = {each.column.name: edges for each in columns if (edges := each.parts()) is not None}
        rows = max((each.rows for each in columns if each.column.name in cells), default=0.0)
        charge = planned.price(len(cells), rows / NARROWED) if rows else left
        charge = min(charge, Fraction(math.floor(left / 2 * _PAID), _PAID))
        look = planned.shared(max(1, len(cells)), max(charge, Fraction(1, _PAID)))
        if not cells or charge * _PAID < len(cells) or NARROWABLE * look.deviation > rows:
            break
        left -= charge
        narrowed = [each for each in columns if each.column.name in cells]
        for each, counts in zip(narrowed, _look(encoding, cells, look, rng), strict=True):
            each.narrow(counts, look.deviation)
    return left


def _look(encoding, cells, look, rng):
    """Return the noisy counts of the cells of some columns by their names, in the order of the columns."""
    counts = encoding.cells([cells.get(name) for name in encoding.schema.names])
    return _noisy(look, [each for each in counts if each is not None], rng)


def _noisy(look, counts, rng):
    """Return noisy counts of columns, None for one without counts: one histogram."""
    present = [each for each in counts if each is not None]
    noisy = look.codes(np.concatenate([*present, np.zeros(0, np.int64)]), rng)
    ends = iter(accumulate(map(len, present)))
    return [None if each is None else noisy[(end := next(ends)) - len(each) : end] for each in counts]
