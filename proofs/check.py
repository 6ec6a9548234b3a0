"""Check what the compiled proofs rest on.

    python proofs/check.py            after `make -C proofs` has compiled them

Coq prints what the theorems rest on, once for all plain files, whose axioms are those of Coq's real numbers. Numeric
files may rest on the kernel's machine integers too, which intervals need, and assuming files on those of Axioms.v, each
of which has to name its source. `Admitted` and the like are refused.
"""

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
REALS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
MACHINE_INTEGERS = re.compile(r"(PrimInt63|Uint63)\.\w+")  # of the kernel
KINDS = {"Calibrations": "numeric", "GaussianNumbers": "numeric", "Gaussian": "assuming"}  # the others are plain
STATED = re.compile(r"^\s*(?:Theorem|Lemma|Corollary)\s+(\w+)", re.MULTILINE)
DECLARED = re.compile(r"^\s*(?:Axiom|Axioms|Parameter|Parameters|Conjecture)\s+(\w+)", re.MULTILINE)
REFUSED = re.compile(r"\b(Admitted|admit|give_up|Unset Guard Checking|bypass_check|Unset Universe Checking)\b")


def without_comments(text):
    """The text of a Coq file without its comments."""
    out, depth, at = [], 0, 0
    while at < len(text):
        if text.startswith("(*", at):
            depth, at = depth + 1, at + 2
        elif text.startswith("*)", at):
            depth, at = depth - 1, at + 2
        else:
            if not depth:
                out.append(text[at])
            at += 1
    return "".join(out)


def sources():
    """The text of every file of proofs, without comments, by its name."""
    return {path.stem: without_comments(path.read_text(encoding="utf-8")) for path in sorted(HERE.glob("*.v"))}


def stated(text):
    """Names of the theorems, lemmas and corollaries of a file."""
    return STATED.findall(text)


def one_of_each(theorems):
    """Of theorems that differ in a number at their end the first: hundreds of calibrations are proved by one tactic."""
    return list({re.sub(r"_\d+$", "", theorem): theorem for theorem in reversed(theorems)}.values())


def assumptions(files):
    """{kind of files: names of the axioms that their theorems rest on}, as Coq prints them."""
    lines, kinds = [f"From Dpfast Require {' '.join(files)}."], defaultdict(list)
    for name, text in files.items():
        kinds[KINDS.get(name, "plain")].append(f"of_{name}")
        lines += [_all(f"of_{name}", [f"@{name}.{theorem}" for theorem in one_of_each(stated(text))])]
    for kind, each in kinds.items():
        lines += [_all(kind, each), f'Goal True. idtac "== {kind}". Abort.', f"Print Assumptions {kind}."]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "Audit.v"
        script.write_text("\n".join(lines) + "\n", encoding="utf-8")
        ran = subprocess.run(
            ["coqc", "-q", "-Q", str(HERE), "Dpfast", str(script)], capture_output=True, text=True, check=False
        )
    if ran.returncode:
        sys.exit(f"Coq refuses the audit:\n{ran.stderr[-2000:]}")
    found, kind = {}, None
    for line in ran.stdout.splitlines():
        if line.startswith("== "):
            kind = line[3:]
            found[kind] = set()
        elif (axiom := re.match(r"^([\w.']+)\s*(?::.*)?$", line)) and not line.startswith(("Axioms:", "Closed under")):
            found[kind].add(axiom[1].removeprefix("Dpfast."))
    if set(found) != set(kinds):
        sys.exit("Coq did not print all assumptions")
    return found


def _all(name, terms):
    """A definition that rests on what these terms rest on."""
    return f"Definition {name} := ({''.join(f'{term}, ' for term in terms)}tt)."


def main():
    """Exit with what is wrong, or print how many theorems rest on what."""
    files = sources()
    wrong = [f"{name}.v says {word}" for name, text in files.items() for word in REFUSED.findall(text)]
    wrong += [
        f"{name}.v declares {axiom}: axioms belong into Axioms.v"
        for name, text in files.items()
        for axiom in DECLARED.findall(text)
        if name != "Axioms"
    ]
    named = {f"Axioms.{axiom}" for axiom in DECLARED.findall(files.get("Axioms", ""))}
    for kind, axioms in assumptions(files).items():
        allowed = REALS | (named if kind == "assuming" else set())
        others = {axiom for axiom in axioms - allowed if kind != "numeric" or not MACHINE_INTEGERS.fullmatch(axiom)}
        if others:
            wrong.append(f"the {kind} files rest on {', '.join(sorted(others))}")
        if axioms & named:
            print(f"the {kind} files assume {', '.join(sorted(axioms & named))}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{sum(len(stated(text)) for text in files.values())} statements proved in {len(files)} files")


if __name__ == "__main__":
    main()
