"""Kernels under what fits and what does not, beside their twins: `python tests/faults/fuzz_kernels.py --calls 1000000`.

For the sanitizers build with DPFAST_DEBUG=1 and put libasan first, as docs/development.md says. A call that gives
another result than its twin, or fails otherwise than by a refusal, is printed, one of a kind, with the seed that
repeats it, and makes the script end with 1.
"""

import argparse
import collections
import contextlib
import faulthandler
import random
import resource
import sys
import time
import traceback

import twins_packed
import twins_reals
from fuzz import Fuzz, Stop

_LONG = 300  # seconds after which a trial does not end
TRIALS = twins_packed.TRIALS + twins_reals.TRIALS


def tried(trial, seed):
    """The Fuzz after one trial."""
    fuzz = Fuzz(random.Random(seed))
    with contextlib.suppress(Stop):
        trial(fuzz)
    return fuzz


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=10**6)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of the processor; whichever ends first")
    parser.add_argument("--seed", type=int, default=0, help="of the first trial")
    parser.add_argument("--trial", choices=[trial.__name__ for trial in TRIALS], help="this one only")
    asked = parser.parse_args()
    chosen = [trial for trial in TRIALS if asked.trial in (None, trial.__name__)]
    calls, refused, seed, faults = collections.Counter(), 0, asked.seed, set()
    while calls.total() < asked.calls and time.process_time() < asked.seconds:
        for trial in chosen:
            faulthandler.dump_traceback_later(_LONG, exit=True)
            try:
                fuzz = tried(trial, seed)
            except Exception as error:
                at = tuple(frame.lineno for frame in traceback.extract_tb(error.__traceback__)[-3:])
                if at not in faults:
                    faults.add(at)
                    traceback.print_exc()
                    print(f"repeat it with --trial {trial.__name__} --seed {seed} --calls 1", flush=True)
                continue
            calls[trial.__name__] += fuzz.calls
            refused += fuzz.refused
        seed += 1
    for name, number in calls.items():
        print(f"{name:16} {number:9,} calls")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{calls.total():,} calls, {refused:,} of them refused, {len(faults)} kinds of fault")
    print(f"seeds {asked.seed} to {seed - 1}, {time.process_time():.0f} s of the processor, {most} MB")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
