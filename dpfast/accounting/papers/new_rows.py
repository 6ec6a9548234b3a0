"""Errors on new rows, from what n i.i.d. rows show.

**A class of dimension m.** For all of its members at once, but for probability b,
    P(error) <= e + 2 sqrt(e l) + 4 l,    l = (m ln(2en/m) + ln(4/b)) / n,
e the share of the rows that a member gets wrong, n >= m/2 (Vapnik's relative deviations; Sauer's lemma on 2n points).
The VC dimension is m, or less: it is never above the Littlestone dimension.

**Theorem 2 of [Lyu].** For what section 5 of [Lyu] draws, the line above holds with m = d, the Littlestone dimension of
the class, and e < alpha: docs/proofs_learning.md, "Littlestone classes". [Lyu] is X. Lyu, Private Learning of
Littlestone Classes, Revisited, arXiv 2510.00076, 2025, whose Corollary 5.1 has no constants.

**Statistical queries.** For K functions into [0, 1] that are fixed before the rows are drawn, all means over the rows
lie within sqrt(ln(2K/b) / (2n)) of the expectations, but for probability b (Hoeffding).
"""

import math

from dpfast.accounting.numbers import calculator, chance, count, number


@calculator
def new_row_error(share: float, n: int, *, dimension: int, failure: float = 0.05) -> float:
    """Return a bound on the probability of an error on a new row, given the share of errors on n rows.

    Parameters
    ----------
    share : real from 0 to 1
        The share of the n i.i.d. rows on which the hypothesis errs. It may have been chosen by these rows.
    n : int, >= 1
    dimension : int, >= 0
        The VC or Littlestone dimension of the class of the hypothesis.
    failure : real, from 1e-9 to 1 - 1e-9
        The probability with which the bound fails.

    Returns
    -------
    float
        At most 1.

    Examples
    --------
    >>> round(new_row_error(0.1, 20_000, dimension=4), 4)
    0.1391
    """
    share = number("share", share, "from 0 to 1", lambda x: 0 <= x <= 1)
    n, m = count("n", n), count("dimension", dimension, least=0)
    b = chance("failure", failure)
    if 2 * n < m:
        return 1.0
    l = ((m * math.log(2 * math.e * n / m) if m else 0) + math.log(4 / b)) / n * (1 + 1e-12)  # noqa: E741
    return min(1.0, (share + 2 * math.sqrt(share * l) + 4 * l) * (1 + 1e-12))


def query_deviation(n: float, n_queries: int, failure: float) -> float:
    """Return a bound on |mean - expectation| of fixed functions into [0, 1], over n i.i.d. rows."""
    return math.sqrt(math.log(2 * n_queries / failure) / (2 * n)) * (1 + 1e-12) if n > 0 else math.inf
