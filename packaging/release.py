"""Prepare a release: ``python packaging/release.py 0.2.0 --repository URL [--date 2026-12-01] [--check]``.

Sets the version in each file that has one, dates the first section of the changelog, writes the addresses of the
project, adds the version to those that readers of the site choose from, and builds sdist and wheel. With --check it
writes nothing and lists what is missing. A person uploads the files. Addresses are given once; later releases keep
them.
"""

import argparse
import datetime
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

TOP = Path(__file__).parents[1]
VERSIONED = {  # the version, in each file that has one
    "pyproject.toml": r'(?m)^(version = ")([^"]+)(")',
    "CITATION.cff": r"(?m)^(version: )(\S+)()",
    "packaging/recipe.yaml": r'(?m)^(  version: ")([^"]+)(")',
}


def faults(version, date, repository=None, documentation=None):
    """Yield one line for each reason why this version cannot be released."""
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        yield f"the version must have the form 1.2.3 or 1.2.3rc1, got {version!r}"
    found = {name: re.search(pattern, read(name))[2] for name, pattern in VERSIONED.items()}
    if len({*found.values()}) > 1:
        yield f"the files have different versions: {found}"
    changes = re.findall(r"(?m)^## (.+)$", read("CHANGELOG.md"))
    if not changes or changes[0] not in ("Unreleased", f"{version} - {date}"):
        yield f"the first section of CHANGELOG.md must be Unreleased, it is {', '.join(changes[:1]) or 'missing'}"
    if any(name.startswith(f"{version} - ") for name in changes[1:]):
        yield f"CHANGELOG.md already has a section for {version}"
    known = "urls" in tomllib.loads(read("pyproject.toml"))["project"]
    if known and repository:
        yield "pyproject.toml already has [project.urls]: leave out --repository"
    if not known and not repository:
        yield "the address of the repository is not known yet: give --repository https://host/path"
    for address in filter(None, (repository, documentation)):
        if not re.fullmatch(r"https://[\w.-]+/[\w./-]*[\w-]", address):
            yield f"an address must have the form https://host/path, got {address!r}"
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=TOP, capture_output=True, text=True, check=True)
    if changed.stdout:
        yield "there are changes that are not committed: commit them first"


def write(version, date, repository=None, documentation=None):
    """Set version, date and, where they are given, addresses everywhere."""
    for name, pattern in VERSIONED.items():
        (TOP / name).write_text(re.sub(pattern, rf"\g<1>{version}\g<3>", read(name), count=1), encoding="utf-8")
    citation = re.sub(r"(?m)^date-released: .*\n", "", read("CITATION.cff"))
    (TOP / "CITATION.cff").write_text(citation.rstrip("\n") + f"\ndate-released: {date}\n", encoding="utf-8")
    if repository:
        changes = f"{repository}/blob/main/CHANGELOG.md"
        addresses = {"Repository": repository, "Documentation": documentation or repository, "Changelog": changes}
        lines = "".join(f'{name} = "{address}"\n' for name, address in addresses.items())
        (TOP / "pyproject.toml").write_text(
            read("pyproject.toml").replace(
                "\n[project.scripts]\n", f"\n[project.urls]\n{lines}\n[project.scripts]\n", 1
            ),
            encoding="utf-8",
        )
        where = f"repository-code: {repository}\nurl: {documentation or repository}\n"
        (TOP / "CITATION.cff").write_text(read("CITATION.cff") + where, encoding="utf-8")
        recipe = read("packaging/recipe.yaml").rstrip("\n") + f"\n  repository: {repository}\n"
        (TOP / "packaging" / "recipe.yaml").write_text(recipe, encoding="utf-8")
    known = tomllib.loads(read("pyproject.toml"))["project"].get("urls", {})
    if known.get("Documentation") != known.get("Repository"):  # there is a site
        versions = [each for each in json.loads(read("docs/_static/versions.json")) if each["version"] != version]
        versions.insert(0, {"version": version, "url": f"{known['Documentation']}/{version}/"})
        (TOP / "docs/_static/versions.json").write_text(json.dumps(versions, indent=1) + "\n", encoding="utf-8")
    dated = read("CHANGELOG.md").replace("## Unreleased\n", f"## {version} - {date}\n", 1)
    (TOP / "CHANGELOG.md").write_text(dated, encoding="utf-8")


def read(name):
    return (TOP / name).read_text(encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("version")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--repository", metavar="URL", help="where the repository is, at the first release")
    parser.add_argument("--documentation", metavar="URL", help="where the site is; the repository by default")
    parser.add_argument("--check", action="store_true", help="write nothing, list what is missing")
    asked = parser.parse_args()
    given = asked.version, asked.date, asked.repository, asked.documentation
    lines = list(faults(*given))
    if lines or asked.check:
        print("\n".join(lines) or f"{asked.version} can be released")
        sys.exit(bool(lines))
    write(*given)
    subprocess.run([sys.executable, "-m", "build", "--outdir", "dist"], cwd=TOP, check=True)
    print(f"dist/ has {asked.version}; now run .ci/run, commit, tag v{asked.version}, and upload")


if __name__ == "__main__":
    main()
