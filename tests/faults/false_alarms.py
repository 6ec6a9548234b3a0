"""Whether `check_private_estimator` finds fault with a learner of dpfast, for one seed after another.

    python tests/faults/false_alarms.py --seeds 1-50             the check, with other noise for each seed
    python tests/faults/false_alarms.py --seeds 1-50 --random    the replays of random tables that `thorough=True` adds
    python tests/faults/false_alarms.py --learners list winnow   some of the learners of `tests/testing/test_checks.py`

It prints each alarm, and in the end their number: 0 is wanted. Each takes about a minute of processor time for a seed.
"""

import argparse
import sys
import time
import traceback
import warnings
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "testing")]

import test_checks  # noqa: E402

from dpfast.testing import check_private_estimator, checks  # noqa: E402


def main():
    """Check all learners for all seeds; return the number of alarms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1-5")
    parser.add_argument("--learners", nargs="*", default=list(test_checks.LEARNERS))
    parser.add_argument("--random", action="store_true")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split("-"))
    warnings.simplefilter("ignore")
    checked = alarms = 0
    for seed in range(first, last + 1):
        checks._SEED = seed
        for name in options.learners:
            start = time.process_time()
            try:
                if options.random:
                    checks.check_random_tables(test_checks.LEARNERS[name], seed)
                else:
                    check_private_estimator(test_checks.LEARNERS[name])
            except Exception:
                alarms += 1
                print(f"alarm: {name}, seed {seed}\n{traceback.format_exc()}", flush=True)
            checked += 1
            print(f"{name}, seed {seed}: {time.process_time() - start:.1f} s", flush=True)
    print(f"{checked} checks, {alarms} alarms")
    return alarms


if __name__ == "__main__":
    sys.exit(main() > 0)
