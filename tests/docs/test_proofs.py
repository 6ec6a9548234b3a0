"""Claims and their proofs in Coq: what docs/privacy_checks.md says of proofs/ is there, with the accountant's numbers.

`make -C proofs` compiles the proofs; the gate does so where Coq is installed.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROOFS = Path(__file__).parents[2] / "proofs"
sys.path.insert(0, str(PROOFS))

import bridge  # noqa: E402
import check  # noqa: E402
import lies  # noqa: E402

LEMMA = "Lemma honest : True. Proof. exact I. Qed.\n"


def faults(text, name="New"):
    return check.read(name, check.without_comments(text), ["New", "Privacy"]).faults


def test_every_claim_of_the_bridge_has_its_theorem_its_code_and_its_test():
    assert list(bridge.faults()) == []


def test_proofs_hold_sentences_that_are_allowed_and_statements_as_they_were_read():
    assert len(check.sources()) > 10
    assert list(check.text_faults()) == []


def test_the_guide_shows_the_example_as_it_is_proved():
    guide = (PROOFS.parent / "docs" / "guides" / "own_proof.md").read_text(encoding="utf-8")
    assert (PROOFS / "Example.v").read_text(encoding="utf-8") in guide


def test_what_is_commented_out_is_no_theorem():
    text = check.without_comments(
        'Theorem a : True. (* Theorem b : False. (* Admitted. *) "*)" Admitted. *) Proof. Qed.'
    )
    assert (check.stated(text), faults(text)) == (["a"], [])
    assert check.without_comments('(* " *) " *) Lemma a : True.') == " Lemma a : True."


@pytest.mark.parametrize(
    "lie",
    [
        "Axiom cheat : False.",
        "Local Axiom cheat : False.",
        "#[local] Axiom cheat : False.",
        "Parameter cheat : False.",
        "Parameters cheat other : False.",
        "Conjecture cheat : False.",
        "Hypothesis cheat : False.",
        "Hypotheses cheat other : False.",
        "Variable cheat : False.",
        "Variables cheat other : False.",
        "Context (cheat : False).",
        "Lemma cheat : False. Admitted.",
        "Lemma cheat : False. Proof. Admitted.",
        "Lemma cheat : False. Proof. admit. Qed.",
        "Lemma cheat : False. Proof. give_up. Qed.",
        "Lemma cheat : False. Proof. Abort.",
        "Lemma cheat : False. Abort.",
        "Lemma cheat : 0 = 1. Proof. native_compute. Qed.",
        "Fact cheat : False. Proof. Admitted.",
        "Remark cheat : False. Proof. Qed.",
        "Proposition cheat : False. Proof. Qed.",
        "Example cheat : False. Proof. Qed.",
        "Goal False. Proof. Qed.",
        "Definition cheat : False.",
        "Program Definition cheat : False := _.",
        "Next Obligation. Admitted.",
        "Obligation Tactic := idtac.",
        "Admit Obligations.",
        "Unset Guard Checking.",
        "Unset Positivity Checking.",
        "Unset Universe Checking.",
        "Set Nested Proofs Allowed.",
        "#[bypass_check(guard)] Fixpoint cheat (n : nat) : False := cheat n.",
        "#[bypass_check(universes)] Definition cheat := Type.",
        "Module Type T. Parameter cheat : False. End T.",
        "Module M. End M.",
        "Declare Module M : T.",
        "Include M.",
        "Declare ML Module plugin.",
        "Add LoadPath elsewhere.",
        "Load other.",
        "Require Import Elsewhere.",
        "From Elsewhere Require Import Cheat.",
        "From Coq Require Import ClassicalEpsilon.",
        "From Dpfast Require Import Hidden.",
        "Notation truth := True.",
        "Infix eq := cheat.",
        "Local Notation nothing := True.",
        "Reserved Notation cheat.",
        "Coercion cheat : nat >-> bool.",
        "Canonical Structure cheat := 1.",
        "Instance cheat : False := _.",
        "Existing Instance cheat.",
        "Open Scope nat_scope.",
        "Delimit Scope R_scope with Z.",
        "Bind Scope nat_scope with R.",
        "Arguments exp _ : clear implicits.",
        "Opaque exp.",
        "Strategy opaque [exp].",
        "Primitive cheat := #int63_add.",
        "Register cheat as core.True.type.",
        "Extract Constant cheat.",
        "Hint Resolve cheat : core.",
        "CoFixpoint cheat : False := cheat.",
        "CoInductive cheat := .",
        "Record cheat := { no : False }.",
        "Fail Lemma cheat : False.",
        "Timeout 1 Lemma cheat : False.",
        'Lemma cheat : True. Proof. idtac "Qed. Axiom cheat : False.". Qed.',
        "Lemma cheat : False. Proof. Qed. Proof. Qed.",
        "Lemma honest : False. Proof. Qed.",
        "Section S.",
        "End S.",
    ],
)
def test_a_lie_of_any_kind_of_sentence_is_found(lie):
    assert faults(LEMMA) == []
    assert faults(LEMMA + lie) != []


def test_what_a_section_assumes_belongs_to_the_statement():
    before = "Section S. Context (x : nat). Lemma a : x = x. Proof. reflexivity. Qed. End S."
    after = before.replace("Lemma a", "Hypothesis cheat : False. Lemma a")
    one, other = (check.read("New", text) for text in (before, after))
    assert one.faults == other.faults == []
    assert one.stated["a"] != other.stated["a"]


@pytest.fixture
def folder(tmp_path):
    for path in [*PROOFS.glob("*.v"), PROOFS / "_CoqProject", PROOFS / "Makefile", PROOFS / check.RECORD]:
        shutil.copy(path, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("Cover.v", "Theorem cover_replace T E :", "Theorem cover_replace T E : False ->"),
        ("Cover.v", "Theorem cover_replace T E :", "Theorem cover_replace_else T E :"),
        ("Privacy.v", "hockey dom E P Q <= d", "hockey dom E P Q <= d + 1"),
        ("Axioms.v", "0 < sigma -> series", "series"),
        ("Sensitivity.v", "Hypothesis r_nonneg : 0 <= r.", "Hypothesis r_nonneg : 0 <= r /\\ r < 0."),
        ("_CoqProject", "-Q . Dpfast", "-Q . Dpfast -arg -type-in-type"),
        ("Makefile", "$(COQC) -q", "$(COQC) -type-in-type -q"),
    ],
)
def test_a_statement_that_changes_is_seen(folder, file, old, new):
    assert list(check.text_faults(folder)) == []
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert list(check.text_faults(folder)) != []


def test_a_file_may_not_have_the_name_of_one_whose_axioms_are_allowed(folder):
    (folder / "Classical_Prop.v").write_text("Definition classic := 0.\n", encoding="utf-8")
    (folder / "more").mkdir()
    (folder / "more" / "Hidden.v").write_text("Axiom cheat : False.\n", encoding="utf-8")
    found = " ".join(check.text_faults(folder))
    assert "name of a file of Coq" in found
    assert "one folder" in found


@pytest.mark.skipif(shutil.which("coqc") is None, reason="needs Coq")
@pytest.mark.parametrize(
    ("look", "text", "words"),
    [
        (check.shadow_faults, "Inductive False : Prop := I. Lemma a : False. Proof. exact I. Qed.", "Logic.False"),
        (check.shadow_faults, "Definition le (a b : nat) := True. Lemma a : le 1 0. Proof. exact I. Qed.", "Peano.le"),
        (check.axiom_faults, "Axiom cheat : False. Lemma a : 0 = 1. Proof. destruct cheat. Qed.", "New.cheat"),
        (check.axiom_faults, "Unset Guard Checking. Fixpoint a (n : nat) : False := a n.", "guarded"),
        (check.axiom_faults, "Unset Positivity Checking. Inductive a := b (f : a -> False).", "positive"),
        (check.axiom_faults, "Unset Universe Checking. Definition a := (Type : Type).", "hierarchy"),
        (check.compiled_faults, 'Definition a := 0. Notation "x ~~ y" := (x = y) (at level 70).', "sees a not"),
    ],
)
def test_coq_sees_what_the_text_would_hide(tmp_path, look, text, words):
    (tmp_path / "New.v").write_text(text + "\n", encoding="utf-8")
    subprocess.run(["coqc", "-q", "-Q", ".", "Dpfast", "New.v"], cwd=tmp_path, capture_output=True, check=True)
    assert words in " ".join(look(tmp_path, {"New": check.read("New", text)}))
    (tmp_path / "New.v").write_text(text + " \n", encoding="utf-8")
    assert "not what was compiled" in " ".join(check.compiled_faults(tmp_path, {"New": check.read("New", text)}))


def test_the_values_that_coq_proves_are_those_that_dpfast_returns():
    assert bridge.not_as_written() == []


def test_constants_that_are_wrong_are_among_the_lies_to_plant():
    every = lies.mutants()
    assert set(lies.CONSTANTS) <= set(every)
    planted = [*lies.SENTENCES, *lies.STATEMENTS, *lies.DEFINITIONS, *lies.BRIDGE]
    assert len(planted) + len(lies.CONSTANTS) > 100
    for lie in planted:
        text = (PROOFS.parent / lie.file).read_text(encoding="utf-8")
        assert lie.new != lie.old, lie.name
        assert not lie.old or text.count(lie.old) == 1, lie.name


def test_every_premise_of_a_row_is_looked_up(monkeypatch):
    row = bridge.ROWS[0]
    for fault in (
        row._replace(coq="Cover.cover_of_all"),
        row._replace(values="cover_of_all"),
        row._replace(law="accounting/test_curves.py::test_of_nothing"),
        row._replace(replay="premises/test_nothing.py::test_of_nothing"),
        row._replace(mutant="a mutant of nothing"),
        row._replace(proof="proofs_privacy.md#Nothing"),
        row._replace(code="accounting.nothing"),
        row._replace(coq=""),
    ):
        monkeypatch.setattr(bridge, "ROWS", (fault, *bridge.ROWS[1:]))
        assert any(row.name in each for each in bridge.faults())
    monkeypatch.setattr(bridge, "ROWS", [row for row in bridge.ROWS if row.code != "mechanisms.quantiles"])
    assert any("mechanisms.quantiles" in each for each in bridge.faults())
