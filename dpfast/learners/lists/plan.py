"""The releases of a decision list: the sizes of two classes, the draws of the rules, and class counts of the rules.

All of them are planned before a row is looked at. With delta > 0 they are on one bill
(`dpfast.accounting.claims.bill`): sums with discrete Gaussian noise, and the curve of the greedy cover beside them.
With delta = 0, where the constants are the paper's, and for epsilon above 10 or delta below 1e-12, where no discrete
noise is fine enough, sums have discrete Laplace noise, and the parts add up by basic composition.

**Sensitivity.** A row is of one class, and one rule decides it. So sizes, and the counts of all rules together, are
histograms of disjoint cells: one row more or less changes one of them by 1, and a row replaced lowers one and raises
another. k rows of a unit change them by at most k (add-remove) or sqrt(2) k (replace) in Euclidean norm, and by k or
2 k in sum, in at most k or 2 k cells.

**Weights of classes.** If n_0 and n_1 are the noisy sizes and rho <= 1 is their ratio, each row of the larger class
counts max(rho, 16 rho**2) in the scores, at most 1, on a grid of 1024: a rule for the rare class would otherwise have
to be right for most of its rows. A row of weight w <= 1 raises a score by at most g w and lowers it by at most w, so
the states of the proof of `dpfast.accounting.curves.cover` start no higher than without weights, and every exponent
stays.
"""

import math
from fractions import Fraction
from typing import NamedTuple

from dpfast.accounting import Cost, CoverDraws, NoisySums, bill_noise, cover_exponent
from dpfast.accounting.claims.bill import Part
from dpfast.accounting.claims.noise import LARGEST_SCALE, changed_rows, check_scale, noise_scale
from dpfast.accounting.claims.spend import pair_cost
from dpfast.accounting.numbers import cache_results, decimal_above, exact, float_above, root_above
from dpfast.learners.lists.rule import CountNoise

UNIT = 1 << 28  # steps of the grid of Gaussian noise, for one row
WEIGHT_STEPS = 1024  # of the weights of classes
SIZES_SHARE = Fraction(3, 100)  # of the bill, for the sizes of two classes
_LARGEST_EPSILON, _LEAST_DELTA = 10, 1e-12  # of a bill with Gaussian noise on this grid
_FLOOR = 1.5  # deviations; fewer rows of a class are not told from none
_BENT = 16


class ListPlan(NamedTuple):
    """Exponent and noise of a list, and its cost; `sizes` and `counts` are None where they are not released."""

    exponent: Fraction
    sizes: CountNoise | None
    counts: CountNoise | None
    cost: tuple[Cost, ...]
    rules_cost: tuple[Cost, ...]


