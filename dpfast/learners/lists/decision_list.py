"""Decision lists, learned privately by greedy cover."""

import math
from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from dpfast.accounting import cover_epsilon
from dpfast.accounting.numbers import exact
from dpfast.kernels import bits, reals
from dpfast.learners.base import PrivateClassifier, packed_rows
from dpfast.learners.batches import in_batches
from dpfast.learners.lists.covering import (
    HIGHEST,
    LENGTHS,
    MANY,
    REACH,
    Conditions,
    check_memory,
    constant_weights,
    falling_weights,
    greedy_cover,
    usual_length,
)
from dpfast.learners.lists.plan import WEIGHT_STEPS, ListShares, class_weights, released
from dpfast.learners.lists.rule import (
    KINDS,
    CountNoise,
    Literal,
    Rule,
    class_counts,
    class_sizes,
    decided,
    shrunk_shares,
    worth,
)
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
from dpfast.learners.saving import reals as finite
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
    rules after it, which no row can reach, are dropped. The sizes of two classes and the class counts of the rules have
    discrete Gaussian noise on disjoint cells. They are on one bill with the rules (`dpfast.learners.lists.plan`), and
    together all are (epsilon, delta)-DP. For delta = 0, epsilon above 10 or the paper's constants, their noise
    is discrete Laplace noise, and they get shares of epsilon by basic composition.

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

    _model = "decision-list"
    _reads_parts = True
    _of_vectors = ("threshold", "conjunctions")
    delta: float = field(default=1e-6, kw_only=False, metadata=described(real(0, 1, "[)")))
    coverage_weight: float | str = parameter("auto", auto(real(0, 1)))
    max_rules: int | str | None = parameter("auto", auto(optional(count(1))))
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
        longest = self._longest(p, self._known(public.n_rows) if p.survey is None else p.source.public.get("n"))
        rounds, known = conditions.rounds(longest), len(public.classes)
        if p.rows_per_unit > 1 and p.accounting == "paper":
            raise ValueError('accounting="paper" is for one row: rows_per_unit must be 1')
        shares = self._shares(p)
        if p.survey is not None and p.survey.noise:
            plan = shares.read(p.survey.noise, p.survey.total, longest, p.rows_per_unit)
            plan = plan if known == 2 else plan._replace(sizes=None)
        else:
            plan = shares._replace(weighs=shares.weighs and known == 2).solve(rounds, p.rows_per_unit)
        prior = -(-conditions.candidates // 4) if p.default_prior == "auto" else p.default_prior

        def scored(n, weights):
            """Return the counts of a run for this number of rows, if it is known, and the weights of the draws."""
            many = n is not None and plan.exponent * n >= MANY * math.log(conditions.candidates or 1)
            draws, unit = falling_weights(rounds, HIGHEST[many]) if p.falls else constant_weights(p.coverage_weight)
            each = plan.exponent / unit / (1 if weights is None else WEIGHT_STEPS)
            return conditions.counts(parts, public, rounds, each, draws, prior, weights), draws

        weights, n = None, self._known(public.n_rows)
        if plan.sizes is None:
            state, draws = scored(n, None)
        counting = {f"rule counts ({self.rule_counts:g} of the bill)": 1} if plan.counts else {}
        sizing = {"class sizes": 1} if plan.sizes else {}
        run.charge(public, plan.cost, learns=True, **sizing, rules=rounds, **counting)
        if plan.sizes is not None:
            noisy = released(parts.sum(class_sizes, known), plan.sizes, run.rng)
            run.used["class sizes"] += 1
            weights = class_weights(noisy, plan.sizes)
            if weights is not None:
                rare, often = public.classes[np.argsort(weights)[::-1]]
                run.notes.append(
                    f"The class {str(rare)!r} is rare by the released sizes: in the scores of rules, a row of "
                    f"{str(often)!r} counts {min(weights) / WEIGHT_STEPS:.2g}."
                )
            state, draws = scored(int(noisy.sum()) if n is None else n, weights)
        claim = Claim(float(p.rows_per_unit * plan.exponent * p.moves), plan.rules_cost)
        drawn, numbers = greedy_cover(state, rounds, run.rng, claim), []
        for feature, negated, label in self._shown(drawn, "rules", parts, public, rounds):
            run.release("rules", Rule(conditions.literals(feature, negated), public.classes[label]))
            numbers.append(label)
        for name in counting:
            noisy = released(parts.sum(class_counts, tuple(run.released), known), plan.counts, run.rng)
            if weights is None:
                shares = class_shares(noisy, numbers)
            else:
                bars = [e / (c + e) for c, e in draws[: len(numbers) - 1]]
                shares = shrunk_shares(noisy, numbers, [*bars, 0.5], weights, plan.counts.deviation)
                relabelled = zip(run.released, shares.argmax(axis=1), strict=True)
                run.released[:] = [rule._replace(label=public.classes[number]) for rule, number in relabelled]
            run.attributes.update(rule_counts_=noisy, rule_shares_=shares)
            run.attributes.update(rule_counts_scale_=plan.counts.scale, rule_counts_noise_=plan.counts.kind)
            run.release(name)

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
        probabilities = np.empty((len(table), len(self.classes_)))
        for share, rows in zip(self.rule_shares_, decided(self.rules_, table), strict=True):
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
            worth(row, own, self._count_noise(), failure) for row, own in zip(self.rule_counts_, numbers, strict=True)
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
        from dpfast.report.text import as_text, lines_of_discovery, names_of

        check_is_fitted(self)
        if feature_names is None:
            feature_names = names_of(self)
        elif len(feature_names) != self._width:
            raise ValueError(f"feature_names must number {self._width}, got {len(feature_names)}")

        text = as_text(self.rules_, feature_names, self.rule_worth() if hasattr(self, "rule_counts_") else None)
        return "\n".join([text, *lines_of_discovery(getattr(self, "encoder_", None))])

    def __str__(self):
        return self.to_text() if self.__sklearn_is_fitted__() else super().__str__()

    def _checked(self, X=None, y=None, units=None):
        p = super()._checked(X, y, units)
        p.falls = p.coverage_weight == "auto"
        p.coverage_weight = REACH if p.falls else Fraction(float(p.coverage_weight)).limit_denominator(1000)
        p.curve = {"coverage_weight": p.coverage_weight, "neighbors": p.neighbors, "accounting": p.accounting}
        cover_epsilon(0, p.delta, max_rounds=self._longest(p, None), **p.curve)  # refuses invalid values
        p.moves = (1 + p.coverage_weight) * changed_rows(p.neighbors)  # of a draw's scores, by one row
        shares = self._shares(p)
        if shares.counts and not shares.joint:  # refuses shares that ask for too much noise
            noise_scale(shares.counts * exact("epsilon", p.epsilon), p.neighbors)
        return p

    def _shares(self, p):
        """Return the public parameters of the plan; sizes weigh classes only if counts choose the labels of rules."""
        counts, falls = exact("rule_counts", p.rule_counts), self.coverage_weight == "auto"
        weight = REACH if falls else Fraction(float(self.coverage_weight)).limit_denominator(1000)
        return ListShares(p.epsilon, p.delta, p.neighbors, weight, p.accounting, counts, falls and bool(counts))

    def _spends(self, p):
        shares = self._shares(p)
        longest = self._longest(p, p.source.public.get("n"))
        if longest is None or not shares.joint:
            return super()._spends(p)
        return "parts", 0, shares.parts(longest, p.rows_per_unit)

    def _longest(self, p, n):
        """Return the largest number of rules, or None, for a public number of rows; n is None if it is private."""
        if p.max_rules != "auto":
            return p.max_rules
        return usual_length(self._shares(p).alone(LENGTHS[0], p.rows_per_unit), n)

    def _numbers_of_labels(self):
        """Return the number of the class of each rule."""
        return np.searchsorted(self.classes_, [rule.label for rule in self.rules_])

    def _reliability(self):
        if not hasattr(self, "rule_counts_"):
            return []
        numbers, deviation = self._numbers_of_labels(), self._count_noise().deviation
        return reliability(self.rule_counts_, numbers, self.classes_, deviation / math.sqrt(2), self.rule_shares_)

    def _count_noise(self):
        return CountNoise(self.rule_counts_noise_ == KINDS[1], self.rule_counts_scale_)

    def _released(self):
        numbers = self._numbers_of_labels().tolist()
        rules = [
            [[list(literal) for literal in rule.literals], number]
            for rule, number in zip(self.rules_, numbers, strict=True)
        ]
        if not hasattr(self, "rule_counts_"):
            return rules
        counted = {"counts": self.rule_counts_.tolist(), "scale": str(self.rule_counts_scale_)}
        return {"rules": rules, **counted, "noise": self.rule_counts_noise_, "shares": self.rule_shares_.tolist()}

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
            self.rule_counts_noise_ = choice(*KINDS).read("noise", released.get("noise", KINDS[0]))
            numbers = self._numbers_of_labels()
            self.rule_shares_ = class_shares(self.rule_counts_, numbers)
            if "shares" in released:  # a model of version 0.1 has none
                self.rule_shares_ = np.stack([finite(each, len(self.classes_)) for each in released["shares"]])
                if len(self.rule_shares_) != len(self.rules_) or not (self.rule_shares_ > 0).all():
                    raise ValueError(f"wanted positive shares of the classes for each of {len(self.rules_)} rules")
                if (self.rule_shares_.argmax(axis=1) != numbers).any():
                    raise ValueError("the largest share of a rule is not that of its label")
