"""Rows explained by a decision list: the rule that decides each, and the conditions of all rules that hold for it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfast.base.batches import refuse_collections
from dpfast.base.explained import Explanation, columns_of, names_of, refuse_many
from dpfast.base.model import decisions
from dpfast.kernels import bits, reals
from dpfast.learners.lists.rule import decided
from dpfast.tables.code_bits import CodeBits
from dpfast.tables.codes import CodeTable


@dataclass(frozen=True)
class RuleExplanation(Explanation):
    """The rule of a decision list that decides each row: the first one whose conditions all hold.

    Attributes
    ----------
    names : tuple of str
        Only "rules": a list is no sum over columns.
    joint : dict
        For "rules", the columns that they ask.
    contributions : ndarray of float64, shape (n, 1) for two classes, else (n, k, 1)
        The score without the constant.
    constants : ndarray of float64, shape (n,) or (n, k)
        The mean score of the rules, by the noisy numbers of rows that they decide.
    scores : ndarray of float64, shape (n,) or (n, k)
        Those of the deciding rule, as `decision_function` has them. Without released counts of the rules the score of
        a label is 1, and that of others is 0, or -1 for the first of two classes.
    classes : ndarray, shape (k,)
    fired : ndarray of int64, shape (n,)
        The number of the rule that decides each row, as an index of `conditions`, `labels` and `holds`.
    conditions : tuple of tuple of str
        The conditions of each rule, such as ("age > 37", "not job = clerk"); the last rule has none.
    labels : ndarray, shape (n_rules,)
        The label of each rule.
    holds : tuple of ndarray of bool, shape (n, number of conditions)
        Whether each condition of each rule holds for the rows.
    """

    fired: np.ndarray
    conditions: tuple[tuple[str, ...], ...]
    labels: np.ndarray
    holds: tuple[np.ndarray, ...]

    def passed_over(self, row: int) -> list[tuple[str, ...]]:
        """Return for each rule before the one that decides a row the conditions of it that do not hold.

        Parameters
        ----------
        row : int

        Returns
        -------
        list of tuple of str
            None of them is empty.
        """
        before = zip(self.conditions[: self.fired[row]], self.holds, strict=False)
        return [tuple(c for c, matches in zip(own, holds[row], strict=True) if not matches) for own, holds in before]


def explain_rules(learner: Any, X: Any) -> RuleExplanation:
    """Return the explanation of the rows of X by the rules of a fitted decision list."""
    from dpfast.report.text import literal_text
    from dpfast.report.text import names_of as features_of

    model = learner._released_model()
    refuse_collections(X)
    table = learner._reader.table(X)
    rows, rules = learner._read_rows(table), model.rules
    refuse_many(len(rows) * sum(len(rule.literals) for rule in rules))
    fired = np.empty(len(rows), np.int64)
    for k, mask in enumerate(decided(rules, rows)):
        fired[bits.nonzero(mask)] = k
    features = features_of(learner)
    of_rules = _scores(model, len(learner.classes_))
    sizes = np.ones(len(rules)) if model.counted is None else np.maximum(model.counted.counts.sum(axis=1), 0)
    shares = sizes / sizes.sum() if sizes.any() else np.full(len(rules), 1 / len(rules))
    means = np.array([reals.dot(shares, column) for column in of_rules.T.reshape(-1, len(rules))])
    means = means if of_rules.ndim == 2 else means[0]
    scores = of_rules[fired]
    return RuleExplanation(
        names=("rules",),
        joint={"rules": _columns_of(learner, table, rules)},
        contributions=(of_rules - means)[fired][..., np.newaxis],
        constants=np.broadcast_to(means, scores.shape).copy(),
        scores=scores,
        classes=learner.classes_,
        fired=fired,
        conditions=tuple(tuple(literal_text(each, features) for each in rule.literals) for rule in rules),
        labels=learner.classes_[model.numbers],
        holds=tuple(_holds(rule, rows) for rule in rules),
    )


def _scores(model, classes):
    """Return the score of each rule for the second of two classes, or for each class."""
    if model.counted is not None:
        return decisions(reals.log(model.counted.shares))
    chosen = np.eye(classes)[model.numbers]
    return 2 * chosen[:, 1] - 1 if classes == 2 else chosen


def _holds(rule, rows):
    """Return whether each literal of a rule holds for each row: bool, shape (n, number of literals)."""
    packed = [np.ascontiguousarray(rows.column(literal.feature))[np.newaxis] for literal in rule.literals]
    matches = [bits.unpack(column, len(rows))[0].astype(bool) for column in packed]
    negated = np.array([literal.negated for literal in rule.literals], bool)
    return np.stack(matches, axis=1) ^ negated if matches else np.empty((len(rows), 0), bool)


def _columns_of(learner, table, rules):
    """Return the names of the columns that rules ask, in the order of the table."""
    features = sorted({literal.feature for rule in rules for literal in rule.literals})
    if isinstance(table, CodeTable):
        names, of = names_of(table), CodeBits(table).spans[:, 0]
        return tuple(dict.fromkeys(names[of[j]] for j in features))
    names = columns_of(learner, learner._reader.width)
    return tuple(names[j] for j in features)
