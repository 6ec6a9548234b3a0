"""Fits on four threads under the thread sanitizer: every kernel that learners put on the pool, and one shared budget.

    CC=gcc CFLAGS="-fsanitize=thread -g -O1" LDFLAGS=-fsanitize=thread python setup.py build_ext --inplace
    DPFAST_THREADS=4 LD_PRELOAD=$(gcc -print-file-name=libtsan.so) python tests/faults/threads.py

in a checkout of its own. The sanitizer prints a race where it sees one; `--race` makes one, to see that it does.
"""

import sys
import threading
import warnings

import numpy as np
import scipy.sparse as sp

import dpfast
from dpfast.kernels import unit_rows

ROWS = 60_000
LINEAR = {
    "HalfspaceClassifier": {"n_rounds": 5},
    "BoostedHalfspaceClassifier": {"n_rounds": 3},
    "ProjectedHalfspaceClassifier": {"margin": 0.3, "n_components": 64, "n_rounds": 3},
    "DPWinnowClassifier": {},
}


def together(task, threads=4):
    """Run a task on so many threads at once."""
    started = [threading.Thread(target=task) for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


def fits(rng):
    """Learners on the pool, on every form of a table."""
    X = rng.random((ROWS, 120)) < 0.3
    y, bits = X[:, 0] | X[:, 3], dpfast.BitMatrix(X)
    for form in (bits, sp.csr_matrix(X.astype(np.float32)), X.astype(np.float32)):
        for name, settings in LINEAR.items():
            getattr(dpfast, name)(random_state=0, **settings).fit(form, y).predict(form)
            print(type(form).__name__, name, flush=True)
    codes = dpfast.CodeTable(rng.integers(0, 40, (ROWS, 30)).astype(np.uint8), [40] * 30)
    dpfast.HalfspaceClassifier(n_rounds=5, random_state=0).fit(codes, y).predict(codes)
    for table in (bits, codes):
        dpfast.DecisionListClassifier(max_rules=4, random_state=0).fit(table, y).predict_proba(table)
    budget = dpfast.accounting.Budget(100.0, 1e-3)
    together(lambda: dpfast.DecisionListClassifier(0.1, 1e-6, budget=budget).fit(bits, y))
    print(f"four fits at once have spent {budget.spent}")


def race():
    """Threads that add to one array, which no learner does."""
    rows = unit_rows.Dense(np.ones((ROWS, 8), np.float32))
    scales, weights, total = unit_rows.scales(rows), np.ones(ROWS, np.int32), np.zeros(9, np.int64)
    together(lambda: unit_rows.add(total, rows, scales, weights))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    race() if "--race" in sys.argv else fits(np.random.default_rng(0))
