"""Private decision lists by greedy cover."""

from fractions import Fraction
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpfast import random
from dpfast.accounting import PrivacySpend, Release, cover_exponent
from dpfast.data.blocks import BLOCK_BYTES, map_blocks, slices
from dpfast.data.conjunctions import conjunction_columns
from dpfast.kernels import bits, cover
from dpfast.learners.base import PrivateClassifier, shown

_CONSTANT = -1  # the kernel's name for the constant true
_FEW_READS = 64  # columns and counts read off the rows that cost about a transpose, and half the memory


class Literal(NamedTuple):
    """A feature that must be 1, or 0 if negated."""

    feature: int
    negated: bool


class Rule(NamedTuple):
    """If all literals hold, then label; a rule without literals always holds."""

    literals: tuple[Literal, ...]
    label: object


class DecisionListClassifier(PrivateClassifier):
    """Private decision list by greedy cover [BF, section 3]_.

    **Privacy.** The released list, its length included, is (epsilon, delta)-DP for the relation `neighbors`:
    "replace" compares tables that differ in one row (x, y), "add-remove" tables one of which has a row more. One
    row moves the score of a candidate only while it is uncovered and only if the candidate's literals cover it, by
    +coverage_weight if the label is right and by -1 if it is wrong; `dpfast.accounting.curves` turns that into a
    bound for the whole run, however many rounds, which `cover_exponent` inverts. The number of rounds is fixed
    beforehand, the constant true is a candidate with a mass that does not depend on the data, and it is the last
    rule at the latest; only rules after it, which nothing can reach, are dropped. The number of rows (under
    "replace"), the columns and the set of labels are taken as public; `classes` of `fit` keeps the last from being
    read off the data.

    Parameters
    ----------
    epsilon : float, default=1.0
    delta : float, default=1e-6
        In (0, 1); well below one in the number of rows.
    neighbors : {"replace", "add-remove"}, default="replace"
    coverage_weight : float in [0, 1], default=0.5
        score = coverage_weight * correct - errors. 0 is the paper's; more prefers rules that explain much, which
        makes short lists. Read as the nearest fraction with a denominator of at most 1000.
    max_rules : int or None, default=25
        Longest list, its default rule included. None allows every feature to be used once.
    default_prior : int or "auto", default="auto"
        Number of candidates that the constant true counts for, with each label. "auto" is the number of literals:
        too little to matter while rows are left, and when none is, every further round ends the list with
        probability one half or more. 0 leaves it to the last rule.
    conjunctions : int, default=1
        Conditions are all conjunctions of at most this many literals.
    negations : bool, default=True
        Whether "not x" is a literal too.
    threshold : None, float or array_like of float, shape (d,), default=None
        Turns real columns into bits x > threshold. Declared, not computed from the rows. None accepts 0 and 1 only.
    accounting : {"curve", "paper"}, default="curve"
        "paper" uses the constants of [BF]_, for coverage_weight 0.
    budget : dpfast.accounting.Budget or None, default=None
        Charged (epsilon, delta) by each `fit`; a fit that it cannot pay is refused before the data is read.
    random_state : None, int or numpy.random.Generator, default=None
        None is cryptographic. A seed is for tests and voids the guarantee; `privacy_` then says so.
    verbose : bool, default=False
        Whether `fit` shows its progress.

    Attributes
    ----------
    rules_ : list of Rule
        In the order they are tried; the last one has no literals.
    classes_ : ndarray, shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str, shape (n_features_in_,)
        Only if X had names.
    privacy_ : dpfast.accounting.PrivacySpend
        The claim, in one line.

    Notes
    -----
    `fit` reads the packed table once for each class, to count, and about once more as its rows become covered,
    whatever the number of rules; each rule takes a look at one word of the rows not yet covered. Memory: the packed
    table, and its transpose too if there may be more than about 60 rules; 8 bytes a feature and class.

    References
    ----------
    .. [BF] M. Bun, W. Fang, Privately Learning Decision Lists and a Differentially Private Winnow.

    Examples
    --------
    >>> import dpfast
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> clf = dpfast.DecisionListClassifier(epsilon=1.0, random_state=0).fit(mushroom.data, mushroom.target)
    >>> clf.score(mushroom.data, mushroom.target) > 0.9
    True
    >>> print(clf.privacy_.epsilon)
    1.0
    """

    _model = "decision-list"

    def __init__(
        self,
        epsilon=1.0,
        delta=1e-6,
        *,
        neighbors="replace",
        coverage_weight=0.5,
        max_rules=25,
        default_prior="auto",
        conjunctions=1,
        negations=True,
        threshold=None,
        accounting="curve",
        budget=None,
        random_state=None,
        verbose=False,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.neighbors = neighbors
        self.coverage_weight = coverage_weight
        self.max_rules = max_rules
        self.default_prior = default_prior
        self.conjunctions = conjunctions
        self.negations = negations
        self.threshold = threshold
        self.accounting = accounting
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, *, classes=None):
        """Learn the list.

        Parameters
        ----------
        X : array_like, sparse matrix, DataFrame or BitMatrix, shape (n, d)
            0 and 1 or booleans; real numbers if `threshold` is given.
        y : array_like, shape (n,)
            Labels of two or more classes.
        classes : array_like, optional
            The public set of labels; read off y by default.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a parameter or data that will not do, before anything is charged or drawn.
        BudgetExceeded
            If the budget does not suffice, before the data is read.
        """
        weight = self._checked_parameters()
        exponent = cover_exponent(
            self.epsilon, self.delta, coverage_weight=weight, neighbors=self.neighbors, accounting=self.accounting
        )
        rng = random.generator(self.random_state)
        self._check_budget()
        table = self._bits(X, reset=True)
        codes = self._labels(y, table.shape[0], classes)

        n, classes = table.shape[0], len(self.classes_)
        if self.conjunctions == 1:
            rows, m, literals, negations = table.rows, table.shape[1], None, bool(self.negations)
            few = self.max_rules is not None and self.max_rules + classes <= _FEW_READS
            columns = None if few and not table.has_columns else table.columns
        else:
            columns, literals = conjunction_columns(table, self.conjunctions, self.negations)
            rows, m, negations = bits.transpose(columns, n), len(columns), False  # they are among the columns
        labels = np.stack([_packed(codes == c) for c in range(classes)])
        prior = (1 + negations) * m if self.default_prior == "auto" else int(self.default_prior)
        rounds = m + 1 if self.max_rules is None else min(self.max_rules, m + 1)
        first = _first_counts(columns, n, labels) if columns is not None else _counts_of_rows(rows, m, codes, classes)
        state = cover.Counts(rows, columns, labels, first, Fraction(exponent), weight, negations, prior)

        self._charge()
        rules, whole = [], False
        try:
            for feature, negated, label in shown(_greedy_cover(state, rounds, rng), "rules", self.verbose, rounds):
                rules.append(Rule(_condition(feature, negated, literals), self.classes_[label]))
            whole = True
        finally:  # what was drawn is kept, also when interrupted
            if not whole:
                rules.append(Rule((), self.classes_[0]))
            self.rules_ = rules
            self.privacy_ = PrivacySpend(
                self.epsilon,
                self.delta,
                self.neighbors,
                (Release("rules", min(len(rules), rounds), rounds),),
                reproducible=random.is_reproducible(rng),
            )
        return self

    def predict(self, X):
        """The label of the first rule that holds for each row.

        Parameters
        ----------
        X : as in `fit`, shape (n, d)

        Returns
        -------
        ndarray, shape (n,)
        """
        check_is_fitted(self)
        table = self._bits(X, reset=False)
        used = sorted({literal.feature for rule in self.rules_ for literal in rule.literals})
        place = {j: k for k, j in enumerate(used)}
        columns = np.empty((len(used), bits.words(len(table))), np.uint64)
        for j, k in place.items():
            columns[k] = table.column(j)
        predicted = np.empty(len(table), dtype=self.classes_.dtype)
        left = _packed(np.ones(len(table), dtype=bool))
        holds = np.empty_like(left)
        for rule in self.rules_:
            codes = [[2 * place[literal.feature] + literal.negated for literal in rule.literals]]
            condition = bits.conjunctions(columns, len(table), np.array(codes, np.int64))
            if bits.bitwise_and(left, condition[0], holds):
                predicted[bits.nonzero(holds)] = rule.label
                bits.bitwise_andnot(left, holds, left)
        return predicted

    def to_text(self, feature_names=None):
        """The list as text, a rule a line.

        Parameters
        ----------
        feature_names : sequence of str, shape (n_features_in_,), optional
            Names to use in place of `feature_names_in_` or of x0, x1, ...
        """
        check_is_fitted(self)
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        elif len(feature_names) != self.n_features_in_:
            raise ValueError(f"feature_names must number {self.n_features_in_}, got {len(feature_names)}")
        conditions = [
            " and ".join("not " * literal.negated + str(feature_names[literal.feature]) for literal in rule.literals)
            for rule in self.rules_
        ]
        width = max(map(len, conditions))
        start = ["if", *["else if"] * len(conditions)]
        lines = [
            f"{word:7} {condition:{width}}  then  {rule.label}" if condition else f"else  {rule.label}"
            for word, condition, rule in zip(start, conditions, self.rules_, strict=False)
        ]
        return "\n".join(lines)

    def __str__(self):
        return self.to_text() if self.__sklearn_is_fitted__() else super().__str__()

    def _checked_parameters(self):
        """Refuse parameters that will not do; returns coverage_weight as the fraction used."""
        if self.max_rules is not None and not _is_int(self.max_rules, at_least=1):
            raise ValueError(f"max_rules must be None or an integer of at least 1, got {self.max_rules!r}")
        if self.default_prior != "auto" and not _is_int(self.default_prior, at_least=0):
            raise ValueError(f'default_prior must be "auto" or an integer of at least 0, got {self.default_prior!r}')
        if not _is_int(self.conjunctions, at_least=1):
            raise ValueError(f"conjunctions must be an integer of at least 1, got {self.conjunctions!r}")
        if not isinstance(self.coverage_weight, Real) or not 0 <= self.coverage_weight <= 1:
            raise ValueError(f"coverage_weight must lie in [0, 1], got {self.coverage_weight!r}")
        return Fraction(float(self.coverage_weight)).limit_denominator(1000)

    def _released(self):
        number = {label: i for i, label in enumerate(self.classes_.tolist())}
        return [[[list(literal) for literal in rule.literals], number[_plain(rule.label)]] for rule in self.rules_]

    def _restore(self, released):
        wrong = [j for literals, _ in released for j, _ in literals if not 0 <= j < self.n_features_in_]
        if wrong or not released or released[-1][0]:
            raise ValueError(f"rules must test features below {self.n_features_in_} and end with a default")
        self.rules_ = [
            Rule(tuple(Literal(int(j), bool(negated)) for j, negated in literals), self.classes_[label])
            for literals, label in released
        ]


