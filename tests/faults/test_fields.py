"""A model's file whose digest is right is refused, or its model works, within the time and memory of any other."""

from pathlib import Path

import pytest
from fields import HOSTILE, changed, fields
from forged import fates
from saved import KINDS, document


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="a process does not know its size here")
@pytest.mark.parametrize("kind", KINDS)
def test_any_field_may_be_anything_in_a_file_with_the_right_digest(kind, tmp_path, rng, many):
    whole = document(kind, tmp_path)
    cases = [(at, value) for at in fields(whole) for value in HOSTILE]
    cases = [cases[k] for k in rng.permutation(len(cases))[: many(30, len(cases))]]
    files = fates(whole, cases, lambda case: changed(whole, *case), tmp_path / "model.json")
    wrong = [f"{at} = {str(value)[:40]}: {each}" for (at, value), each in files if each.endswith("!")]
    assert not wrong, "\n".join(wrong)
