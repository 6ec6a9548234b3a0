"""The table of what is public by assumption: each row names a test of it."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "privacy.md").read_text(encoding="utf-8")
ROWS = [
    line.strip("| ").split(" | ")
    for line in PAGE.split("| public by assumption |")[1].split("\n\n")[0].splitlines()[2:]
]


def test_the_table_names_what_decides_how_a_table_is_read():
    told = " ".join(row[0] for row in ROWS)
    for word in ("parameters", "names", "types", "without a type", "separator", "folder", "parts", "number of rows"):
        assert word in told
    for reader in ("pandas", "NumPy", "Dask", "Spark", "Arrow", "polars", "DuckDB", "Ray", "folders"):
        assert f"\n| {reader}" in PAGE


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_each_public_fact_has_a_test(row):
    (path, name) = re.fullmatch(r".*`(.*)::(.*)`", row[-1]).groups()
    assert f"def {name}(" in (TESTS / path).read_text(encoding="utf-8")
