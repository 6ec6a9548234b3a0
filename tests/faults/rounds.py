"""The tests of faults again and again, each time otherwise: `python tests/faults/rounds.py kills --seconds 600`.

Prints how many files were damaged, hostile inputs read or processes killed, after every round. A test that fails ends
it, with the seed of its round.
"""

import argparse
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import test_corruption
import test_hostile
import test_kills


def corruption(rng, many, folder):
    yield from (partial(test_corruption.test_a_damaged_model_is_refused_or_is_the_same, kind, folder, rng, many)
                for kind in test_corruption.KINDS)  # fmt: skip
    for ending in (".toml", ".json"):
        yield partial(test_corruption.test_a_damaged_schema_is_refused_or_declares_something, ending, folder, rng, many)
    stream = test_corruption.new_checkpoint(folder)
    yield partial(test_corruption.test_a_damaged_checkpoint_is_refused, stream, rng, many)
    with tempfile.TemporaryDirectory(dir=folder) as own:
        yield partial(test_corruption.test_a_damaged_ledger_is_refused_or_tells_the_same, Path(own), rng, many)


def hostile(rng, many, folder):
    test_hostile.read_all(folder)
    for name, content in test_hostile.seeds():
        yield partial(test_hostile.test_a_damaged_table_is_refused_or_read, name, content, folder, rng, many)


def kills(rng, many, folder):
    for test in (
        test_kills.test_a_killed_stream_goes_on_after_the_last_call_that_returned,
        test_kills.test_what_a_killed_stream_leaves_is_private_before_it_is_cleared_away,
        test_kills.test_a_killed_save_leaves_one_model_or_the_other,
        test_kills.test_a_killed_ledger_holds_every_charge_that_returned_and_at_most_one_more,
    ):
        with tempfile.TemporaryDirectory(dir=folder) as own:
            yield partial(test, Path(own), rng, many)
    with tempfile.TemporaryDirectory(dir=folder) as own, pytest.MonkeyPatch.context() as patch:
        yield partial(test_kills.test_a_killed_fit_leaves_no_file, Path(own), rng, many, patch)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["corruption", "hostile", "kills"])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    tried, seed, end = 0, asked.seed, time.monotonic() + asked.seconds

    def many(some, number):
        nonlocal tried
        tried += some
        return some

    while time.monotonic() < end:
        with tempfile.TemporaryDirectory() as folder:
            for test in globals()[asked.what](np.random.default_rng(seed), many, Path(folder)):
                try:
                    test()
                except BaseException:
                    print(f"in the round of seed {seed}: {test.func.__name__} {test.args[:1]}", flush=True)
                    raise
        seed += 1
        print(f"{tried:,} {asked.what}, rounds {asked.seed} to {seed - 1}", flush=True)


if __name__ == "__main__":
    main()
