"""The numbered items of the five papers, and those that docs/papers.md has a row for.

`papers_items.txt` names the items of each paper. Its lines for a paper are those of

    python tests/docs/papers_items.py TEXT

where TEXT is the paper as plain text, and the names of algorithms that have no number.
"""

import re
import sys
from pathlib import Path

KINDS = ["Algorithm", "Claim", "Corollary", "Definition", "Fact", "Lemma", "Proposition", "Remark", "Theorem"]
_NUMBER = r"(?:[A-Z]\.)?\d+(?:\.\d+)?"
_NAMED = re.compile(rf"^\W{{0,4}}({'|'.join(KINDS)})\s({_NUMBER})\b", re.MULTILINE)
_GROUP = re.compile(rf"({'|'.join(KINDS)}|Corollarie)s? ({_NUMBER}(?:(?:, | and | to ){_NUMBER})*)")


def named(text):
    """Items that begin a line of a paper, in their order."""
    return list(dict.fromkeys(f"{kind} {number}" for kind, number in _NAMED.findall(text)))


def items():
    """Paper -> the names of its items."""
    blocks = (Path(__file__).parent / "papers_items.txt").read_text(encoding="utf-8").strip().split("\n\n")
    return {block.split("\n")[0]: block.split("\n")[1:] for block in blocks}


def covered(page):
    """Paper -> (items that the first cells of its tables name, these cells as they are)."""
    found = {}
    for section in re.split(r"^## (?=\[)", page, flags=re.MULTILINE)[1:]:
        cells = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")]
        found[section[: section.index("]") + 1]] = ({item for cell in cells for item in _expanded(cell)}, cells)
    return found


def _expanded(cell):
    for kind, numbers in _GROUP.findall(cell):
        kind = kind.replace("Corollarie", "Corollary")
        for first, last in re.findall(rf"({_NUMBER})(?: to ({_NUMBER}))?", numbers):
            stem, start = re.fullmatch(r"(.*?)(\d+)", first).groups()
            end = re.fullmatch(r"(.*?)(\d+)", last).group(2) if last else start
            yield from (f"{kind} {stem}{i}" for i in range(int(start), int(end) + 1))


if __name__ == "__main__":
    print("\n".join(named(Path(sys.argv[1]).read_text(encoding="utf-8"))))