class ListShares(NamedTuple):
    """Public parameters of a list: shares of the bill, and by how much a row may change a score."""

    epsilon: float
    delta: float
    neighbors: str
    coverage_weight: Fraction
    accounting: str
    counts: Fraction  # share of the counts of rules
    weighs: bool  # whether the sizes of two classes are released

    @property
    def joint(self) -> bool:
        """Return whether all releases are on one bill with Gaussian noise."""
        return is_joint(self.epsilon, self.delta, self.accounting)

    @cache_results
    def parts(self, rounds: int, rows_per_unit: int) -> tuple[Part, ...]:
        """Return the parts of the bill, whose shares add up to 1: sizes, draws and counts, as far as planned."""
        up, down = self._changes(rows_per_unit)
        cells = changed_rows(self.neighbors) * rows_per_unit
        moves = Fraction(root_above(Fraction(cells * rows_per_unit * UNIT**2)))
        counts, sizes = self.counts, (1 - self.counts) * SIZES_SHARE * self.weighs
        draws = CoverDraws(up, down, 1 - counts - sizes, rounds)
        before = (NoisySums(moves, sizes, cells),) if sizes else ()
        return (*before, draws, *((NoisySums(moves, counts, cells),) if counts else ()))

    def solve(self, rounds: int, rows_per_unit: int) -> ListPlan:
        """Return the plan of releases that have the whole bill."""
        if not self.joint:
            return self._by_sums(rounds, rows_per_unit)
        parts = self.parts(rounds, rows_per_unit)
        if len(parts) == 1:  # the closed form
            exponent = self.alone(rounds, rows_per_unit)
            return self.read(
                (exponent,), self._cost_of_draws(Fraction(exponent), rounds, rows_per_unit), rounds, rows_per_unit
            )
        bill = bill_noise(parts, self.epsilon, self.delta)
        return self.read(bill.noise, bill.cost, rounds, rows_per_unit)

    def read(self, noise, cost, rounds: int, rows_per_unit: int) -> ListPlan:
        """Return the plan for the noise of `parts` on a bill with this cost."""
        at = int(self.weighs)
        if self.counts and noise[-1] > LARGEST_SCALE:
            share = float(self.counts)
            raise ValueError(f"rule_counts must be 0 or a larger share, got {share:g}: its noise cannot be drawn")
        check_scale(max(noise[:at], default=0), self.epsilon)
        of_sums = [CountNoise(True, Fraction(sigma) / UNIT) for sigma in (*noise[:at], *noise[at + 1 :])]
        exponent = Fraction(noise[at])
        counts, sizes = of_sums.pop() if self.counts else None, of_sums.pop() if self.weighs else None
        return ListPlan(exponent, sizes, counts, cost, self._cost_of_draws(exponent, rounds, rows_per_unit))

    def _by_sums(self, rounds, rows_per_unit) -> ListPlan:
        """Return the plan by basic composition."""
        whole = exact("epsilon", self.epsilon)
        counts = whole * self.counts
        sizes = (whole - counts) * SIZES_SHARE * self.weighs
        rest = whole - counts - sizes
        exponent = Fraction(self.alone(rounds, rows_per_unit, rest))
        pure = tuple(Cost("pure", decimal_above(each)) for each in (sizes, counts) if each)
        of_sizes, of_counts = (
            CountNoise(False, noise_scale(each, self.neighbors, name, rows_per_unit)) if each else None
            for name, each in (("the sizes' share", sizes), ("rule_counts", counts))
        )
        rules = self._cost_of_draws(exponent, rounds, rows_per_unit)
        if self.accounting == "paper":
            rules = (pair_cost(decimal_above(rest), self.delta),)
        return ListPlan(exponent, of_sizes, of_counts, (*rules, *pure), rules)

    @cache_results
    def alone(self, rounds: int, rows_per_unit: int, epsilon: Fraction | None = None) -> float:
        """Return the exponent of draws alone."""
        epsilon = exact("epsilon", self.epsilon) if epsilon is None else epsilon
        how = {"coverage_weight": self.coverage_weight, "neighbors": self.neighbors, "accounting": self.accounting}
        exponent = Fraction(cover_exponent(epsilon, self.delta, max_rounds=rounds, **how)) / rows_per_unit
        nearest = float(exponent)
        return nearest if nearest <= exponent else math.nextafter(nearest, 0)

    def _changes(self, rows_per_unit) -> tuple[Fraction, Fraction]:
        """Return by how much the rows of a unit raise and lower a score."""
        g = self.coverage_weight
        up, down = (1 + g, 1 + g) if self.neighbors == "replace" else (g, Fraction(1))
        return up * rows_per_unit, down * rows_per_unit

    @cache_results
    def _cost_of_draws(self, exponent, rounds, rows_per_unit) -> tuple[Cost, ...]:
        up, down = self._changes(rows_per_unit)
        return (Cost("cover", float_above(down * exponent), up=float_above(up * exponent), rounds=rounds),)


def is_joint(epsilon: float, delta: float, accounting: str) -> bool:
    """Return whether the releases of a list are on one bill with Gaussian noise."""
    return epsilon <= _LARGEST_EPSILON and delta >= _LEAST_DELTA and accounting == "curve"


def class_weights(sizes, noise: CountNoise) -> tuple[int, int] | None:
    """Return the weights of two classes in units of 1 / WEIGHT_STEPS, from their noisy sizes; None if all are 1."""
    least = max(1, math.ceil(_FLOOR * noise.deviation))
    n = [max(int(size), least) for size in sizes]
    rho = Fraction(min(n), max(n))
    larger = max(1, math.floor(WEIGHT_STEPS * min(Fraction(1), max(rho, _BENT * rho**2))))
    if larger == WEIGHT_STEPS:
        return None
    return (larger, WEIGHT_STEPS) if n[0] > n[1] else (WEIGHT_STEPS, larger)
