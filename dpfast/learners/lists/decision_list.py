"""Decision lists, learned privately by greedy cover."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from dpfast.accounting import cover_epsilon
from dpfast.accounting.claims.noise import noise_scale
from dpfast.accounting.numbers import exact
from dpfast.base.batches import in_batches
from dpfast.base.classifier import PrivateClassifier
from dpfast.base.forms import Bits, Form
from dpfast.base.inputs import packed_rows
from dpfast.base.model import decisions
from dpfast.base.parameters import (
    BETWEEN_0_AND_1,
    auto,
    choice,
    count,
    described,
    estimator,
    flag,
    optional,
    parameter,
    real,
)
from dpfast.base.plan import Plan, Proved, Spending, Task
from dpfast.base.run import Rows, Run
from dpfast.learners.lists.covering import (
    HIGHEST,
    LENGTHS,
    MANY,
    REACH,
    Conditions,
    check_memory,
    condition_count,
    constant_weights,
    falling_weights,
    greedy_cover,
    usual_length,
)
from dpfast.learners.lists.explained import RuleExplanation, explain_rules
from dpfast.learners.lists.model import ListModel, RuleCounts
from dpfast.learners.lists.plan import UNIT, WEIGHT_STEPS, ListShares, class_weights
from dpfast.learners.lists.rule import CountNoise, Rule, class_counts, class_sizes, shrunk_shares
from dpfast.learners.probabilities import class_shares, if_counted
from dpfast.mechanisms.draws import Claim, has_recorder
from dpfast.tables import CodeTable
from dpfast.tables.code_bits import CodeBits

_LARGEST_PRIOR = 1 << 53  # of the kernel


@estimator
class DecisionListClassifier(PrivateClassifier, name="decision-list"):
    """Private decision list by greedy cover [BF, section 3]_.

    **Privacy.** The released list, including its length, is (epsilon, delta)-DP for the relation `neighbors`. One row
    changes the score of a candidate only while the row is uncovered, and only if the candidate's literals cover it: by
    at most +g if the label is right, where g is the coverage weight or 1/2, and by -1 if it is wrong.
    `dpfast.accounting.curves.cover` derives a bound for a whole run with this number of rounds, and `cover_exponent`
    inverts it. The number of rounds is fixed in advance: `max_rules`, or the number of features plus one if that is
    less. The constant true is a candidate whose mass does not depend on the data, and it is the last rule at the
    latest; only rules after it, which no row can reach, are dropped. The sizes of two classes and the class counts of
    the rules have discrete Gaussian noise on disjoint cells. They are on one bill with the rules
    (`dpfast.learners.lists.plan`), and together all are (epsilon, delta)-DP. For delta = 0, epsilon above 10 or the
    paper's constants, their noise is discrete Laplace noise, and they get shares of epsilon by basic composition.

    Parameters
    ----------
    delta : float, default=1e-6
        In [0, 1); choose it well below 1 / n for n rows. 0 is pure differential privacy, and pays for few rules only.
    coverage_weight : float in [0, 1] or "auto", default="auto"
        A number gives score = coverage_weight * correct - errors in every draw, which is positive for a rule that is
        right for more than a share 1 / (1 + coverage_weight) of its rows; it is rounded to the nearest fraction with a
        denominator of at most 1000. 0 is the paper's choice: a rule must be right for all of its rows. With "auto" the
        required share decreases to .55 for the last rule, from .95 for the first one if rows are many, else from .85
        (`dpfast.learners.lists.covering`); and if one of two classes has less than a quarter of the rows of the other,
        by noisy sizes, rows of the larger class count less, and the label of a rule follows its noisy counts.
    max_rules : int, None or "auto", default="auto"
        The length of the longest list, including the default rule. With fewer rules each gets a larger exponent. None
        allows one rule per feature. "auto" is 15 if the number of rows is public and, times the exponent of ten rules,
        at least 1,500, and otherwise 10.
    default_prior : int or "auto", default="auto"
        The number of candidates that the constant true counts for, with each label; at most 2**53. "auto" is a quarter
        of the number of literals: once no row remains, every further round ends the list with probability at least one
        fifth. 0 makes the constant true the last rule only.
    conjunctions : int, default=1
        The largest number of literals in a condition; conditions are all conjunctions of so many literals or fewer.
    negations : bool, default=True
        Whether "not x" is a literal too.
    rule_counts : float in [0, 1), default=0.05
        Share of the bill for noisy class counts of the rows that each rule decides, released with the list: of squared
        sensitivity over variance, or, where noise is Laplace's, of epsilon. They are used by `rule_worth`,
        `predict_proba` and `decision_function`; 0 releases none, and no sizes of classes.
    threshold : None, float or array_like of float, shape (d,), default=0.0
        Converts columns to bits x > threshold. 0 keeps zeros and ones; None accepts only zeros and ones. For numbers,
        use thresholds that have a meaning, or a schema.
    accounting : {"curve", "paper"}, default="curve"
        "paper" uses the constants of [BF]_ and requires coverage_weight 0.

    Attributes
    ----------
    rules_ : list of Rule
        The rules in the order in which they are tried; the last one has no literals.
    rule_counts_ : ndarray of int64, shape (n_rules, n_classes)
        Noisy counts of the rows of each class that each rule decides; some may be negative. Only with `rule_counts`.
    rule_counts_noise_ : {"gaussian", "laplace"}
    rule_counts_scale_ : Fraction
        The scale of that noise, in rows: P(x) is proportional to exp(-x**2 / (2 scale**2)) or to exp(-abs(x) / scale).
        It does not depend on the rows.
    rule_shares_ : ndarray of float64, shape (n_rules, n_classes)
        The shares of the classes among the rows that each rule decides, estimated from these counts.

    Notes
    -----
    `fit` reads the packed table once per class to count, and about once more as its rows become covered. Besides the
    table it needs memory for its transpose if there may be more than about 60 rules, and 8 bytes per feature and class.

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

    delta: float = field(default=1e-6, kw_only=False, metadata=described(real(0, 1, "[)")))
    coverage_weight: float | str = parameter("auto", auto(real(0, 1)))
    max_rules: int | str | None = parameter("auto", auto(optional(count(1))))
    default_prior: int | str = parameter("auto", auto(count(0, _LARGEST_PRIOR)))
    conjunctions: int = parameter(1, count(1))
    negations: bool = parameter(True, flag())
    rule_counts: float = parameter(0.05, real(0, 1, "[)"))
    threshold: ArrayLike | None = parameter(0.0)
    accounting: str = parameter("curve", choice("curve", "paper"))
    spares_unlabelled = True

    @property
    def reads(self) -> Form:
        """Return the form of the rows."""
        return Columns(self.threshold, self.conjunctions > 1, vector_parameters=("conjunctions",))

    def check(self) -> None:
        shares = self._shares(self.epsilon, self.delta)
        longest: Any = LENGTHS[0] if self.max_rules == "auto" else self.max_rules
        how = {"coverage_weight": shares.coverage_weight, "neighbors": self.neighbors, "accounting": self.accounting}
        cover_epsilon(0, self.delta, max_rounds=longest, **how)  # refuses invalid values
        if shares.counts and not shares.joint:  # refuses shares that ask for too much noise
            noise_scale(shares.counts * exact("epsilon", self.epsilon), self.neighbors)

    def spending(self, task: Task) -> Spending:
        shares, longest = self._shares(task.epsilon, task.delta), self._longest(task)
        if longest is None or not shares.joint:
            return Spending()
        return Spending("parts", 0, shares.parts(longest, task.rows_per_unit))

    def plan(self, task: Task) -> Plan:
        if task.rows_per_unit > 1 and self.accounting == "paper":
            raise ValueError('accounting="paper" is for one row: rows_per_unit must be 1')
        d, k = task.n_columns, task.n_classes
        if self.conjunctions > 1:
            check_memory(None if task.in_parts else task.n_rows, d, self.conjunctions, self.negations)
        features = condition_count(d, self.conjunctions, self.negations)
        rounds = min(features + 1, self._longest(task) or features + 1)
        planned = self._make_plan(task, rounds)
        sizes = {} if planned.sizes is None else {"class sizes": _counts(planned.sizes, k)}
        counts = {} if planned.counts is None else {self._counts_name: _counts(planned.counts, rounds * k)}
        rules = Proved("exponential", planned.exponent, planned.cost, size=(2 * features + 1) * k, times=rounds)
        return Plan(**sizes, rules=rules, **counts)

    def prepare(self, rows: Rows) -> Conditions:
        """Return the conditions of rules, with their packed columns if the rows are in memory.

        Parameters
        ----------
        rows : Rows

        Returns
        -------
        Conditions
        """
        return Conditions(rows.form, self.conjunctions, bool(self.negations))

    def learn(self, rows: Rows, plan: Plan, run: Run) -> ListModel:
        planned: Any = plan["rules"]
        n, k, rounds, size = rows.n, rows.n_classes, planned.times, planned.size
        exponent, rules = run.scale("rules"), list[Rule]()
        run.show(lambda: ListModel(_close_list(rules)))
        weights = None
        if "class sizes" in plan:
            sizes = run.release("class sizes", rows.sum(class_sizes, k))
            run.count(sizes.sum(), _noise(plan["class sizes"]).deviation * math.sqrt(k))
            n, weights = int(sizes.sum()) if n is None else n, class_weights(sizes, _noise(plan["class sizes"]))
        if weights is not None:
            rare, often = rows.classes[np.argsort(weights)[::-1]]
            run.note(
                f"The class {str(rare)!r} is rare by the released sizes: in the scores of rules, a row of "
                f"{str(often)!r} counts {min(weights) / WEIGHT_STEPS:.2g}."
            )
        state, bars = self._begin(rows, rounds, exponent, n, weights)
        claim = self._claim(rows.task, rounds) if has_recorder() else None
        cover = run.draws("rules", size, lambda _, rng: greedy_cover(state, rounds, rng, claim), progress=True)
        for feature, negated, number in cover:
            rules.append(Rule(rows.prepared.literals(feature, negated), int(number)))
        if self._counts_name not in plan:
            return ListModel(_close_list(rules))
        noise = _noise(plan[self._counts_name])
        counts = run.release(self._counts_name, rows.sum(class_counts, tuple(rules), k))
        run.count(counts.sum(), noise.deviation * math.sqrt(counts.size))
        numbers = [rule.label for rule in rules]
        if weights is None:
            shares = class_shares(counts, numbers)
        else:
            shares = shrunk_shares(counts, numbers, [*bars[: len(rules) - 1], 0.5], weights, noise.deviation)
            rules = [rule._replace(label=int(own)) for rule, own in zip(rules, shares.argmax(axis=1), strict=True)]
        return ListModel(tuple(rules), RuleCounts(counts, noise, shares))

    def _claim(self, task, rounds):
        """Return the theorem about all draws, for replays."""
        planned = self._make_plan(task, rounds)
        moved = task.changed_rows * (1 + self._weight) * task.rows_per_unit  # the scores of a draw, by one unit
        return Claim(float(moved * planned.exponent), planned.rules_cost)

    def _begin(self, rows, rounds, exponent, n, weights):
        """Return the counts of a run for n rows, None if they are private, and the bar of each draw."""
        conditions = rows.prepared
        many = n is not None and exponent * n >= MANY * math.log(conditions.candidates or 1)
        falls = self.coverage_weight == "auto"
        draws, unit = falling_weights(rounds, HIGHEST[many]) if falls else constant_weights(self._weight)
        each = exponent / unit / (1 if weights is None else WEIGHT_STEPS)
        prior = -(-conditions.candidates // 4) if self.default_prior == "auto" else int(self.default_prior)
        state = conditions.counts(rows.parts, rows.n_classes, rounds, each, draws, prior, weights)
        return state, [] if weights is None else [e / (c + e) for c, e in draws]

    @property
    def _weight(self):
        """Return the largest weight of a correct row."""
        falls = self.coverage_weight == "auto"
        return REACH if falls else Fraction(float(self.coverage_weight)).limit_denominator(1000)

    def _shares(self, epsilon, delta):
        """Return the public parameters of the plan; sizes weigh classes only if counts choose the labels of rules."""
        counts, falls = exact("rule_counts", self.rule_counts), self.coverage_weight == "auto"
        return ListShares(epsilon, delta, self.neighbors, self._weight, self.accounting, counts, falls and bool(counts))

    def _longest(self, task):
        """Return the largest number of rules, or None."""
        if self.max_rules != "auto":
            return self.max_rules
        shares = self._shares(task.epsilon, task.delta)
        return usual_length(shares.alone(LENGTHS[0], task.rows_per_unit), task.n_rows)

    def _make_plan(self, task, rounds):
        """Return the plan of a list of at most so many rules; sizes weigh two classes only."""
        shares, two = self._shares(task.epsilon, task.delta), task.n_classes == 2
        if not task.noise:
            return shares._replace(weighs=shares.weighs and two).solve(rounds, task.rows_per_unit)
        planned = shares.read(task.noise, (), self._longest(task), task.rows_per_unit)
        return planned if two else planned._replace(sizes=None)

    @property
    def _counts_name(self):
        return f"rule counts ({self.rule_counts:g} of the bill)"

    def read_model(self, saved: Any, task: Task) -> ListModel:
        return ListModel.of_file(saved, task)

    @property
    def rules_(self) -> list[Rule]:
        """Return the released rules, with their labels."""
        if "model_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} has no rules_ before a fit")
        return [rule._replace(label=self.classes_[rule.label]) for rule in self.model_.rules]

    @if_counted("rule_counts", "rule_counts_")
    @in_batches("ndarray of float64, shape (n, n_classes)")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the shares of the classes among the rows of the deciding rule, estimated from noisy counts.

        The label of `predict` has the largest share.
        """
        return self._released_model().shares(self._read_rows(X))

    @if_counted("rule_counts", "rule_counts_")
    @in_batches("ndarray of float64, shape (n,) for two classes, else (n, n_classes)")
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the logarithms of `predict_proba`; for two classes, the second minus the first."""
        return decisions(self._released_model().log_odds(self._read_rows(X)))

    @if_counted("rule_counts", "rule_counts_")
    def rule_worth(self, confidence: float = 0.95) -> list[Any]:
        """Return the support and the precision of each rule, estimated from noisy counts.

        Parameters
        ----------
        confidence : float in (0, 1)
            Each interval holds with at least this probability. The interval of the support is about the training rows,
            that of the precision about the population from which they were sampled. The rules were chosen for the same
            rows, which makes them look slightly better than they are.

        Returns
        -------
        list of RuleWorth(support, support_interval, precision, precision_interval)
        """
        return self._released_model().worth(1 - BETWEEN_0_AND_1.read("confidence", confidence))

    def explain(self, X: Any) -> RuleExplanation:
        """Return the rule that decides each row, and which conditions of the rules before it do not hold.

        Parameters
        ----------
        X : table of a kind that `fit` takes, in memory, shape (n, d)

        Returns
        -------
        dpfast.learners.lists.explained.RuleExplanation
        """
        return explain_rules(self, X)

    def to_text(self, feature_names: Sequence[str] | None = None) -> str:
        """Return the list as text: a line for each rule, and for each column of which something was discovered.

        Parameters
        ----------
        feature_names : sequence of str, shape (n_features_in_,), optional
            Names to use instead of `feature_names_in_` or x0, x1, ...

        Returns
        -------
        str
        """
        from dpfast.report.text import as_text, lines_of_discovery, names_of

        check_is_fitted(self)
        if feature_names is None:
            feature_names = names_of(self)
        elif len(feature_names) != self._reader.width:
            raise ValueError(f"feature_names must number {self._reader.width}, got {len(feature_names)}")

        text = as_text(self.rules_, feature_names, self.rule_worth() if hasattr(self, "rule_counts_") else None)
        return "\n".join([text, *lines_of_discovery(getattr(self, "encoder_", None))])

    def __str__(self):
        return self.to_text() if self.__sklearn_is_fitted__() else super().__str__()


@dataclass(frozen=True)
class Columns(Bits):
    """Rows of bits that are read column by column: those of codes are not unpacked, and few ones keep their places."""

    packs: bool = False

    def coded(self, X: Any) -> Any:
        return CodeBits(X) if isinstance(X, CodeTable) else X

    def rows(self, X: Any) -> Any:
        return packed_rows(X, self.threshold, packs=self.packs)


def _counts(noise, size):
    """Return the release of at most so many counts with this noise."""
    return Proved(noise.kind, noise.scale, size=size, steps=UNIT if noise.gaussian else 1)


def _noise(release):
    """Return the noise of counts that were planned by `_counts`."""
    return CountNoise(release.mechanism == "gaussian", release.noise)


def _close_list(rules):
    """Return the rules of a list; one that was interrupted ends with the first class."""
    return tuple(rules) if rules and not rules[-1].literals else (*rules, Rule((), 0))
