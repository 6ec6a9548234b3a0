"""A release but for the upload: ``python packaging/release.py 0.2.0 [--date 2026-12-01] [--check]``.

Sets the version where it stands, dates the changelog's first section, and builds sdist and wheel. With --check nothing
is written: it says what is missing. What is uploaded, and where to, is for a person to do.
"""

import argparse
import datetime
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


def faults(version, date):
    """One line for each thing that keeps this version from being released."""
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        yield f"{version!r} is no version of the form 1.2.3 or 1.2.3rc1"
    found = {name: re.search(pattern, read(name))[2] for name, pattern in VERSIONED.items()}
    if len({*found.values()}) > 1:
        yield f"versions differ: {found}"
    changes = re.findall(r"(?m)^## (.+)$", read("CHANGELOG.md"))
    if not changes or changes[0] not in ("Unreleased", f"{version} - {date}"):
        yield f"CHANGELOG.md begins with {changes[:1]}, and should with Unreleased"
    if any(name.startswith(f"{version} - ") for name in changes[1:]):
        yield f"CHANGELOG.md has a section of {version} already"
    if "urls" not in tomllib.loads(read("pyproject.toml"))["project"]:
        yield "pyproject.toml has no [project.urls]: say where the repository, the documentation and the changes are"
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=TOP, capture_output=True, text=True, check=True)
    if changed.stdout:
        yield "there are changes that are not committed"


def write(version, date):
    """Set version and date everywhere."""
    for name, pattern in VERSIONED.items():
        (TOP / name).write_text(re.sub(pattern, rf"\g<1>{version}\g<3>", read(name), count=1), encoding="utf-8")
    citation = re.sub(r"(?m)^date-released: .*\n", "", read("CITATION.cff"))
    (TOP / "CITATION.cff").write_text(citation.rstrip("\n") + f"\ndate-released: {date}\n", encoding="utf-8")
    dated = read("CHANGELOG.md").replace("## Unreleased\n", f"## {version} - {date}\n", 1)
    (TOP / "CHANGELOG.md").write_text(dated, encoding="utf-8")


def read(name):
    return (TOP / name).read_text(encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("version")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--check", action="store_true", help="write nothing, say what is missing")
    asked = parser.parse_args()
    lines = list(faults(asked.version, asked.date))
    if lines or asked.check:
        print("\n".join(lines) or f"{asked.version} can be released")
        sys.exit(bool(lines))
    write(asked.version, asked.date)
    subprocess.run([sys.executable, "-m", "build", "--outdir", "dist"], cwd=TOP, check=True)
    print(f"dist/ has {asked.version}; now run .ci/run, commit, tag v{asked.version}, and upload")


if __name__ == "__main__":
    main()