def _greedy_cover(state, rounds, rng):
    """The candidates that one run of greedy cover draws, the last one the constant true [BF, Algorithm 2]."""
    for left in range(rounds - 1, 0, -1):
        if not state.uncovered:
            tail = state.draw_tail(left, rng)
            yield from tail
            if tail[-1][0] == _CONSTANT:
                return
            break
        feature, negated, label = state.draw(rng)
        yield feature, negated, label
        if feature == _CONSTANT:
            return
        if left > 1:
            state.cover_rows(feature, negated)
        else:
            state.cover_last(feature, negated)
    yield _CONSTANT, False, state.draw_label(rng)


def _condition(feature, negated, literals):
    if feature == _CONSTANT:
        return ()
    if literals is None:
        return (Literal(int(feature), bool(negated)),)
    return tuple(Literal(int(code) // 2, bool(code % 2)) for code in literals[feature] if code >= 0)


def _first_counts(columns, n, labels):
    """`cover.count` over blocks of columns, on threads."""
    blocks = slices(len(columns), max(64, BLOCK_BYTES // max(8, columns[:1].nbytes)))  # labels are checked in each
    return np.concatenate(map_blocks(lambda block: cover.count(columns[block], n, labels), blocks), axis=1)


def _counts_of_rows(rows, m, codes, classes):
    """`cover.count_rows` over blocks of rows, on threads."""
    blocks = slices(len(rows), max(4096, 4 * BLOCK_BYTES // rows[:1].nbytes))  # many rows to a count of a column
    return sum(map_blocks(lambda block: cover.count_rows(rows[block], m, codes[block], classes), blocks))


def _packed(mask):
    return bits.pack(mask[np.newaxis].view(np.uint8))[0]


def _is_int(value, at_least):
    return isinstance(value, Integral) and not isinstance(value, bool) and value >= at_least


def _plain(label):
    return label.item() if isinstance(label, np.generic) else label
