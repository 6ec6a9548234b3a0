"""Plant lies in a copy of the proofs and of dpfast, and say by what each is found.

    python proofs/lies.py              all of them; ends with 1 if one is not found
    python proofs/lies.py WORD ...     those whose name holds one of the words
    python proofs/lies.py --mutants    which mutants of tests/mutants change a value; most are no constants

The proofs must be compiled (`make -C proofs`) and dpfast built in place. After a lie in a file of proofs,
statements.txt is written anew, as its author would do, so that only what check.py and Coq see is counted; a lie in a
statement itself is found by statements.txt. A lie in a constant of dpfast is found by the values that change, and Coq
has to refuse these, for the author would write them, too.
"""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import check

HERE = Path(__file__).resolve().parent
TOP = HERE.parent
SECONDS = 300  # a constant may let a search run without end
GENERATED = {"Values.v": "values", "Calibrations.v": "grid", "GaussianNumbers.v": "grid"}
SAMPLE = 3  # values of a lie in each file that Coq sees first, or up to twice as many
TOGETHER = 6  # constants whose values Coq sees at once
LEMMA = re.compile(r"Lemma \w+ : (.*)\.\nProof\. (.*)\. Qed\.\s*", re.DOTALL)
CHEAT = "Lemma cheat : 0 = 1. Proof. destruct no. Qed."


class Lie(NamedTuple):
    """`old` becomes `new` in a file; text without `old` is added at its end."""

    name: str
    file: str
    old: str
    new: str


