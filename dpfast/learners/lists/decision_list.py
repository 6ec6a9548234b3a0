"""Decision lists, learned privately by greedy cover."""

from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from dpfast.accounting import Cost, CoverDraws, cover_epsilon, cover_exponent
from dpfast.accounting.claims import pair_cost
from dpfast.accounting.numbers import decimal_above, exact
from dpfast.kernels import bits, reals
from dpfast.learners.base import PrivateClassifier, packed_rows
from dpfast.learners.batches import in_batches
from dpfast.learners.lists.covering import (
    REACH,
    Conditions,
    check_memory,
    constant_weights,
    falling_weights,
    greedy_cover,
)
from dpfast.learners.lists.rule import Literal, Rule, class_counts, decided, worth
from dpfast.learners.parameters import (
    BETWEEN_0_AND_1,
    auto,
    changed_rows,
    choice,
    count,
    described,
    estimator,
    flag,
    noise_scale,
    optional,
    parameter,
    real,
)
from dpfast.learners.probabilities import class_counts_from, class_shares, if_counted, reliability
from dpfast.learners.saving import fraction, integer
from dpfast.mechanisms import discrete_laplace
from dpfast.mechanisms.draws import Claim
from dpfast.tables import CodeTable
from dpfast.tables.code_bits import CodeBits

_LARGEST_PRIOR = 1 << 53  # of the kernel


