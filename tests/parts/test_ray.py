"""Ray: actors that hold the codes of parts give the model of memory, also when one is killed in the middle."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'dpfast[ray]'")

CHECKS = (
    "actors_give_the_model_of_memory_for_every_learner",
    "an_actor_that_is_killed_changes_nothing",
    "one_row_in_an_actor_tells_no_more_than_was_charged",
    "a_bad_row_is_refused_before_a_charge_and_its_text_is_in_no_log",
)


def test_actors_hold_parts_as_memory_does_whatever_becomes_of_them():
    script = Path(__file__).with_name("ray_actors.py")
    ran = subprocess.run([sys.executable, "-P", script], capture_output=True, text=True, timeout=600)
    if ran.returncode == 3:
        pytest.skip("Ray did not start on this machine")
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith('["')]
    assert [error for _, error in lines if error] == []
    assert tuple(name for name, _ in lines) == CHECKS, ran.stderr[-2000:]