SENTENCES = [
    Lie(
        f"sentence: {text.split('.')[0][:40]}",
        "proofs/Privacy.v",
        "",
        f"{text}\n{CHEAT if 'no' in text.split() else ''}",
    )
    for text in (
        "Axiom no : False.",
        "Local Axiom no : False.",
        "#[global] Axiom no : False.",
        "Parameter no : False.",
        "Conjecture no : False.",
        "Hypothesis no : False.",
        "Variable no : False.",
        "Context ( no : False ).",
        "Lemma no : False. Proof. Admitted.",
        "Lemma no : False. Proof. admit. Admitted.",
        "Unset Guard Checking. Fixpoint no (n : nat) : False := no n.",
        "Unset Positivity Checking.",
        "Unset Universe Checking.",
        "#[bypass_check(guard)] Fixpoint no (n : nat) : False := no n.",
        "Program Definition no : False := _. Next Obligation. Admitted.",
        "Module Type T. Parameter no : False. End T. Declare Module M : T.",
        "Declare ML Module plugin.",
        'Notation "x <= y" := True : R_scope.',
        "Local Notation law := True.",
        "Lemma kept : 0 = 1. Proof. Abort.",
        "Fact kept : 0 = 1. Proof. Admitted.",
        "Require Import Elsewhere.",
        '(* " *) Axiom no : False. (* " *)',
    )
] + [
    Lie(
        "shadow: False is true",
        "proofs/Draws.v",
        "Open Scope Z_scope.",
        "Open Scope Z_scope. Inductive False : Prop := I.",
    ),
    Lie(
        "shadow: a maximum is a sum",
        "proofs/Privacy.v",
        "Definition law",
        "Definition Rmax (a b : R) := 0. Definition law",
    ),
    Lie("options: types in types", "proofs/Makefile", "$(COQC) -q", "$(COQC) -type-in-type -q"),
    Lie("options: in _CoqProject", "proofs/_CoqProject", "Dpfast", "Dpfast -arg -type-in-type"),
]
STATEMENTS = [
    Lie(
        "statement: a premise that is false",
        "proofs/Cover.v",
        "Theorem cover_replace T E :",
        "Theorem cover_replace T E : False ->",
    ),
    Lie(
        "statement: privacy is twice as weak",
        "proofs/Privacy.v",
        ":= hockey dom E P Q <= d.",
        ":= hockey dom E P Q <= 2 * d.",
    ),
    Lie("statement: an axiom without its premise", "proofs/Axioms.v", "0 < sigma -> series", "series"),
    Lie(
        "statement: a section's hypothesis",
        "proofs/Exponential.v",
        "Section Exponential.",
        "Section Exponential. Context (no : False).",
    ),
    Lie(
        "statement: neighbours are equal",
        "proofs/Privacy.v",
        "replace (l ++ x :: r) (l ++ y :: r).",
        "replace (l ++ x :: r) (l ++ x :: r).",
    ),
    Lie("statement: a theorem is gone", "proofs/Survey.v", "Theorem later_looks", "Theorem other_looks"),
]
DEFINITIONS = [
    Lie(f"definition: {name}", "proofs/Plans.v", old, new)
    for name, old, new in (
        ("a replaced row is one", "if replaced then 2 else 1.\n\nLemma", "1.\n\nLemma"),
        ("labels count once", "(k * k * (columns + c * c))", "(k * k * (columns + c))"),
        ("units of one row", "(k * k * (columns + c * c))", "(k * (columns + c * c))"),
        ("more than two classes are two", "Nat.eqb classes 2 then 1 else 2", "Nat.eqb classes 2 then 1 else 1"),
        ("draws at a ninth", "(eta * width) * (eta * width) * times / 8", "(eta * width) * (eta * width) * times / 9"),
        ("a draw moves by half", "2 * k * (changed replaced", "k * (changed replaced"),
        ("negated features are as wide", "2 * Rmax (Rabs low)", "Rmax (Rabs low)"),
        ("experts of half the range", "changed replaced * (if signed", "(if signed"),
        ("boosting moves one way", "R := 2 * cap * reach", "R := cap * reach"),
        ("stumps rounded down", "2 * - (- moved / grid)", "2 * (moved / grid)"),
        ("selection at half its price", "R := 2 * ln", "R := ln"),
        ("any counts are monotone", "/ threshold_scale + 2 * / test_scale", "/ threshold_scale + / test_scale"),
        ("labels are never lone", "words * each + labels * of_labels", "words * each"),
        ("noise is not squared", "(m s : R) : R := m / (s * s)", "(m s : R) : R := m / s"),
        ("Laplace noise for half", "R := moved / scale", "R := moved / (2 * scale)"),
    )
] + [
    Lie(
        "definition: a bound may be below 1 - a",
        "proofs/Convex.v",
        "Rmax 0 (1 - a) <= H a.\n\nLemma",
        "0 <= H a.\n\nLemma",
    ),
    Lie(
        "definition: the curve is not moved", "proofs/Convex.v", "f s T (ln a - u).\n\nLemma", "f s T (ln a).\n\nLemma"
    ),
    Lie("definition: a line of another slope", "proofs/Convex.v", "(m / (1 - m)) ^ T * (a", "m ^ T * (a"),
    Lie(
        "definition: a step sees one order of rows",
        "proofs/SingleSample.v",
        "(profile dom P Q) 1 l + cells (rise_down n) (profile dom Q P) 1 l.",
        "(profile dom P Q) 1 l.",
    ),
    Lie("definition: a chance squared twice", "proofs/SingleSample.v", "1 + q * (a - 1).", "1 + q * q * (a - 1)."),
    Lie("definition: the paper's claim at half", "proofs/Paper.v", "R := factor * t", "R := factor / 2 * t"),
    Lie("definition: Winnow's tests are not paid", "proofs/Winnow.v", "(m * K) + e * e / 2.", "(m * K)."),
    Lie("definition: Winnow's draws are one of a release", "proofs/Winnow.v", "width (m * K) + e", "width K + e"),
]
BRIDGE = [
    Lie("bridge: a theorem that does not exist", "proofs/bridge.py", "Cover.cover_replace ", "Cover.cover_of_all "),
    Lie(
        "bridge: a test that does not exist",
        "proofs/bridge.py",
        "test_no_pair_of_neighbours_exceeds",
        "test_that_is_not_there",
    ),
    Lie(
        "bridge: the page says more",
        "docs/records/checks.md",
        "<!-- end -->",
        "| all | `Cover.cover_all` |\n\n<!-- end -->",
    ),
    Lie(
        "bridge: a number in the file",
        "proofs/Values.v",
        "Lemma changed_1 : changed true = 2.",
        "Lemma changed_1 : changed true = 1.",
    ),
    Lie(
        "bridge: a calibration in the file",
        "proofs/Calibrations.v",
        "Lemma laplace_scale_1 :",
        "Lemma laplace_scale_0 :",
    ),
]
# Mutants of tests/mutants that are constants of plans, by their names.
CONSTANTS = (
    "selection: the price of one look, not two",
    "draws_rho halved",
    "curve: replace, second (1 + g) t is t",
    "curve: replace, first (1 + g) t is t",
    "curve: add-remove, one start dropped",
    "curve: a round fewer than run",
    "curve: fall of a round too many",
    "paper: factor 4 of replace is 2",
    "law: a draw fewer than made",
    "law: one order of add-remove",
    "discrete gaussian: tail 24 is 48",
    "discrete gaussian: releases not composed",
    "discrete gaussian: sensitivity not squared",
    "zcdp: divergence (1 + b) rho is rho",
    "laplace: composition dropped",
    "sparse sample: delta / 2 is delta",
    "single sample: one direction only",
    "winnow range: factor 2 of replace dropped",
    "winnow range: add-remove with a batch is that of all",
    "winnow range: negations ignored",
    "winnow weight: rounded up",
    "winnow weight: an interval pays for fewer",
    "winnow: draws not composed",
    "experts range: factor 2 of replace dropped",
    "experts range: signed ignored",
    "cost: a bounded range half as wide",
    "cost: Hoeffding's lemma halved",
    "above threshold: any queries, threshold scale halved",
    "above threshold: any queries, test scale halved",
    "above threshold: monotone 2, 2 is 1, 1",
    "above threshold: running 1, 1 is 1/2, 1",
    "frequent values: factor 2 of replace dropped",
    "frequent values: a threshold below",
    "figures: factor 2 of moved cells dropped",
    "queries: sensitivity of the grid halved",
    "queries: count of rows unpaid",
    "halfspace: sqrt(2) of more classes dropped",
    "halfspace: the histogram moves by twice what is paid",
    "halfspace: the mean of the scores moves by half",
    "halfspace: levels beside the mean cost as much as alone",
    "halfspace: the mean of the scores is not paid",
    "centering: 2 CAP is CAP",
    "boost: one row more moves a local measure by half of its weight",
    "stump: R 4 is 2",
    "pairs: more classes move by as much as two",
    "pairs: replace moves by as much as adding",
    "pairs: an interval of half the length",
    "pairs: units of one row",
    "discovery: a label moves as one row",
    "discovery: a second look for nothing",
    "discovery: labels at the delta of words",
    "beside a survey: half of its noise",
    "beside a survey: the mu of the whole is left",
    "plan: draws of one row for units, delta = 0",
    "plan: Gaussian noise of one row for units",
    "plan: Laplace noise of one row for units",
    "plan: many draws for the price of one",
    "plan: many counts for the price of one",
    "list: sizes and counts of one row for units",
    "list: a replaced row moves one count",
    "list: draws of one row for units",
    "list: a replaced row changes a score like an added one",
    "factor 2 of replaced class counts dropped",
)