@estimator
class DecisionListClassifier(PrivateClassifier):
    """Private decision list by greedy cover [BF, section 3]_.

    **Privacy.** The released list, including its length, is (epsilon, delta)-DP for the relation `neighbors`. One row
    changes the score of a candidate only while the row is uncovered, and only if the candidate's literals cover it: by
    at most +g if the label is right, where g is the coverage weight or 1/2, and by -1 if it is wrong.
    `dpfast.accounting.curves` derives a bound for a whole run with this number of rounds, and `cover_exponent` inverts
    it. The number of rounds is fixed in advance: `max_rules`, or the number of features plus one if that is less. The
    constant true is a candidate whose mass does not depend on the data, and it is the last rule at the latest; only
    rules after it, which no row can reach, are dropped. With `rule_counts` = c the list is ((1 - c) epsilon, delta)-DP,
    and the class counts of its rules, with discrete Laplace noise on disjoint cells, are (c epsilon, 0)-DP
    (`dpfast.learners.probabilities`): together they are (epsilon, delta)-DP by basic composition.

    Parameters
    ----------
    delta : float, default=1e-6
        In [0, 1); choose it well below 1 / n for n rows. 0 is pure differential privacy, and pays for few rules only.
    coverage_weight : float in [0, 1] or "auto", default="auto"
        A number gives score = coverage_weight * correct - errors in every draw, which is positive for a rule that is
        right for more than a share 1 / (1 + coverage_weight) of its rows; it is rounded to the nearest fraction with a
        denominator of at most 1000. 0 is the paper's choice: a rule must be right for all of its rows. With "auto" the
        required share decreases from .85 for the first rule to .55 for the last one (`dpfast.learners.lists.covering`).
    max_rules : int or None, default=10
        The length of the longest list, including the default rule. With fewer rules each gets a larger exponent. None
        allows one rule per feature.
    default_prior : int or "auto", default="auto"
        The number of candidates that the constant true counts for, with each label; at most 2**53. "auto" is a quarter
        of the number of literals: once no row remains, every further round ends the list with probability at least one
        fifth. 0 makes the constant true the last rule only.
    conjunctions : int, default=1
        The largest number of literals in a condition; conditions are all conjunctions of so many literals or fewer.
    negations : bool, default=True
        Whether "not x" is a literal too.
    rule_counts : float in [0, 1), default=0.05
        Share of epsilon for noisy class counts of the rows that each rule decides, released with the list. They are
        used by `rule_worth`, `predict_proba` and `decision_function`; 0 releases none.
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
    rule_counts_scale_ : Fraction
        The scale of that noise: P(x) is proportional to exp(-abs(x) / scale). It does not depend on the rows.

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

    _model = "decision-list"
    _reads_parts = True
    delta: float = field(default=1e-6, kw_only=False, metadata=described(real(0, 1, "[)")))
    coverage_weight: float | str = parameter("auto", auto(real(0, 1)))
    max_rules: int | None = parameter(10, optional(count(1)))
    default_prior: int | str = parameter("auto", auto(count(0, _LARGEST_PRIOR)))
    conjunctions: int = parameter(1, count(1))
    negations: bool = parameter(True, flag())
    rule_counts: float = parameter(0.05, real(0, 1, "[)"))
    threshold: ArrayLike | None = parameter(0.0)
    accounting: str = parameter("curve", choice("curve", "paper"))

    def _learn(self, table, p, run):
        image = partial(packed_rows, threshold=self.threshold, packs=p.conjunctions > 1)
        parts, rows, public = self._asked(table, image)
        if p.conjunctions > 1:
            known = None if parts.only is None else self._known(public.n_rows)  # workers have memory of their own
            check_memory(known, rows.shape[1], p.conjunctions, p.negations)
        conditions = Conditions(rows, p.conjunctions, p.negations)
        rounds = conditions.rounds(p.max_rules)
        prior = -(-conditions.candidates // 4) if p.default_prior == "auto" else p.default_prior
        if p.survey is not None and p.survey.noise:
            exponent, cost = Fraction(p.survey.noise[0]), [each for each in p.survey.total if each.kind == "cover"]
        else:
            whole = cover_exponent(p.epsilon_of_rules, p.delta, max_rounds=rounds, **p.curve)
            exponent = Fraction(whole) / p.rows_per_unit
            cost = [pair_cost(decimal_above(p.epsilon_of_rules), p.delta)]
        if p.rows_per_unit > 1 and p.accounting == "paper":
            raise ValueError('accounting="paper" is for one row: rows_per_unit must be 1')
        weights, unit = falling_weights(rounds) if p.falls else constant_weights(p.coverage_weight)
        state = conditions.counts(parts, public, rounds, exponent / unit, weights, prior)
        counting = {f"rule counts ({self.rule_counts:g} of epsilon)": 1} if p.scale else {}
        claim = Claim(float(p.rows_per_unit * exponent * p.moves), tuple(cost))
        cost += [Cost("pure", decimal_above(p.epsilon_of_counts))] if p.scale else []
        run.charge(public, cost, learns=True, rules=rounds, **counting)
        drawn = greedy_cover(state, rounds, run.rng, claim)
        for feature, negated, label in self._shown(drawn, "rules", parts, public, rounds):
            run.release("rules", Rule(conditions.literals(feature, negated), public.classes[label]))
        for name in counting:
            counts = parts.sum(class_counts, tuple(run.released), len(public.classes))
            noisy = discrete_laplace(counts, p.scale, rng=run.rng)
            run.attributes.update(rule_counts_=noisy, rule_counts_scale_=p.scale)
            run.release(name)

    def _spends(self, p):
        if p.accounting == "paper" or p.max_rules is None:
            return super()._spends(p)
        weight = _reach(p.coverage_weight)
        up, down = (weight, 1) if p.neighbors == "add-remove" else (1 + weight, 1 + weight)
        k = p.rows_per_unit
        return "parts", p.rule_counts, (CoverDraws(k * up, k * down, 1, p.max_rules),)

    def _refuse_rows(self, n, p):
        if p.schema is not None and p.conjunctions > 1:
            check_memory(self._known(n), self._most_width(p), p.conjunctions, p.negations)

    def _read_codes(self, X):
        return CodeBits(X) if isinstance(X, CodeTable) else X

    def _bits(self, X):
        return self._read_by_image(X, partial(packed_rows, threshold=self.threshold, packs=False))

    def _publish(self, run):
        self.rules_ = list(run.released)
        if not self.rules_ or self.rules_[-1].literals:  # interrupted
            self.rules_.append(Rule((), self.classes_[0]))

    @in_batches()
    def predict(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        table = self._bits(X)
        predicted = np.empty(len(table), dtype=self.classes_.dtype)
        for rule, rows in zip(self.rules_, decided(self.rules_, table), strict=True):
            predicted[bits.nonzero(rows)] = rule.label
        return predicted

    @if_counted("rule_counts", "rule_counts_")
    @in_batches("ndarray of float64, shape (n, n_classes)")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the shares of the classes among the rows of the deciding rule, estimated from noisy counts.

        The label of `predict` has the largest share.
        """
        check_is_fitted(self)
        table = self._bits(X)
        shares = class_shares(self.rule_counts_, self._numbers_of_labels())
        probabilities = np.empty((len(table), len(self.classes_)))
        for share, rows in zip(shares, decided(self.rules_, table), strict=True):
            probabilities[bits.nonzero(rows)] = share
        return probabilities

    @if_counted("rule_counts", "rule_counts_")
    @in_batches("ndarray of float64, shape (n,) for two classes, else (n, n_classes)")
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the logarithms of `predict_proba`; for two classes, the second minus the first."""
        logs = reals.log(self.predict_proba(X))
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

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
        check_is_fitted(self)
        failure = 1 - BETWEEN_0_AND_1.read("confidence", confidence)
        numbers = self._numbers_of_labels()
        return [
            worth(row, own, self.rule_counts_scale_, failure)
            for row, own in zip(self.rule_counts_, numbers, strict=True)
        ]

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
        from dpfast.report.text import as_text, found_lines, names_of

        check_is_fitted(self)
        if feature_names is None:
            feature_names = names_of(self)
        elif len(feature_names) != self._width:
            raise ValueError(f"feature_names must number {self._width}, got {len(feature_names)}")

        text = as_text(self.rules_, feature_names, self.rule_worth() if hasattr(self, "rule_counts_") else None)
        return "\n".join([text, *found_lines(getattr(self, "encoder_", None))])

    def __str__(self):
        return self.to_text() if self.__sklearn_is_fitted__() else super().__str__()

    def _checked(self, X=None, y=None, units=None):
        p = super()._checked(X, y, units)
        p.falls = p.coverage_weight == "auto"
        p.coverage_weight = _reach(p.coverage_weight)
        p.curve = {"coverage_weight": p.coverage_weight, "neighbors": p.neighbors, "accounting": p.accounting}
        cover_epsilon(0, p.delta, max_rounds=p.max_rules, **p.curve)  # refuses invalid values
        epsilon, share = exact("epsilon", p.epsilon), exact("rule_counts", p.rule_counts)
        p.epsilon_of_counts = share * epsilon
        p.epsilon_of_rules = epsilon - p.epsilon_of_counts
        p.scale = noise_scale(p.epsilon_of_counts, p.neighbors) if share else None
        p.moves = (1 + p.coverage_weight) * changed_rows(p.neighbors)  # of a draw's scores, by one row
        return p

    def _for_units(self, p):
        p.scale = p.scale and noise_scale(p.epsilon_of_counts, p.neighbors, rows_per_unit=p.rows_per_unit)

    def _numbers_of_labels(self):
        """Return the number of the class of each rule."""
        return np.searchsorted(self.classes_, [rule.label for rule in self.rules_])

    def _reliability(self):
        if not hasattr(self, "rule_counts_"):
            return []
        return reliability(self.rule_counts_, self._numbers_of_labels(), self.classes_, self.rule_counts_scale_)

    def _released(self):
        numbers = self._numbers_of_labels().tolist()
        rules = [
            [[list(literal) for literal in rule.literals], number]
            for rule, number in zip(self.rules_, numbers, strict=True)
        ]
        if not hasattr(self, "rule_counts_"):
            return rules
        return {"rules": rules, "counts": self.rule_counts_.tolist(), "scale": str(self.rule_counts_scale_)}

    def _restore(self, released):
        rules = released["rules"] if isinstance(released, dict) else released
        last_feature, last_class, sign = self._width - 1, len(self.classes_) - 1, flag()
        self.rules_ = [
            Rule(
                tuple(Literal(integer(j, 0, last_feature), sign.read("negated", negated)) for j, negated in literals),
                self.classes_[integer(label, 0, last_class)],
            )
            for literals, label in rules
        ]
        if not self.rules_ or self.rules_[-1].literals:
            raise ValueError("the last of the rules must be a default")
        if isinstance(released, dict):
            self.rule_counts_ = class_counts_from(released["counts"], len(self.rules_), len(self.classes_))
            self.rule_counts_scale_ = fraction(released["scale"])


def _reach(coverage_weight):
    """Return the largest weight of a covered row, exactly."""
    return REACH if coverage_weight == "auto" else Fraction(float(coverage_weight)).limit_denominator(1000)
