"""Claims and their proofs in Coq: what docs/privacy_checks.md says of proofs/ is there, with the accountant's numbers.

`make -C proofs` compiles the proofs; the gate does so where Coq is installed.
"""

import subprocess
import sys
from pathlib import Path

PROOFS = Path(__file__).parents[2] / "proofs"
sys.path.insert(0, str(PROOFS))

import bridge  # noqa: E402
import check  # noqa: E402


def test_every_claim_of_the_bridge_has_its_theorem_its_code_and_its_test():
    assert list(bridge.faults()) == []


def test_no_proof_is_left_open_and_axioms_stand_in_one_file():
    files = check.sources()
    assert len(files) > 10
    assert [name for name, text in files.items() if check.REFUSED.search(text)] == []
    assert [name for name, text in files.items() if check.DECLARED.search(text)] == ["Axioms"]


def test_the_guide_shows_the_example_as_it_is_proved():
    guide = (PROOFS.parent / "docs" / "guides" / "own_proof.md").read_text(encoding="utf-8")
    assert (PROOFS / "Example.v").read_text(encoding="utf-8") in guide


def test_what_is_commented_out_is_no_theorem():
    text = check.without_comments("Theorem a : True. (* Theorem b : False. (* Admitted. *) Admitted. *) Proof. Qed.")
    assert (check.stated(text), check.REFUSED.findall(text)) == (["a"], [])
    assert check.REFUSED.findall("Proof. Admitted.") == ["Admitted"]


def test_the_numbers_that_coq_proves_are_those_that_the_accountant_returns():
    ran = subprocess.run([sys.executable, "-P", PROOFS / "grid.py", "--check"], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