def mutants_of(room):
    """The mutants of a file of tests/mutants, which other folders of tests have a namesake of."""
    folder = TOP / "tests" / "mutants"
    sys.path.insert(0, str(folder))  # for its own imports
    try:
        return runpy.run_path(str(folder / f"{room}.py"))["MUTANTS"]
    finally:
        sys.path.remove(str(folder))


def mutants():
    """All mutants of Python in tests/mutants, by name."""
    every = [each for room in ("accounting", "mechanisms", "learners", "experts") for each in mutants_of(room)]
    return {m.name: Lie(f"constant: {m.name}", m.file, m.old, m.new) for m in every if m.file.endswith(".py")}


def copied(lie, folder):
    """A copy of what a lie is planted in, with the lie; files of dpfast that stay are links."""
    if lie.file.startswith("dpfast/"):
        ignored = shutil.ignore_patterns("__pycache__", "*.c")
        shutil.copytree(TOP / "dpfast", folder / "dpfast", ignore=ignored, copy_function=os.symlink)
    else:
        shutil.copytree(HERE, folder / "proofs", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("tests", "dpfast"):
            (folder / name).symlink_to(TOP / name)
        shutil.copytree(TOP / "docs", folder / "docs", ignore=shutil.ignore_patterns("_build", "figures"))
    path = folder / lie.file
    text = path.read_text(encoding="utf-8")
    if lie.old and text.count(lie.old) != 1:
        raise ValueError(f"the text is there {text.count(lie.old)} times")
    path.unlink()
    path.write_text(text.replace(lie.old, lie.new) if lie.old else f"{text}\n{lie.new}\n", encoding="utf-8")
    return folder


def run(command, folder, where):
    """The return code, and the words, of a program in this place, with the dpfast of the folder."""
    env = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ran = subprocess.run(command, cwd=where, env=env, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 1, "", f"no end within {SECONDS} s"
    return ran.returncode, ran.stdout, ran.stderr


def compiled(proofs, path):
    """What Coq says against a file, with these proofs; "" if it compiles."""
    code, _, said = run(["coqc", "-q", "-Q", str(proofs), "Dpfast", path.name], path.parent, path.parent)
    return "" if not code else " ".join(said.split())[-120:] or "an error"


def found_in_proofs(lie, folder):
    """By what a lie in a file of proofs is found; "" if by nothing."""
    proofs = folder / "proofs"
    if lie not in STATEMENTS and lie.file.endswith(".v"):
        texts = check.sources(proofs)
        read = {name: check.read(name, text, texts) for name, text in texts.items()}
        (proofs / check.RECORD).write_text(check.record(read), encoding="utf-8")
    if faults := [*check.text_faults(proofs)]:
        return f"check.py: {faults[0]}"
    if not lie.file.endswith(".v"):
        return ""
    name = Path(lie.file).name
    if said := compiled(proofs, proofs / name):
        return f"{name} does not compile: {said}"
    read = {name[:-2]: check.read(name[:-2], check.sources(proofs)[name[:-2]], check.sources(proofs))}
    for look in (check.compiled_faults, check.shadow_faults):
        if faults := [*look(proofs, read)]:
            return f"check.py: {faults[0]}"
    if name == "Plans.v" and (said := compiled(proofs, proofs / "Values.v")):
        return f"Values.v does not compile: {said}"
    return ""


def found_in_bridge(lie, folder):
    """By what a lie in the bridge is found."""
    for program in ("bridge.py", "values.py", "grid.py"):
        code, _, said = run([sys.executable, program, "--check"], folder, folder / "proofs")
        if code:
            return f"{program} --check: {said.splitlines()[-1]}"
    return ""


def lemmas(text):
    """{the name of each lemma: its text} and what stands before them."""
    head, *each = text.split("\nLemma ")
    return head, {one.split()[0]: f"Lemma {one.strip()}\n" for one in each}


def changed_values(lie, folder):
    """The lemmas that change with a constant of dpfast, by file, with what stands before them."""
    script = (
        "import sys; sys.path.insert(0, '.'); import json, grid, values;"
        "print(json.dumps({'Values.v': values.text(), **grid.files()}))"
    )
    code, said, error = run([sys.executable, "-c", script], folder, HERE)
    if code:
        return error.strip().splitlines()[-1]
    found = {}
    for name, text in json.loads(said).items():
        before, (head, now) = lemmas((HERE / name).read_text(encoding="utf-8"))[1], lemmas(text)
        if other := [one for key, one in now.items() if before.get(key) != one]:
            found[name] = head, other
    return found


def judged(lemmas_of, folder):
    """Which of these lemmas Coq proves, as {a lemma: True or False}; a lemma that it did not come to is not there."""
    found, path = {}, folder / "Lie.v"
    for head, each in ((head, each) for head, each in lemmas_of.items() if each):
        goals = [head]
        for lemma in each:
            statement, proof = LEMMA.fullmatch(lemma).groups()
            tactic = f'first [abstract ({proof.replace(". ", "; ")}); idtac "proved" | idtac "refused"]'
            goals.append(f"Goal {statement}.\nProof. {tactic}. Abort.\n")
        path.write_text("\n".join(goals), encoding="utf-8")
        _, said, _ = run(["coqc", "-q", "-Q", str(HERE), "Dpfast", path.name], folder, folder)
        found |= dict(zip(each, (line == "proved" for line in said.splitlines()), strict=False))
    return found


def found_in_values(planted, place):
    """By what each of several lies in constants of dpfast is found.

    Coq sees the values of all at once: a few of each lie first, and then more of those of which it proved these.
    """
    changed = [changed_values(lie, folder) for lie, folder in planted]
    proved = {}
    for most in (SAMPLE, 8 * SAMPLE):
        lemmas_of = {}
        for each in changed:
            if isinstance(each, dict) and all(proved.get(lemma, True) for _, other in each.values() for lemma in other):
                for head, other in each.values():
                    lemmas_of.setdefault(head, {}).update(dict.fromkeys(other[:: max(1, len(other) // most)]))
        proved |= judged(
            {head: [one for one in every if one not in proved] for head, every in lemmas_of.items()}, place
        )
    for each in changed:
        if isinstance(each, str):
            yield f"no values: {each}"
            continue
        values = [lemma for _, other in each.values() for lemma in other]
        verdicts = [proved[lemma] for lemma in values if lemma in proved]
        if refused := verdicts.count(False):
            yield f"{len(values)} values differ, and Coq refuses {refused} of {len(verdicts)}"
        else:
            yield "BUT COQ PROVES THEM" if verdicts else ""


def looked_at(lie, folder):
    """Which files of values change."""
    found = changed_values(lie, folder)
    return found if isinstance(found, str) else ", ".join(f"{len(each[1])} of {name}" for name, each in found.items())


def alone(look):
    """A look at several lies, from a look at one."""
    return lambda planted, _: [look(*each) for each in planted]


def tried(lies, look, place):
    """By what each of these lies is found, and in how many seconds all are."""
    start, said, planted = time.perf_counter(), {}, []
    with tempfile.TemporaryDirectory(dir=place) as name:
        for k, lie in enumerate(lies):
            try:
                planted.append((lie, copied(lie, Path(name) / str(k))))
            except ValueError as error:
                said[lie] = f"NOT PLANTED: {error}"
        said |= zip((lie for lie, _ in planted), look(planted, Path(name)), strict=True)
    return said, time.perf_counter() - start


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    kinds = [(SENTENCES + STATEMENTS + DEFINITIONS, alone(found_in_proofs), 1), (BRIDGE, alone(found_in_bridge), 1)]
    if "--mutants" in sys.argv[1:]:
        kinds = [(list(mutants().values()), alone(looked_at), 1)]
    else:
        every = mutants()
        kinds.insert(0, ([every[name] for name in CONSTANTS], found_in_values, TOGETHER))
    works = []
    for lies, look, size in kinds:
        lies = [lie for lie in lies if not words or any(word in lie.name for word in words)]
        works += [(lies[k : k + size], look) for k in range(0, len(lies), size)]
    start, number, missed = time.perf_counter(), 0, 0
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(os.cpu_count()) as pool:
        for said, seconds in pool.map(lambda work: tried(*work, place), works):
            for lie, found in said.items():
                bad = not found or any(word in found for word in ("NOT PLANTED", "BUT COQ", "ImportError", "NotFound"))
                number, missed = number + 1, missed + bad
                print(f"{'MISSED' if bad else 'found':6} {seconds:5.1f} s  {lie.name}: {found}", flush=True)
    print(f"{number - missed} of {number} lies found in {time.perf_counter() - start:.0f} s")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
