"""What a progress bar tells: rows a second, and bytes of parts, only where the number of rows is public."""

import io

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
def test_rows_a_second_are_told_where_their_number_is_public_and_bytes_where_parts_send(learner, parted, monkeypatch):
    told = {}
    monkeypatch.setattr(rich.progress, "get_console", lambda: console)
    for neighbors in ("replace", "add-remove"):
        console = rich.console.Console(file=io.StringIO(), force_terminal=True, width=200)
        table = (MemoryParts([(X[:50], X[:50, 0]), (X[50:], X[50:, 0])]),) if parted else (X, X[:, 0])
        learner.set_params(neighbors=neighbors, verbose=True, random_state=0).fit(*table)
        told[neighbors] = console.file.getvalue()
    assert "rows/s" in told["replace"]
    assert "rows/s" not in told["add-remove"]
    assert ("bytes a round" in told["replace"]) == parted
    assert "bytes" not in told["add-remove"]  # they tell an empty part from one with a row
