# ruff: noqa: E501
"""Mutants of experts, finite classes and statistical queries."""

from mutant import Mutant

_RWM, _SQ = "learners/experts/test_weighted_majority.py", "learners/experts/test_statistical_query.py"
_LINEAR, _FINITE = "learners/experts/test_linear_learner.py", "learners/experts/test_finite_class.py"


def _m(name, file, old, new, tests):
    return Mutant(name, f"dpfast/learners/experts/{file}.py", old, new, tests)


MUTANTS = [
    _m("linear: signed range forgotten", "playing", "experts_range(task.neighbors, signed=True)", "experts_range(task.neighbors)", _LINEAR),
    _m("linear: rows not shuffled", "playing", "order = run.permutation(n)", "order = np.arange(n)", _LINEAR),
    _m("linear: exponent doubled", "playing", "Weights(d + constant, rate", "Weights(d + constant, 2 * rate", _LINEAR),
    _m("minimizer: maximises", "linear_minimizer", "np.ones(n, np.int8)", "-np.ones(n, np.int8)", "learners/experts/test_dr11.py"),
    _m("finite: replace moves by 1", "finite_class", "ExponentialDraw(task.changed_rows,", "ExponentialDraw(1,", _FINITE),
    _m("finite: relation swapped", "finite_class", "ExponentialDraw(task.changed_rows,", "ExponentialDraw(3 - task.changed_rows,", _FINITE),
    _m("rwm: an action more than the horizon", "weighted_majority", "if rounds > left:", "if rounds > left + 1:", _RWM),
    _m("rwm: the horizon may be edited", "weighted_majority", "left = self._terms.horizon - self._rounds", "left = self.horizon - self._rounds", _RWM),
    _m("rwm: budget not charged", "prepaid", "if terms.budget is not None:", "if False:", _RWM),
    _m("rwm: an action seen before it is counted", "weighted_majority", "            self._rounds += 1  # before", "            self._rounds += 0  # before", _RWM),
    _m("rwm: exponent doubled", "weighted_majority", "Fraction(run.scale(\"actions\")) / (1 << _GRID_BITS)", "2 * Fraction(run.scale(\"actions\")) / (1 << _GRID_BITS)", _RWM),
    _m("rwm: copied with its state", "prepaid", "    def __reduce__(self):\n        raise TypeError(", "    def __reduce__(self):\n        return object.__reduce_ex__(self, 2)\n        raise TypeError(", _RWM),
    _m("queries: count of rows unpaid", "statistical_query", 'releases = p.n_queries + (task.neighbors == "add-remove")', "releases = p.n_queries", _SQ),
    _m("queries: counted after they ran", "statistical_query",
       "        self._count(len(queries))  # before the first query runs\n        if not queries:\n            return np.zeros(0)\n        sums = self._parts.sum(_sums, queries)\n",
       "        sums = self._parts.sum(_sums, queries)\n        self._count(len(queries))\n", _SQ),
    _m("queries: a query that forked is answered twice", "statistical_query", "        self._access.check_process()  # a query may have forked\n", "", _SQ),
    _m("queries: exact n under add-remove", "statistical_query", "self._counted = max(1.0, int(self._run.release(\"counts\", n << _GRID_BITS)) / (1 << _GRID_BITS))", "pass", _SQ),
    _m("queries: one noise for all", "statistical_query", "self._run.release(\"queries\", sums, times=len(queries)).tolist()", "(sums + self._run.release(\"queries\", 0)).tolist()", _SQ),
    _m("queries: sensitivity of the grid halved", "statistical_query", '"sensitivity": 1 << _GRID_BITS', '"sensitivity": 1 << (_GRID_BITS - 1)', _SQ),
]  # fmt: skip
