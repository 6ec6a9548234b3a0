"""The table of files in docs/development.md holds."""

import re
from pathlib import Path

import files_executed
import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "development.md"
MOST = {title: int(most) for title, most in re.findall(r"^\| (.+) \| (\d+) \|$", PAGE.read_text("utf-8"), re.M)}


@pytest.mark.filterwarnings("ignore")
def test_no_task_executes_more_files_than_the_table_says(tmp_path):
    seen = dict(files_executed.tasks(tmp_path))
    assert {*seen} == {*MOST}
    assert {title: files for title, files in seen.items() if len(files) > MOST[title]} == {}
