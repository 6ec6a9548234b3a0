"""What a fitted additive model adds to the score of a row: a term for each column and each pair of columns."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from dpfast.kernels import reals
from dpfast.tables.cells import CodeColumn
from dpfast.tables.naming import visible

DEVIATIONS = 2.0  # of the noise, that bands and whiskers reach
_LUCK = 0.1  # the share of the terms said to be clear of noise that are nothing else
COUNTED = 3.0  # deviations of its noise above which a count is that of rows
_TOLD = 3  # values of a group that are named


@dataclass(frozen=True)
class Term:
    """What a model adds to the score of a class for each code of one column.

    Log odds and log probabilities, which `decision_function` returns, are a bent function of the score.

    Attributes
    ----------
    column : CodeColumn
        The name of the column and the meaning of its codes.
    label : object
        The class whose score it is; for two classes the second.
    weights : ndarray of float64, shape (column.size,)
        What each code adds. Their mean over the rows, by `shares`, is 0, since a constant belongs to the intercept.
    noise : ndarray of float64, shape (column.size,), or None
        The standard deviations of the weights due to the noise of the mechanism and the drawing of rows, if they are
        known.
    shares : ndarray of float64, shape (column.size,)
        The approximate share of the rows with each code, by the noisy counts that the fit released; equal shares for
        a model without them. They add up to 1.
    count_noise : float
        The standard deviation of the noise in the share of a code, if it is known.
    luck : float
        The chance with which the term is called clear if it is nothing but noise.
    """

    column: CodeColumn
    label: Any
    weights: np.ndarray
    noise: np.ndarray | None
    shares: np.ndarray
    count_noise: float = 0.0
    luck: float = _LUCK

    @property
    def importance(self) -> float:
        """Return by how much the column moves the score of a row on average: the mean absolute weight over the rows."""
        return float(reals.dot(self.shares, np.abs(self.weights)))

    @property
    def groups(self) -> slice:
        """Return the codes of groups of values without known names; none if "other" is a single code."""
        bins, other = self.column.bins, self.column.other
        return slice(bins, bins + other if other > 1 else bins)

    @property
    def told(self) -> np.ndarray:
        """Return the codes that rows have and that are not groups: ndarray of int64, in increasing order."""
        present = self.shares > 0
        present[self.groups] = False
        return np.flatnonzero(present)

    @property
    def clear(self) -> bool:
        """Return whether some weight is clear of its noise, so that `chance` is at most `luck`.

        Of the terms of a model that are clear, about one in ten is nothing but noise, however many columns there are;
        if all terms are, any of them is clear with a chance of about one in ten.
        """
        return self.chance <= self.luck

    @property
    def chance(self) -> float:
        """Return the chance with which Gaussian noise alone is as large at some code; 0 if the noise is not known.

        Codes without rows do not count, and all groups of values count together. The chances of the codes are added up.
        """
        if self.noise is None:
            return 0.0
        weights, noise = (np.square(each[self.groups]).sum() ** 0.5 for each in (self.weights, self.noise))
        sizes, deviations = np.append(np.abs(self.weights[self.told]), weights), np.append(self.noise[self.told], noise)
        noisy = deviations > 0
        if (sizes[~noisy] > 0).any():
            return 0.0
        most = float((sizes[noisy] / deviations[noisy]).max(initial=0.0))
        return min(1.0, 2 * self._tests * float(special.ndtr(-most)))

    @property
    def _tests(self):
        """Return at how many places a weight may be clear: the codes in `told`, and all groups together."""
        return max(1, len(self.told) + (self.groups.stop > self.groups.start))

    def _clear_codes(self):
        """Return a mask of the codes in `told` whose weights are clear of their noise."""
        noise = 0.0 if self.noise is None else self.noise[self.told]
        return np.abs(self.weights[self.told]) > self._reach() * noise

    def _reach(self):
        """Return how many deviations noise alone exceeds at some code with a chance of at most `luck`."""
        return float(-special.ndtri(self.luck / 2 / self._tests))

    def extremes(self) -> tuple[int, int]:
        """Return the codes of the largest and of the smallest weight, among those with enough rows.

        These are the codes in `told` whose noisy counts are clear of noise; if there are none, all in `told`, or all. A
        weight that is clear of its noise goes before one that is not, if it has the right sign. `ends` also names runs
        of bins, and the groups of rarer values together.

        Returns
        -------
        tuple of int
            The codes of the largest and of the smallest weight.
        """
        clear = np.zeros(self.column.size, bool)
        clear[self.told] = self._clear_codes()
        counted = np.array([code for code in self.told.tolist() if self._is_clear([code])], np.int64)
        codes = next((each for each in (counted, self.told) if len(each)), np.arange(self.column.size))

        def most(sign):
            weights = sign * self.weights[codes]
            return int(codes[np.argmax(np.where(clear[codes] & (weights > 0), weights + np.ptp(weights), weights))])

        return most(1), most(-1)

    def ends(self) -> list[str]:
        """Return what speaks most for the label and most against it, each with its weight, as texts.

        Only values with enough rows are named: values whose noisy counts are clear of noise, the rarer values together,
        and runs of bins that have such counts together. All weights of a run, or of the rarer values, have the same
        sign; the text has the smallest and the largest of them. What is clear of its noise goes before what is not.
        The text is "-" if nothing named has weights of that sign, or if only all bins together have enough rows.

        Returns
        -------
        list of str
            The text for the largest and the text for the smallest weight.
        """
        named = [*self._name_runs()]

        def most(sign):
            names = [each for each in named if (sign * each[1] > 0).all()]
            clear = [each for each in names if (np.abs(each[1]) > self._reach() * each[2]).all()]
            best = max(clear or names, key=lambda each: sign * each[3], default=None)
            return "-" if best is None else f"{best[0]} ({_range(sign * np.sort(sign * best[1]))})"

        return [most(1), most(-1)]

    def _name_runs(self):
        """Yield the names of values and runs of bins with enough rows, their weights, the noise, and the mean."""
        bins, groups = self.column.bins if self.column.ordered else 0, range(self.column.size)[self.groups]
        runs: list[list[int]] = [[]]
        for code in range(bins):
            if runs[-1] and self.weights[code] * self.weights[runs[-1][-1]] <= 0:
                runs.append([])
            runs[-1].append(code)
            if self._is_clear(runs[-1]):
                runs.append([])
        runs = [run for run in runs if run]
        values = [[code] for code in range(bins, self.column.size) if code not in groups]
        counted = [codes for codes in (*runs, *values, [*groups]) if self._is_clear(codes)]
        if counted == runs and len(runs) == 1:
            return  # all numbers together speak for nothing
        noise = np.zeros(self.column.size) if self.noise is None else self.noise
        for codes in counted:
            mean = float(reals.dot(self.shares[codes], self.weights[codes])) / self.shares[codes].sum()
            yield self._run(codes[0], codes[-1]), self.weights[codes], noise[codes], mean

    def _is_clear(self, codes):
        """Return whether the number of rows with these codes is clear of noise."""
        return bool(codes) and self.shares[codes].sum() > COUNTED * self.count_noise * len(codes) ** 0.5

    def _run(self, first, last):
        """Return the meaning of a run of bins, of all groups of values, or of another code, as text."""
        if first == last or not self.column.ordered or first >= self.column.bins:
            return self.meaning(first)
        edges = tuple(edge for k, edge in enumerate(self.column.edges or ()) if not first <= k < last)
        return replace(self.column, edges=edges).meaning(first)

    def meaning(self, code: int) -> str:
        """Return the meaning of a code as text; all groups of values without known names have the same text.

        Parameters
        ----------
        code : int

        Returns
        -------
        str
        """
        return "rarer values" if code in range(self.column.size)[self.groups] else self.column.meaning(code)

    def __str__(self) -> str:
        meanings = [visible(self.column.meaning(code)) for code in range(self.column.size)]
        width = max(map(len, meanings))
        lines = [f"  {meaning:{width}}  {w:+.3f}" for meaning, w in zip(meanings, self.weights, strict=True)]
        return "\n".join([visible(f"{self.column.name} (for {self.label})"), *lines])


@dataclass(frozen=True)
class PairTerm(Term):
    """What a model adds to the score of a class for two columns together, in addition to what it adds for each.

    The codes of both columns are divided into a few groups. A cell is a group of the first column and a group of the
    second. `column` has a value for each cell, and `weights` has its weight.

    Attributes
    ----------
    column, label, weights, noise, shares, count_noise, luck
        As in `Term`.
    sides : tuple of CodeColumn
        The meaning of the groups of the first and of the second column.
    """

    sides: tuple[CodeColumn, ...] = ()

    @property
    def map(self) -> np.ndarray:
        """Return the weights as a matrix: a row for each group of the first column, a column for each of the second."""
        return self.weights.reshape([side.size for side in self.sides])


def _range(weights):
    """Return the first and the last of some weights as text, once if they are alike."""
    first, last = (f"{each:+.2f}" for each in (weights[0], weights[-1]))
    return first if first == last else f"{first} to {last}"


def code_columns(model: Any) -> tuple[CodeColumn, ...] | None:
    """Return the meaning of the columns of a fitted model's table.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    tuple of CodeColumn, or None
        None if the table has no schema.
    """
    encoder = getattr(model, "encoder_", None)
    return None if encoder is None else encoder.schema_.code_columns


def terms(model: Any) -> list[Term]:
    """Return the terms of a fitted additive model, the most important first.

    Parameters
    ----------
    model : HalfspaceClassifier
        Fitted on a table with a schema.

    Returns
    -------
    list of Term
        One for each column and class (for two classes only the second), and a `PairTerm` for each pair of columns in
        `interactions_`, in the order of decreasing `importance`. Trees have none: see `dpfast.report.leaves`.

    Raises
    ------
    ValueError
        If the model's table has no schema; `coef_` has the weights then.
    """
    columns, weights = code_columns(model), np.atleast_2d(getattr(model, "coef_", []))
    pairs = getattr(model, "interactions_", ())
    forest = getattr(model, "trees_", None)
    leaves = 0 if forest is None else sum(forest.sizes)
    if columns is None or weights.shape[1] - leaves != sum(each.size for each in (*columns, *pairs)):
        raise ValueError(
            "terms are those of an additive model of a table with a schema: a HalfspaceClassifier with schema=, say; "
            f"this {type(model).__name__} has none"
        )
    labels = model.classes_ if len(weights) > 1 else model.classes_[1:]
    every: list[tuple[CodeColumn, tuple[CodeColumn, ...]]] = [(column, ()) for column in columns]
    every += [_of_pair(columns, pair) for pair in pairs]
    ends = np.cumsum([0, *(column.size for column, _ in every)])
    noise = getattr(model, "coef_noise_", [None] * len(weights))
    shares = getattr(model, "code_shares_", None)
    all_terms: list[Term] = []
    for label, row, of_row in zip(labels.tolist(), weights, noise, strict=True):
        for (column, sides), start, stop in zip(every, ends[:-1], ends[1:], strict=True):
            of_rows = np.full(column.size, 1 / column.size) if shares is None else shares[start:stop]
            part = row[start:stop] - reals.dot(of_rows, row[start:stop])
            of_part = None if of_row is None else of_row[start:stop]
            term = column, label, part, of_part, of_rows, getattr(model, "count_noise_", 0.0)
            all_terms.append(PairTerm(*term, sides=sides) if sides else Term(*term))
    return sorted(beside_each_other(all_terms), key=lambda term: -term.importance)


def beside_each_other(all_terms: list[Term]) -> list[Term]:
    """Return the terms of a model with the `luck` with which a share of _LUCK of the clear ones is noise, on average.

    It is that of Benjamini and Hochberg (1995): the largest k / m of _LUCK for which k of the m terms are clear, or
    1 / m of it.
    """
    allowed = _LUCK * np.arange(1, len(all_terms) + 1) / max(1, len(all_terms))
    within = np.flatnonzero(np.sort([term.chance for term in all_terms]) <= allowed)
    return [replace(term, luck=float(allowed[within[-1] if len(within) else 0])) for term in all_terms]


def constants(model: Any) -> np.ndarray:
    """Return the score of each class (of two, the second) to which terms and trees add: float64, shape (k,).

    Terms are 0 on average over the rows, and so is what a tree adds; the averages are in the constant.
    """
    weights = np.atleast_2d(model.coef_)
    shares = getattr(model, "code_shares_", None)
    if shares is None:
        sizes = [column.size for column in code_columns(model) or ()]
        sizes += [_of_pair(code_columns(model), pair)[0].size for pair in getattr(model, "interactions_", ())]
        sizes += [] if getattr(model, "trees_", None) is None else model.trees_.sizes
        shares = np.concatenate([np.full(size, 1 / size) for size in sizes])
    means = np.array([reals.dot(shares, row) for row in weights])
    return np.atleast_1d(model.intercept_ + model.shift_) + means


def lost_in_noise(all_terms: list[Term]) -> list[str]:
    """Return the names of the columns without a term that is clear of noise."""
    clear = {term.column.name for term in all_terms if term.clear}
    return [*dict.fromkeys(term.column.name for term in all_terms if term.column.name not in clear)]


def _of_pair(columns, pair):
    """Return a column with a value for each cell of a pair of columns, and the columns of its groups."""
    sides = tuple(_fold(columns[j], groups) for j, groups in zip(pair.columns, pair.groups, strict=True))
    texts = [[side.meaning(code) for code in range(side.size)] for side in sides]
    cells = tuple(f"{first}; {second}" for first in texts[0] for second in texts[1])
    return CodeColumn(f"{sides[0].name} and {sides[1].name}", values=cells), sides


def _fold(column, groups):
    """Return a column with one code for each group of codes."""
    if column.edges is not None:
        edges = tuple(edge for k, edge in enumerate(column.edges) if groups[k] != groups[k + 1])
        return replace(column, edges=edges)
    meanings = [[column.meaning(code) for code, of in enumerate(groups) if of == g] for g in range(max(groups) + 1)]
    texts = (
        ", ".join(some[:_TOLD]) + (f" and {len(some) - _TOLD} more" if len(some) > _TOLD else "") for some in meanings
    )
    return CodeColumn(column.name, values=tuple(texts))
