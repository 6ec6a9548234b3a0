import re
from importlib import import_module
from inspect import ismodule
from pathlib import Path
from types import GenericAlias

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "reference"


@pytest.mark.parametrize(
    "module",
    [
        "dpfast",
        "dpfast.accounting",
        "dpfast.base",
        "dpfast.engines",
        "dpfast.mechanisms",
        "dpfast.littlestone",
        "dpfast.metrics",
        "dpfast.model_selection",
        "dpfast.testing",
    ],
)
def test_every_public_name_has_its_place_in_the_reference(module):
    listed = {name for page in PAGES.glob("*.rst") for name in re.findall(r"^   ([\w.]+)$", page.read_text(), re.M)}
    public = import_module(module)
    named = {name: getattr(public, name) for name in public.__all__}
    lacking = {
        name for name, value in named.items() if not (ismodule(value) or isinstance(value, GenericAlias | int))
    } - listed
    assert not lacking, f"docs/reference: {sorted(lacking)} of {module}"
