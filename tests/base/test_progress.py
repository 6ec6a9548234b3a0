"""What a progress bar tells: rows a second, only where the number of rows is public."""

import io
import re

import numpy as np
import pytest
import rich.console
import rich.progress

import dpfast
from dpfast.parts import MemoryParts

X = np.random.default_rng(0).random((90, 3)) < 0.5
LEARNERS = [
    dpfast.BoostedHalfspaceClassifier(n_rounds=3),
    dpfast.DPWinnowClassifier(n_updates=3),
    dpfast.DecisionListClassifier(max_rules=3),
    dpfast.HalfspaceClassifier(n_rounds=3),
    dpfast.ProjectedHalfspaceClassifier(n_rounds=3),
]


@pytest.mark.parametrize("parted", [False, True])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_rows_a_second_are_told_where_their_number_is_public(learner, parted, monkeypatch):
    told = {}
    monkeypatch.setattr(rich.progress, "get_console", lambda: console)
    for neighbors in ("replace", "add-remove"):
        console = rich.console.Console(file=io.StringIO(), force_terminal=True, width=200)
        table = (MemoryParts([(X[:50], X[:50, 0]), (X[50:], X[50:, 0])]),) if parted else (X, X[:, 0])
        learner.set_params(neighbors=neighbors, verbose=True, random_state=0).fit(*table)
        told[neighbors] = console.file.getvalue()
    assert "rows/s" in told["replace"]
    assert "rows/s" not in told["add-remove"]


def test_the_bar_of_a_list_does_not_tell_when_its_rules_cover_all_rows(monkeypatch):
    X, told = np.zeros((90, 12), bool), []
    X[:, 0] = True
    other = X.copy()
    other[0, 0] = False
    learner = dpfast.DecisionListClassifier(
        epsilon=300, max_rules=6, default_prior=0, negations=False, verbose=True, random_state=0
    )
    for table in (X, other):
        console = rich.console.Console(file=io.StringIO(), force_terminal=True, width=200)
        monkeypatch.setattr(rich.progress, "get_console", lambda console=console: console)
        learner.fit(MemoryParts([(table[:50], X[:50, 0]), (table[50:], X[50:, 0])]), classes=[False, True])
        *_, last, _ = re.split(r"[\r\n]", console.file.getvalue())  # as the bar looks when it ends
        told.append(re.sub(r"[\d,]+ rows/s|\d:\d\d:\d\d", "", last))
    assert told[0] == told[1]
