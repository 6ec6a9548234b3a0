"""The call that docs/development.md follows passes through the functions of the page, in their order."""

import re
import sys
from importlib import import_module
from pathlib import Path

import command_line
from people import people

PAGE = Path(__file__).parents[2] / "docs" / "development.md"


def _named(path):
    """The code of a function by its dotted name."""
    module, *rest = re.fullmatch(r"([a-z_.]+)\.(.+)", path).groups()
    found = import_module(module)
    for name in rest[0].split("."):
        found = getattr(found, name)
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    return found.__code__


def test_the_functions_of_the_walk_are_called_in_its_order(tmp_path):
    steps = re.findall(r"^\| +\d+ \| `([\w.]+)` \|", PAGE.read_text(encoding="utf-8"), re.M)
    assert len(steps) >= 10
    codes = {_named(step): step for step in steps}
    people(600).to_csv(tmp_path / "t.csv", index=False)
    called = []

    def profile(frame, event, _):
        if event == "call" and frame.f_code in codes and codes[frame.f_code] not in called:
            called.append(codes[frame.f_code])

    sys.setprofile(profile)
    try:
        result = command_line.run(["fit", str(tmp_path / "t.csv"), "--label", "buys", "--epsilon", "1"])
    finally:
        sys.setprofile(None)
    assert result.exit_code == 0, result.output
    assert called == steps
