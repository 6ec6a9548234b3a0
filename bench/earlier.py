"""Take the figures that the records print back into JSON: utility.json, tables.json, unseen.json.

    python bench/earlier.py [--page FILE ...] [--out DIR]

Measurements of peers take hours, and their JSON is not kept in the repository. This script reads the Markdown tables of
docs/records/accuracy.md, so that utility.py, tables.py and unseen.py can measure dpfast's own learners again, keep the
lines of peers as they are printed, and draw their pictures of both.
"""

import argparse
from pathlib import Path

import results
import tables
import unseen
import utility

PAGE = results.ROOT / "docs" / "records" / "accuracy.md"


def printed(text):
    """Header and rows of each Markdown table of a text; a cell that is empty says what the one above it says."""
    found, above = [], []
    for line in text.splitlines():
        if not line.startswith("|"):
            above = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not above:
            found.append((cells, []))
        elif set(line) - set("|-: "):
            cells[0] = cells[0] or above[0]
            found[-1][1].append(cells)
        above = cells
    return found


def of_utility(rows):
    read = {"tables": {}}
    for name, method, *figures, version, splits in rows:
        pairs = list(zip(utility.EPSILONS, map(float, figures), strict=True))
        if method == utility.NOT_PRIVATE:
            pairs = [(None, pairs[0][1])]
        medians = [{"epsilon": epsilon, "accuracy": accuracy, "setting": "as printed"} for epsilon, accuracy in pairs]
        read["tables"].setdefault(name, {})[method] = {"seeds": int(splits), "version": version, "medians": medians}
    return read


def of_tables(rows):
    read = {}
    for name, model, *figures, error, version, splits in rows:
        cells = {}
        for epsilon, told in zip(tables.EPSILONS, figures, strict=True):
            accuracy, area = map(float, told.split("/"))
            shared = {"calibration_error": float(error), "version": version, "splits": int(splits)}
            cells[f"{epsilon:g}"] = {"accuracy": accuracy, "auc": area} | shared
        read.setdefault(name, {})[model] = cells
    return read


def of_unseen(rows):
    read = {"tables": {}}
    for name, method, *figures in rows:
        lines = read["tables"].setdefault(name, {key: [None] * 3 for key in ("medians", "means")})
        lines["medians"][unseen.METHODS.index(method)] = list(map(float, figures))
    return read


KINDS = {  # by what stands first and last in the header of a table
    ("data", "method", "splits"): ("utility", of_utility),
    ("table", "model", "splits"): ("tables", of_tables),
    ("table", "method", "epsilon 3"): ("unseen", of_unseen),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--page", type=Path, nargs="+", default=[PAGE])
    arguments = parser.parse_args()
    for page in arguments.page:
        for header, rows in printed(page.read_text(encoding="utf-8")):
            name, read = KINDS.get((header[0], header[1], header[-1]), (None, None))
            if name:
                results.write(arguments.out, name, read(rows))
                print(f"{name}.json: {len(rows)} lines of {page.name}")


if __name__ == "__main__":
    main()
