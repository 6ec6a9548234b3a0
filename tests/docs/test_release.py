"""What a release needs stands in several files, and they agree."""

import re
import tomllib
from pathlib import Path

HERE = Path(__file__).parents[2]
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_conda_recipe_asks_for_what_the_wheel_asks_for():
    recipe = (HERE / "packaging" / "recipe.yaml").read_text(encoding="utf-8")
    run = re.search(r"(?m)^  run:\n((?:    - .*\n)+)", recipe)[1]
    asked = {line.strip("- \n").replace(" ", "") for line in run.splitlines()}
    assert asked == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}


def test_the_version_is_the_same_wherever_it_stands():
    for name, pattern in (("CITATION.cff", r"(?m)^version: (\S+)"), ("packaging/recipe.yaml", r'version: "([^"]+)"')):
        assert re.search(pattern, (HERE / name).read_text(encoding="utf-8"))[1] == PROJECT["version"]


def test_the_changelog_has_a_section_for_what_is_not_released_yet():
    sections = re.findall(r"(?m)^## (.+)$", (HERE / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert sections[0] == "Unreleased" or re.fullmatch(r"\d+\.\d+\.\d+\S* - \d{4}-\d{2}-\d{2}", sections[0])
