"""Check what the proofs say, and what the compiled proofs rest on.

    python proofs/check.py            everything, after `make -C proofs` has compiled the proofs
    python proofs/check.py --text     only what needs no Coq: sentences, and statements as `statements.txt` has them
    python proofs/check.py --write    write statements.txt, to be read before it is committed

A file may hold the few kinds of sentences of `SENTENCES` and no others, so that there is no notation of its own, no
option of the kernel, no module, no plug-in and no axiom outside Axioms.v. Hypotheses stand in sections, where they
become premises. `statements.txt` has a digest of each statement and definition with the hypotheses of its section: a
premise that is added, or a definition that is changed, is seen there. Coq's own record of each file (.glob) must name
the same objects, and belong to the file as it is.

Coq then prints what every statement rests on. Plain files may rest on the axioms of Coq's real numbers, numeric files
on the machine integers of the kernel too, which intervals need, and assuming files on those of Axioms.v. Definitions
may not have the name of something that Coq's own files define, and coqchk checks the plain files once more.
"""

import hashlib
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
RECORD = "statements.txt"
REALS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
MACHINE_INTEGERS = re.compile(r"(PrimInt63|Uint63)\.\w+")  # of the kernel
KINDS = {
    "Calibrations": "numeric",
    "GaussianNumbers": "numeric",
    "Values": "numeric",
    "Gaussian": "assuming",
    "NaiveBayes": "assuming",
}
KIND = "plain"  # of the others
WRITTEN = {"Calibrations", "GaussianNumbers", "Values"}  # by programs, which say whether they are as written
TAKEN = {"ClassicalDedekindReals", "FunctionalExtensionality", "Classical_Prop", "PrimInt63", "Uint63", "Coq"}
OTHERS = {"bounded", "f", "tail", "value"}  # of Coq, in places that no statement means
LIBRARIES = {
    "Coq": {"Reals", "Lra", "List", "Psatz", "Lia", "ZArith", "QArith", "Qreals", "Bool"},
    "Coquelicot": {"Coquelicot"},
    "Interval": {"Tactic"},
}
STATED = {"Theorem", "Lemma", "Corollary"}
DEFINED = {"Definition", "Fixpoint", "Inductive"}
ASSUMED = {"Context", "Hypothesis", "Variable", "Variables", "Let"}  # in sections only
SENTENCES = STATED | DEFINED | ASSUMED | {"Section", "End", "Ltac", "Implicit", "From", "Open", "Import", "Axiom"}
OPENED = {"Open Scope R_scope", "Open Scope Z_scope", "Import ListNotations"}
REFUSED = re.compile(r"\b(admit|give_up|Admitted|Abort|native_compute|native_cast_no_check)\b")
BULLETS = re.compile(r"^(?:[-+*]+|[{}]|(?:\d+(?:\s*[,-]\s*\d+)*|all)\s*:|\s)+")
GLOB = {"prf": "stated", "def": "defined", "ind": "defined", "constr": "defined", "ax": "assumed"}
INNER = {"var", "sec", "binder"}
NAME = r"[A-Za-z_][\w']*"
_MARKS = re.compile(r'\(\*|\*\)|"')  # of comments, and of strings in them


def without_comments(text):
    """The text of a Coq file without its comments; strings within comments are skipped as Coq does it."""
    out, depth, at = [], 0, 0
    while mark := _MARKS.search(text, at):
        before, at = text[at : mark.start()], mark.end()
        if not depth:
            out.append(before if mark[0] == "(*" else before + mark[0])
        elif mark[0] == '"':
            at = (text.find('"', at) + 1) or len(text)
        depth += {"(*": 1, "*)": -(depth > 0), '"': 0}[mark[0]]
    out.append("" if depth else text[at:])
    return "".join(out)


