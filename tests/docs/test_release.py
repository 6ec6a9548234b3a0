"""What a release needs stands in several files, and they agree."""

import importlib.util
import json
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

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


@pytest.fixture
def release(tmp_path, monkeypatch):
    """The release script, for a small project that has changes which are not committed."""
    spec = importlib.util.spec_from_file_location("release", HERE / "packaging" / "release.py")
    release = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(release)
    (tmp_path / "packaging").mkdir()
    (tmp_path / "docs" / "_static").mkdir(parents=True)
    for name, text in {
        "pyproject.toml": '[project]\nversion = "1.2.3.dev0"\n\n[project.scripts]\nrun = "run:run"\n',
        "CITATION.cff": "version: 1.2.3.dev0\ndate-released: 2029-01-01\n",
        "packaging/recipe.yaml": 'context:\n  version: "1.2.3.dev0"\n\nabout:\n  license: BSD-3-Clause\n',
        "docs/_static/versions.json": "[]\n",
        "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n## 1.2.2 - 2029-01-01\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(release, "TOP", tmp_path)
    monkeypatch.setattr(release.subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=" M setup.py"))
    return release


def test_a_release_is_refused_with_all_reasons(release):
    assert list(release.faults("1.2.2.dev0", "2029-01-01")) == [
        "the version must have the form 1.2.3 or 1.2.3rc1, got '1.2.2.dev0'",
        "the address of the repository is not known yet: give --repository https://host/path",
        "there are changes that are not committed: commit them first",
    ]
    assert list(release.faults("1.2.2", "2030-01-02", "ftp://example.org", "https://example.org/docs"))[:2] == [
        "CHANGELOG.md already has a section for 1.2.2",
        "an address must have the form https://host/path, got 'ftp://example.org'",
    ]


def test_a_release_writes_version_date_and_addresses_everywhere(release, tmp_path):
    release.write("9.8.7", "2030-01-02", "https://example.org/dpfast", "https://example.org/docs")
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (project["version"], project["scripts"]) == ("9.8.7", {"run": "run:run"})
    assert project["urls"]["Repository"] == "https://example.org/dpfast"
    assert (tmp_path / "CITATION.cff").read_text(encoding="utf-8").splitlines() == [
        "version: 9.8.7",
        "date-released: 2030-01-02",
        "repository-code: https://example.org/dpfast",
        "url: https://example.org/docs",
    ]
    recipe = (tmp_path / "packaging" / "recipe.yaml").read_text(encoding="utf-8")
    assert recipe.endswith("about:\n  license: BSD-3-Clause\n  repository: https://example.org/dpfast\n")
    changes = (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    assert changes == "# Changelog\n\n## 9.8.7 - 2030-01-02\n\n## 1.2.2 - 2029-01-01\n"
    release.write("9.8.8", "2030-01-03")
    versions = json.loads((tmp_path / "docs" / "_static" / "versions.json").read_text(encoding="utf-8"))
    assert versions == [{"version": v, "url": f"https://example.org/docs/{v}/"} for v in ("9.8.8", "9.8.7")]
    assert "pyproject.toml already has [project.urls]: leave out --repository" in list(
        release.faults("9.9.0", "2031-01-02", "https://example.org/dpfast")
    )
