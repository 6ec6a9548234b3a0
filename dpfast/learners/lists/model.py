"""Decision lists as they were released: rules, and noisy counts of the rows that each decides."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dpfast.base.model import FloatArray, IntArray, Model
from dpfast.base.parameters import choice, flag
from dpfast.base.plan import Task
from dpfast.base.saving import fraction, integer
from dpfast.base.saving import reals as finite
from dpfast.kernels import bits, reals
from dpfast.learners.lists.rule import KINDS, CountNoise, Literal, Rule, RuleWorth, decided, worth
from dpfast.learners.probabilities import class_counts_from, class_shares, reliability

_LEAST = float(np.finfo(float).tiny)  # of shares, whose logarithms are taken


@dataclass(frozen=True)
class RuleCounts:
    """Noisy counts of the rows that each rule decides, and the shares that are estimated from them.

    Attributes
    ----------
    counts : ndarray of int64, shape (n_rules, n_classes)
    noise : CountNoise
    shares : ndarray of float64, shape (n_rules, n_classes)
    """

    counts: IntArray
    noise: CountNoise
    shares: FloatArray

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleCounts) and (
            self.noise == other.noise
            and np.array_equal(self.counts, other.counts)
            and np.array_equal(self.shares, other.shares)
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class ListModel(Model):
    """A decision list: the label of each rule is the number of a class. The last rule has no literals."""

    rules: tuple[Rule, ...]
    counted: RuleCounts | None = None

    def check(self) -> None:
        if not self.rules or self.rules[-1].literals:
            raise ValueError("the last of the rules must be a default")

    @property
    def numbers(self) -> list[int]:
        """Return the number of the class of each rule."""
        return [int(rule.label) for rule in self.rules]

    def classify(self, rows: Any) -> IntArray:
        predicted = np.empty(len(rows), np.int64)
        for rule, mask in zip(self.rules, decided(self.rules, rows), strict=True):
            predicted[bits.nonzero(mask)] = rule.label
        return predicted

    def shares(self, rows: Any) -> FloatArray:
        """Return the shares of the classes among the rows of the rule that decides each row, shape (n, n_classes)."""
        assert self.counted is not None
        shares = np.empty((len(rows), self.counted.shares.shape[1]))
        for share, mask in zip(self.counted.shares, decided(self.rules, rows), strict=True):
            shares[bits.nonzero(mask)] = share
        return shares

    def log_odds(self, rows: Any) -> FloatArray:
        return reals.log(self.shares(rows))

    def worth(self, failure: float) -> list[RuleWorth]:
        """Return the support and the precision of each rule; an interval fails with at most this probability."""
        assert self.counted is not None
        counts, noise, _ = vars(self.counted).values()
        return [worth(row, own, noise, failure) for row, own in zip(counts, self.numbers, strict=True)]

    def reliability(self, classes: np.ndarray) -> list[Any]:
        if self.counted is None:
            return []
        counts, noise, shares = vars(self.counted).values()
        return reliability(counts, np.array(self.numbers), classes, noise.deviation / math.sqrt(2), shares)

    def attributes(self) -> dict[str, Any]:
        if self.counted is None:
            return {}
        counts, noise, shares = vars(self.counted).values()
        return {
            "rule_counts": counts,
            "rule_counts_noise": noise.kind,
            "rule_counts_scale": noise.scale,
            "rule_shares": shares,
        }

    def to_dict(self) -> Any:
        rules = [[[list(literal) for literal in rule.literals], int(rule.label)] for rule in self.rules]
        if self.counted is None:
            return rules
        counts, noise, shares = vars(self.counted).values()
        counted = {"counts": counts.tolist(), "scale": str(noise.scale)}
        return {"rules": rules, **counted, "noise": noise.kind, "shares": shares.tolist()}

    @classmethod
    def of_file(cls, saved: Any, task: Task) -> Self:
        """Return the model of a file; refuse what no list of such a task could be."""
        last_feature, last_class, sign = task.n_columns - 1, task.n_classes - 1, flag()
        rules = tuple(
            Rule(
                tuple(Literal(integer(j, 0, last_feature), sign.read("negated", negated)) for j, negated in literals),
                integer(label, 0, last_class),
            )
            for literals, label in (saved["rules"] if isinstance(saved, dict) else saved)
        )
        model = cls(rules)
        if not isinstance(saved, dict):
            return model
        counts = class_counts_from(saved["counts"], len(rules), task.n_classes)
        kind = choice(*KINDS).read("noise", saved.get("noise", KINDS[0]))
        noise = CountNoise(kind == KINDS[1], fraction(saved["scale"]))
        shares = class_shares(counts, model.numbers)
        if "shares" in saved:  # a model of version 0.1 has none
            shares = np.stack([finite(each, task.n_classes) for each in saved["shares"]])
            if len(shares) != len(rules) or not ((shares >= _LEAST) & (shares <= 1)).all():
                raise ValueError(f"wanted shares of the classes above 0 for each of {len(rules)} rules")
            if (shares.argmax(axis=1) != model.numbers).any():
                raise ValueError("the largest share of a rule is not that of its label")
        return cls(rules, RuleCounts(counts, noise, shares))