def sources(folder=HERE):
    """The text of every file of proofs, without comments, by its name."""
    return {path.stem: without_comments(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.v"))}


class File(NamedTuple):
    """What a file states, defines and assumes, as {name: digest}, and what is wrong with its sentences."""

    stated: dict
    defined: dict
    assumed: dict
    faults: list


def read(name, text, files=()):
    """Read a file of proofs sentence by sentence; `files` are the names of all."""
    out, sections, proving, pending = File({}, {}, {}, []), [], False, False

    def fault(words, sentence):
        out.faults.append(f"{name}.v: {words}: {sentence[:60]}")

    if '"' in text:
        out.faults.append(f"{name}.v: strings are not allowed")
    for sentence in (" ".join(each.split()) for each in re.split(r"\.(?=\s|$)", text)):
        if bad := REFUSED.search(sentence):
            fault(f"{bad[0]} is not allowed", sentence)
        if proving:
            rest = BULLETS.sub("", sentence)
            if rest == "Qed":
                proving = False
            elif not re.match(r"[a-z\[(]|$", rest):
                fault("not a step of a proof", sentence)
            continue
        if not sentence:
            continue
        word = sentence.split()[0]
        found = re.match(rf"{word}s? ({NAME})", sentence)
        if word == "Proof":
            proving = sentence == "Proof" and pending
            if not proving:
                fault("a proof of nothing", sentence)
            pending = False
            continue
        pending = word in STATED
        if word not in SENTENCES:
            fault("no sentence of this kind is allowed", sentence)
        elif word in ASSUMED and not sections:
            fault("assumed outside of a section", sentence)
        elif word == "Axiom" and name != "Axioms":
            fault("axioms belong into Axioms.v", sentence)
        elif word in {"From", "Open", "Import"} and sentence not in OPENED and not _imports(sentence, files):
            fault("not allowed", sentence)
        elif word in {"Definition", "Fixpoint", "Inductive", "Let"} and ":=" not in sentence:
            fault("has no body", sentence)
        elif word in STATED | DEFINED | {"Axiom"} and not found:
            fault("has no name", sentence)
        elif word == "Section":
            sections.append([sentence])
        elif word == "End":
            if not sections or sections.pop()[0] != f"Section {sentence[4:]}":
                fault("ends no section", sentence)
        elif word in ASSUMED:
            sections[-1].append(sentence)
        elif word in STATED | DEFINED | {"Axiom"}:
            kind = out.stated if word in STATED else out.defined if word in DEFINED else out.assumed
            if found[1] in out.stated | out.defined | out.assumed:
                fault("stands there twice", sentence)
            said = [each for section in sections for each in section[1:]] + [sentence.partition(" ")[2]]
            kind[found[1]] = hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]
    if proving or sections:
        out.faults.append(f"{name}.v: a proof or a section has no end")
    return out


def _imports(sentence, files):
    words = sentence.split()
    if words[0] != "From" or words[2:4] != ["Require", "Import"]:
        return False
    allowed = LIBRARIES.get(words[1], set(files) if words[1] == "Dpfast" else set())
    return set(words[4:]) <= allowed


def stated(text):
    """Names of the theorems, lemmas and corollaries of a file."""
    return list(read("", text).stated)


def record(read_files):
    """The lines of statements.txt: what files that no program writes state, define and assume."""
    return "".join(
        f"{name}.{each} {digest}\n"
        for name, file in sorted(read_files.items())
        if name not in WRITTEN
        for each, digest in sorted((file.stated | file.defined | file.assumed).items())
    )


def text_faults(folder=HERE):
    """What is wrong with the files as they are written."""
    texts = sources(folder)
    found = {name: read(name, text, texts) for name, text in texts.items()}
    yield from (each for file in found.values() for each in file.faults)
    yield from (f"{path.relative_to(folder)}: files of proofs stand in one folder" for path in folder.glob("*/**/*.v"))
    yield from (f"{name}.v has the name of a file of Coq" for name in sorted(TAKEN & set(texts)))
    if (folder / "_CoqProject").read_text(encoding="utf-8") != "-Q . Dpfast\n":
        yield "_CoqProject says more than -Q . Dpfast"
    if not re.search(r"^\t\$\(COQC\) -q -Q \. Dpfast \$<$", (folder / "Makefile").read_text(encoding="utf-8"), re.M):
        yield "the Makefile compiles proofs with other options"
    path = folder / RECORD
    before = set(path.read_text(encoding="utf-8").splitlines()) if path.exists() else set()
    now = set(record(found).splitlines())
    for line in sorted(before ^ now):
        yield f"{line.split()[0]} is {'not as' if line in now else 'no longer as'} {RECORD} has it"


def compiled_faults(folder, found):
    """What Coq's own record of each file says otherwise: its digest, and the objects that it names."""
    for name, file in found.items():
        glob = folder / f"{name}.glob"
        lines = glob.read_text(encoding="utf-8").splitlines() if glob.exists() else [""]
        if lines[0] != f"DIGEST {hashlib.md5((folder / f'{name}.v').read_bytes()).hexdigest()}":
            yield f"{name}.v is not what was compiled"
            continue
        names = defaultdict(set)
        for line in lines:
            if seen := re.match(r"(\w+) \d+:\d+ (\S+) (\S+)$", line):
                if seen[1] in GLOB:
                    names[GLOB[seen[1]]].add(seen[3])
                elif seen[1] not in INNER:
                    yield f"{name}.v: Coq sees a {seen[1]} {seen[3]}"
        constructors = names["defined"] - set(file.defined)
        for kind in ("stated", "assumed"):
            if names[kind] != set(getattr(file, kind)):
                yield f"{name}.v: Coq sees other things {kind}: {sorted(names[kind] ^ set(getattr(file, kind)))[:5]}"
        if missing := set(file.defined) - names["defined"]:
            yield f"{name}.v: Coq does not see the definitions {sorted(missing)}"
        if unseen := {each for each in constructors if not re.search(rf"\b{re.escape(each)}\b", _text(folder, name))}:
            yield f"{name}.v: Coq sees other things defined: {sorted(unseen)}"


def _text(folder, name):
    return without_comments((folder / f"{name}.v").read_text(encoding="utf-8"))


def coq(lines, folder):
    """What Coq prints for a script."""
    with tempfile.TemporaryDirectory() as where:
        script = Path(where) / "Audit.v"
        script.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = ["coqc", "-q", "-Q", str(folder), "Dpfast", str(script)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"Coq refuses the audit:\n{ran.stderr[-2000:]}")
    return ran.stdout.splitlines()


def shadow_faults(folder, found):
    """Definitions with the name of something of Coq's own files, which would then mean another thing in a statement."""
    lines = [f"From Coq Require Import {' '.join(sorted(LIBRARIES['Coq'] - {'QArith', 'Qreals'}))}."]
    each = sorted({name for file in found.values() for name in file.defined} - OTHERS)
    for name in each:
        lines += [f'Goal True. idtac "== {name}". Abort.', f"Locate {name}."]
    said, name = coq(lines, folder), ""
    for line, after in zip(said, [*said[1:], ""], strict=True):
        if line.startswith("== "):
            name = line[3:]
        elif (
            re.match(r"(Constant|Inductive|Constructor|Notation|Variable) Coq\.", line) and "shorter name" not in after
        ):
            yield f"{name} is the name of {line.split()[1]}"


def assumptions(folder, found):
    """({kind of files: axioms that all their statements rest on}, what else Coq says), as Coq prints it."""
    lines, kinds = [f"From Dpfast Require {' '.join(found)}."], defaultdict(list)
    for name, file in found.items():
        kinds[KINDS.get(name, KIND)].append(f"of_{name}")
        lines.append(_all(f"of_{name}", [f"@{name}.{each}" for each in (*file.stated, *file.defined)]))
    for kind, each in kinds.items():
        lines += [_all(kind, each), f'Goal True. idtac "== {kind}". Abort.', f"Print Assumptions {kind}."]
    rests, odd, kind = {}, [], None
    for line in coq(lines, folder):
        if line.startswith("== "):
            kind = line[3:]
            rests[kind] = set()
        elif axiom := re.match(r"([\w.']+)(?: : .*|\s*:?)$", line):
            if line not in ("Axioms:", "Closed under the global context"):
                rests[kind].add(axiom[1].removeprefix("Dpfast."))
        elif not (line.startswith((" ", "\t")) or line in ("", "Closed under the global context")):
            odd.append(f"the {kind} files: {line}")
    if set(rests) != set(kinds):
        sys.exit("Coq did not print all assumptions")
    return rests, odd


def _all(name, terms):
    """A definition that rests on what these terms rest on."""
    return f"Definition {name} := ({''.join(f'{term}, ' for term in terms)}tt)."


def axiom_faults(folder, found):
    """What the statements rest on that they may not."""
    named = {f"Axioms.{axiom}" for axiom in found["Axioms"].assumed} if "Axioms" in found else set()
    rests, odd = assumptions(folder, found)
    yield from odd
    for kind, axioms in rests.items():
        allowed = REALS | (named if kind == "assuming" else set())
        others = {axiom for axiom in axioms - allowed if kind != "numeric" or not MACHINE_INTEGERS.fullmatch(axiom)}
        if others:
            yield f"the {kind} files rest on {', '.join(sorted(others))}"


def kernel_faults(folder, found):
    """What coqchk says of the plain files, which it checks once more: axioms of ours, and options of the kernel."""
    command = ["coqchk", "-silent", "-o", "-Q", str(folder), "Dpfast"]
    for name in found:
        command += ["-norec", f"Dpfast.{name}"] if KINDS.get(name, KIND) != "numeric" else []
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ran.returncode:
        yield f"coqchk refuses the proofs:\n{ran.stdout[-2000:]}"
        return
    ours = set(re.findall(r"^\s*Dpfast\.([\w.']+)\s*$", ran.stdout, re.MULTILINE))
    if others := ours - {f"Axioms.{axiom}" for axiom in found["Axioms"].assumed}:
        yield f"coqchk sees the axioms {', '.join(sorted(others))}"
    for option in ("relying on type-in-type", "relying on unsafe (co)fixpoints", "whose positivity is assumed"):
        if not re.search(rf"{re.escape(option)}: <none>", ran.stdout):
            yield f"coqchk sees objects {option}"


def all_faults(folder=HERE):
    """What is wrong, in the order in which it costs time to see it."""
    wrong = list(text_faults(folder))
    if wrong:
        return wrong
    found = {name: read(name, text) for name, text in sources(folder).items()}
    for look in (compiled_faults, shadow_faults, axiom_faults, kernel_faults):
        wrong += look(folder, found)
        if wrong:
            break
    return wrong


def main():
    """Exit with what is wrong, or print how many statements rest on what."""
    texts = sources()
    found = {name: read(name, text, texts) for name, text in texts.items()}
    if "--write" in sys.argv[1:]:
        (HERE / RECORD).write_text(record(found), encoding="utf-8")
    if wrong := list(text_faults()) if "--text" in sys.argv[1:] else all_faults():
        sys.exit("\n".join(wrong))
    if named := found["Axioms"].assumed:
        print(
            f"the assuming files, {', '.join(name for name in KINDS if KINDS[name] == 'assuming')}: {', '.join(named)}"
        )
    print(f"{sum(len(file.stated) for file in found.values())} statements proved in {len(found)} files")


if __name__ == "__main__":
    main()
