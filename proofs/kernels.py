"""Prove csrc/ with Frama-C: no access out of bounds, no signed overflow, no undefined shift, and contracts.

    python proofs/kernels.py            all of TABLE; prints goals proved and goals for each function
    python proofs/kernels.py FILE ...   the functions of these files of csrc/

The annotations stand in csrc/ beside the words of the headers. The plug-in WP makes goals of them and of every
operation that can fail at run time; CVC4 proves these, and Z3 beside it where CVC4 alone does not. What is proved is
the scalar level: bodies are written once and compiled for each level. kernels/machine.h holds what is assumed of the
compiler and of the generator.

A goal that is not proved, a warning that something was left out, or a number of goals other than TABLE's is an error.

On Debian: apt-get install frama-c-base why3 z3 cvc4
"""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS = int(os.environ.get("PROVER_SECONDS", "60"))  # for each goal; far more than any takes on a machine at rest

# file: function: goals
TABLE = {
    "draw.c": {
        "dpf_fits": 13,
        "dpf_multiply": 8,
        "dpf_draw_below": 24,
        "dpf_draw_below_each": 13,
    },
    "noise.c": {
        "power": 21,
        "exponent": 27,
        "magnitude": 6,
        "chance": 20,
        "widest": 24,
        "dpf_noise_prepare": 44,
        "peel": 16,
        "with_sign": 1,
        "settle": 37,
        "dpf_noise_draw": 53,
    },
    "measure.c": {
        "dpf_measure_range": 23,
        "dpf_measure_count": 16,
        "dpf_measure_split": 45,
    },
    "bits.c": {
        "dpf_bits_popcount": 14,
        "dpf_bits_and": 21,
        "dpf_bits_andnot": 21,
        "dpf_bits_nonzero": 34,
        "dpf_bits_scatter32": 25,
        "dpf_bits_scatter64": 25,
    },
    "classes.c": {"dpf_classes_counts": 27},
    "scores.c": {"place_of": 17},
    "sparse_vector.c": {"dpf_sparse_vector_resume": 5, "dpf_sparse_vector_run": 103},
}

BOTH = {"dpf_draw_below", "peel", "dpf_bits_nonzero"}  # each has a goal that CVC4 alone does not prove

FRAMA_C = (
    "frama-c",
    "-machdep",
    "gcc_x86_64",
    "-cpp-extra-args=-Ikernels -I../csrc -include kernels/machine.h -U__x86_64__ -U__SIZEOF_INT128__",
    "-inline-calls",
    "@inline,-dpf_draw_word,-dpf_multiply,-dpf_fits",
    "-warn-special-float",
    "none",
    "-wp",
    "-wp-rte",
    "-wp-no-pruning",  # takes more time than goals without dead branches save
    "-wp-cache",
    "none",
    "-wp-timeout",
    str(SECONDS),
)
# Warnings that leave nothing out: contracts of builtins beside Frama-C's own, the word whose contract is assumed,
# pointers that do not point to the variables of machine.h, and functions that nothing in TABLE calls.
HARMLESS = re.compile(
    "found two contracts|Ignoring call via function pointer|Memory model hypotheses"
    "|Neither code nor specification for function (dpf_bits_positional_popcount|expm1|fmax|log1p),"
    "|Floating-point constant"
)
FAILED = re.compile(r"\[wp\] \[(?:Failed|Timeout|Unknown|Stepout)\] Goal (\w+)")


def prove(name, function, env):
    """Goals proved, goals, and what is wrong, of one function: with both provers if CVC4 leaves a goal."""
    if function not in BOTH:
        proved, goals, wrong = tried(name, function, "cvc4", env)
        if proved == goals and not wrong:
            return proved, goals, wrong
    return tried(name, function, "cvc4,z3", env)


def tried(name, function, provers, env):
    """The same, with these provers."""
    ran = subprocess.run(
        [*FRAMA_C, "-wp-prover", provers, "-wp-fct", function, f"../csrc/{name}"],
        cwd=HERE,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    said = ran.stdout + ran.stderr
    counted = re.search(r"Proved goals:\s+(\d+) / (\d+)", said)
    if ran.returncode or counted is None:
        return 0, 0, [f"{function}: Frama-C fails\n{said[-2000:]}"]
    wrong = [f"{function}: {goal} is not proved" for goal in FAILED.findall(said)]
    warned = re.findall(r"^\[[\w:-]+\].*?Warning:\s*(.*(?:\n  .*)*)", said, re.MULTILINE)
    wrong += [f"{function}: {' '.join(words.split())}" for words in warned if not HARMLESS.search(words)]
    return int(counted[1]), int(counted[2]), wrong


def main():
    """Exit with what is not proved, or print what is."""
    chosen = {name: TABLE[name] for name in sys.argv[1:] or TABLE}
    wrong, proved, goals = [], 0, 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        config = Path(folder) / "why3.conf"
        env = {**os.environ, "WHY3CONFIG": str(config), "PWD": str(HERE)}  # Frama-C believes PWD
        subprocess.run(["why3", "config", "detect"], env=env, capture_output=True, check=True)
        each = [(name, function) for name, functions in chosen.items() for function in functions]
        for (name, function), (done, all_, bad) in zip(each, pool.map(lambda one: prove(*one, env), each), strict=True):
            print(f"{name:20} {function:28} {done:4} / {all_}", flush=True)
            wrong += bad
            if done < all_ and not bad:
                wrong.append(f"{function}: {all_ - done} goals are not proved")
            if not bad and all_ != TABLE[name][function]:
                wrong.append(f"{function}: {all_} goals, not {TABLE[name][function]} as kernels.py has it")
            proved, goals = proved + done, goals + all_
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{proved} of {goals} goals proved, of {len(each)} functions in {len(chosen)} files")


if __name__ == "__main__":
    main()
