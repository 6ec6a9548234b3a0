"""Bounds, edges and values that a schema leaves open, found privately under one claim.

Parts of a schema share a budget (epsilon, delta) by their weights: each bound counts 1, the edges of a column 2, the
values of a category 2. Bounds are ends of cells that quantiles lie in, edges are quantiles
(`dpfast.mechanisms.quantiles`), values a histogram with a threshold (`dpfast.mechanisms.frequent_values`). A column's
bounds are found before its edges. The parts compose in one of two ways, whichever gives more; both follow from the
schema and the budget alone:

* pure: a part gets its share of epsilon, values of m columns delta / m each;
* zCDP: a part gets its share of rho, where rho-zCDP is (epsilon, delta')-DP (`dpfast.accounting.zcdp_rho`); delta' is
  delta, or half of it where there are values, whose columns share the other half: what is delta''-approximately
  rho-zCDP is (epsilon, delta' + delta'')-DP (Bun, Steinke 2016, section 8).
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpfast.accounting import zcdp_rho
from dpfast.mechanisms import (
    frequent_rho,
    frequent_threshold,
    frequent_values,
    quantiles_cost,
)
from dpfast.mechanisms.quantiles import quantile_cell_of_cells, quantiles_of_cells
from dpfast.tables.columns import MOST_CODES, Category
from dpfast.tables.grids import fine_grid, powers

TAIL = Fraction(1, 16)  # of the rows, that may lie beyond a bound that was found
_WEIGHTS = {"low": 1, "high": 1, "edges": 2, "values": 2}
_GRID = 1 << 40  # exponents are multiples of 1 / this


@dataclass(frozen=True)
class Part:
    """One fact of one column that is to be found, and what it may cost.

    Attributes
    ----------
    column : Column
    fact : {"low", "high", "edges", "values"}
    strength : Fraction
        The exponent of `quantiles`, or the epsilon of `frequent_values`.
    delta : Fraction
        Of `frequent_values`; else 0.
    """

    column: object
    fact: str
    strength: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def shares(self):
        """What is to be found: a number of bins, or the share of the rows below a bound."""
        return {"low": [TAIL], "high": [1 - TAIL]}.get(self.fact) or int(self.column.edges)

    def costs(self, neighbors):
        """Pure epsilon and rho at strength 1."""
        if self.fact == "values":
            return Fraction(1), frequent_rho(1, neighbors)
        return quantiles_cost(self.shares(), neighbors)


def plan(schema, epsilon, delta, neighbors):
    """The parts of a schema that are to be found, each with what it may cost; together (epsilon, delta)-DP.

    Parameters
    ----------
    schema : Schema
    epsilon, delta : Fraction
    neighbors : {"replace", "add-remove"}

    Returns
    -------
    list of Part

    Raises
    ------
    ValueError
        If the budget cannot pay, before anything is drawn.
    """
    parts = [Part(column, fact) for column in schema.columns for fact in column.to_find]
    if not parts:
        return []
    values = sum(part.fact == "values" for part in parts)
    if values and not delta:
        names = ", ".join(repr(part.column.name) for part in parts if part.fact == "values")
        raise ValueError(f"values cannot be found privately with delta = 0: declare those of {names}")
    total = sum(_WEIGHTS[part.fact] for part in parts)
    shares = [Fraction(_WEIGHTS[part.fact], total) for part in parts]
    costs = [part.costs(neighbors) for part in parts]
    pure = [_down(epsilon * share / cost) for share, (cost, _) in zip(shares, costs, strict=True)]
    strengths, left = pure, delta
    if delta:
        left = delta / 2 if values else Fraction(0)
        rho = Fraction(zcdp_rho(epsilon, delta - left))
        concentrated = [_down(_root(rho * share / cost)) for share, (_, cost) in zip(shares, costs, strict=True)]
        gains = [math.log(ours / others) for ours, others in zip(concentrated, pure, strict=True) if ours and others]
        if sum(gains) > 0:
            strengths = concentrated
        else:
            left = delta
    planned = [
        Part(part.column, part.fact, strength, left / values if part.fact == "values" else Fraction(0))
        for part, strength in zip(parts, strengths, strict=True)
    ]
    for part in planned:
        if not part.strength:
            raise ValueError(
                f"epsilon is too small to find the {part.fact} of {part.column.name!r}, got {float(epsilon)}"
            )
        if part.fact == "values":
            frequent_threshold(part.strength, part.delta, neighbors=neighbors)  # refuses what will not do
    return planned


def find(encoding, parts, neighbors, rng):
    """Draw all parts, in order.

    Parameters
    ----------
    encoding : dpfast.tables.encoding.Encoding or PartedEncoding
        Of all rows.
    parts : list of Part
        As `plan` gave them.
    neighbors : {"replace", "add-remove"}
    rng : numpy.random.Generator

    Yields
    ------
    Schema
        After each draw, with what was found so far.
    """
    facts = {}
    for part in parts:
        known = facts.setdefault(part.column.name, {})
        if isinstance(part.column, Category):
            known["values"] = _values(part, encoding, neighbors, rng)
        else:
            known |= _numbers(part, part.column.found(**known), encoding, rng)
        yield encoding.schema.found(facts)


def _values(part, encoding, neighbors, rng):
    totals = encoding.tally(part.column.name)
    noisy = frequent_values(totals, part.strength, part.delta, neighbors=neighbors, rng=rng)
    most = MOST_CODES - part.column.other - part.column.nullable
    kept = sorted(sorted(noisy, key=noisy.get, reverse=True)[:most])
    return tuple(kept)


def _numbers(part, column, encoding, rng):
    if part.fact == "edges":
        grid = fine_grid(column)
        drawn = quantiles_of_cells(encoding.cells(column.name, grid), grid, part.shares(), part.strength, rng=rng)
        return {"edges": tuple(np.unique(drawn).tolist())}
    grid = powers()
    grid = grid[grid > 0] if column.spacing == "logarithmic" else grid
    (share,) = part.shares()
    cell = quantile_cell_of_cells(encoding.cells(column.name, grid), share, part.strength, rng=rng)
    if part.fact == "low":
        low = grid[max(cell - 1, 0)]
        if column.high is not None and low >= column.high:
            low = np.append(math.nextafter(column.high, -math.inf), grid[grid < column.high])[-1]
        return {"low": float(low)}
    high = grid[min(cell, len(grid) - 1)]
    if high <= column.low:
        high = np.append(grid[grid > column.low], math.nextafter(column.low, math.inf))[0]
    return {"high": float(high)}


def _down(x):
    """A multiple of 1 / 2**40 that is at most x."""
    return Fraction(math.floor(x * _GRID), _GRID)


def _root(x: Fraction) -> Fraction:
    """A lower bound of the square root."""
    return Fraction(math.isqrt(math.floor(x * _GRID * _GRID)), _GRID)
