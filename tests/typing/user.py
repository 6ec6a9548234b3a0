"""What a user writes, for `mypy --strict`: nothing here is Any by accident, and what is wrong is found."""

from pathlib import Path
from typing import Any

import numpy as np

import dpfast
from dpfast import accounting, mechanisms
from dpfast.accounting import Budget, PrivacySpend
from dpfast.tables import Category, Label, Numeric


def schema() -> dpfast.Schema:
    columns = [Numeric("age", 0, 120, edges=8), Category("job", ("clerk", "smith"))]
    return dpfast.Schema(columns, label=Label("buys", ("no", "yes")))


def learn(table: Any, budget: Budget, out: Path) -> np.ndarray:
    model = dpfast.HalfspaceClassifier(epsilon=1.0, delta=1e-6, schema=schema(), budget=budget)
    fitted: dpfast.HalfspaceClassifier = model.fit(table)
    claim: PrivacySpend = fitted.privacy_
    print(claim.epsilon + claim.delta, fitted.terms())
    fitted.save(out)
    fitted.report(str(out.with_suffix(".html")))
    shares: np.ndarray = fitted.predict_proba(table)
    return shares


def values_of_parameters(model: dpfast.BoostedHalfspaceClassifier) -> float:
    values = model._values()  # has the types of the learner's parameters
    print(1.0 + values.density)  # type: ignore[operator]
    return values.epsilon


def others(X: np.ndarray, y: list[str]) -> str:
    rules = dpfast.DecisionListClassifier(0.5, max_rules=None, random_state=np.random.default_rng(0)).fit(X, y)
    winnow = dpfast.DPWinnowClassifier(n_updates=5, feature_range=(0, 1)).partial_fit(X, y, classes=["a", "b"])
    boosted = dpfast.BoostedHalfspaceClassifier(density="auto", n_rounds=10).fit(X, y, classes=["a", "b"])
    predicted: np.ndarray = boosted.predict(X)
    print(predicted.shape, winnow.coef_.sum() + winnow.intercept_)
    table = dpfast.BitMatrix(X, feature_names=["wet", "cold"])
    print(table.rows.nbytes, table.toarray())
    return rules.to_text()


def numbers() -> float:
    sigma: float = accounting.gaussian_sigma(1.0, 1e-6)
    drawn = mechanisms.exponential(np.array([0, 3, 7]), 0.5, size=10, rng=np.random.default_rng(0))
    noisy = mechanisms.discrete_laplace([1, 2], 3.5)
    test = mechanisms.AboveThreshold(10, 1.0)
    fired: bool = test.test(3)
    accuracy = dpfast.metrics.accuracy(["a", "b"], ["a", "b"], epsilon=1.0)
    print(drawn, noisy, fired, accuracy, dpfast.__version__)
    return sigma


print(dpfast.HalfspaceClasifier)  # type: ignore[attr-defined]
dpfast.HalfspaceClassifier(epsilon="one")  # type: ignore[arg-type]
dpfast.DecisionListClassifier(rules=3)  # type: ignore[call-arg]
dpfast.NetHalfspaceClassifier(delta=1e-6)  # type: ignore[call-arg]
Budget(1.0).charge("all")  # type: ignore[arg-type]
