"""Measure the figures of README.md and docs/results*.md anew, and write them there with date, commit and machine.

    python bench/pages.py --tables DIR --data DIR --rest     everything: hours, on a machine at rest
    python bench/pages.py --tables DIR --only kernels times  some of it: minutes
    python bench/pages.py --only                             measures nothing, writes the pages from the records

A page has a table between two comments, `<!-- measured: NAME -->` and `<!-- end: NAME -->`. This script replaces what
stands between them, and the figures in sentences that `sentences.py` names. What it measures, by the words of `--only`:

    kernels   the table of speed in README.md: three lines of `pytest bench` and their peers, in one run
    times     every raw table at epsilon 1: accuracy, area and seconds of all that is compared in one run; a page has
              the accuracy and area of `accuracy` where both have a cell
    accuracy  `bench/tables.py`, `utility.py` and `unseen.py`: dpfast and trees without privacy;
              lines of other libraries are kept as the records have them
    rows      `bench/areas.py`: area against the number of rows, of drawn and raw tables

Measurements are kept in docs/records: kernels.json, times.json, rows.json and the tables of accuracy.md, each with what
it was measured on. `tests/docs/test_figures.py` refuses records of another minor version, and pages that differ from
them.
"""

import argparse
import datetime
import json
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import areas
import earlier
import results
import sentences

RECORDS = results.ROOT / "docs" / "records"
ACCURACY = RECORDS / "accuracy.md"
PARTS = "kernels", "times", "accuracy", "rows"
KERNELS = {  # what README calls a line: its group and name in `pytest bench`, its peer there and what README calls it
    "one exact draw among 10^6 integer scores": (
        "one draw, 1e6 int32 scores",
        "draw",
        "opendp noisy max",
        "OpenDP `make_noisy_max` (exact)",
    ),
    "discrete Gaussian noise, sigma 1000, cryptographic": (
        "10000 discrete Gaussian draws, sigma 1000",
        "gaussian cryptographic [1000]",
        "opendp gaussian [1000]",
        "OpenDP (exact)",
    ),
    "a private list over all of 2000 features": (
        "a list over all of 1e5 x 2000 packed, a round",
        "whole list",
        "numpy rescoring",
        "rescoring packed columns with numpy each round",
    ),
}
FRONT = {  # lines of README's table of accuracy: what stands there, and what it protects against
    "HalfspaceClassifier": ("`HalfspaceClassifier`, with a schema", "a replaced row"),
    "HalfspaceClassifier, nothing declared": ("`HalfspaceClassifier`, nothing declared", "a replaced row"),
    "DecisionListClassifier": ("`DecisionListClassifier`, at most 15 rules", "a replaced row"),
    "DPEBM": ("DPEBM of interpret-core 0.7.8, ranges declared", "an added row, the weaker promise"),
}
OWN, UNDECLARED, LISTS = "HalfspaceClassifier", "HalfspaceClassifier, nothing declared", "DecisionListClassifier"
CEILING, QUICK = "HistGradientBoosting, not private", ("DPEBM", "noisy gradient, tuned")
SLOW = "DP-XGBoost, tuned", "AIM, then boosted trees"  # in environments of their own, and not on every table


def origin(rest):
    """Version, date, commit and machine of a measurement, and whether nothing ran beside it."""
    command = ["git", "-C", str(results.ROOT), "rev-parse", "--short=9", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {
        "version": results.minor(),
        "date": date,
        "commit": commit,
        "machine": results.machine("opendp"),
        "rest": rest,
    }


def said(record, command):
    """The line below a table: what it was measured with, when and where."""
    machine = record["machine"]
    where = f"{machine['processor']}, {machine['cores']} cores, {machine['level']}"
    beside = "at rest" if record["rest"] else "beside other jobs"
    when = f"Measured on {record['date']} for version {record['version']}"
    commit = ", ".join([record["commit"], *([record["later"]] if "later" in record else [])])  # lines measured again
    return f"{when} (commit {commit}; {where}, {beside}):\n{command}."


def kernels(rest):
    """The races of README, by pytest-benchmark."""
    import report

    groups = sorted({group for group, *_ in KERNELS.values()})
    files = ["bench/bench_levels.py", "bench/bench_noise.py", "bench/bench_decision_list.py"]
    file = results.ROOT / "build" / "kernels.json"
    file.parent.mkdir(exist_ok=True)
    chosen = "(draw or gaussian or whole_list or rescoring or noisy_max) and not scalar and not avx2"
    command = [sys.executable, "-P", "-m", "pytest", *files, "-q", "-n", "0", "-k", chosen]
    subprocess.run([*command, f"--benchmark-json={file}"], check=True, cwd=results.ROOT)
    benchmarks = json.loads(file.read_text())["benchmarks"]
    for each in benchmarks:  # a slow peer is interrupted more often where other jobs run: the fastest repeat is not
        each["stats"]["median"] = each["stats"]["min"]
    measured = report.lines(benchmarks)
    lines = [line for line in measured if line["work"] in groups]
    results.write(RECORDS, "kernels", origin(rest) | {"lines": lines})


def times(folder, splits, rest, models=(), names=()):
    """What each model of every table reaches and takes at epsilon 1, and how large the largest class is.

    With `models` or `names`, only these models and tables are measured, and the record keeps the others.
    """
    import tables

    warnings.simplefilter("ignore")
    some, now = models or names, origin(rest)
    record = results.read(RECORDS, "times") if some else now | {"tables": {}}
    for path in sorted(folder.glob("*.schema.json")):
        name = path.name.split(".")[0]
        if names and name not in names:
            continue
        table = tables.read(path)
        found = record["tables"].setdefault(name, {"models": {}})
        labels = table[1].value_counts(normalize=True)
        found |= {"rows": len(table[1]), "largest": float(labels.iloc[0]), "smallest": float(labels.iloc[-1])}
        for model in models or (OWN, UNDECLARED, CEILING, *QUICK):
            cell = tables.figures(tables.MODELS[model], 1, table, splits)
            if cell is None:
                continue
            cell = {key: cell[key] for key in ("accuracy", "auc", "seconds", "splits")}
            found["models"][model] = cell | ({"date": now["date"], "commit": now["commit"]} if some else {})
            print(f"{name} {model} {figures(cell)} {cell['seconds']:.2f} s", flush=True)
            results.write(RECORDS, "times", record)


def accuracy(folder, data, splits, rest):
    """The records of accuracy: dpfast's lines anew, those of others as they are."""
    out = results.ROOT / "build" / "bench"

    def run(script, *arguments):
        command = [sys.executable, str(results.ROOT / "bench" / script), "--out", str(out), *arguments]
        subprocess.run(command, check=True, cwd=results.ROOT)

    run("earlier.py")
    run("tables.py", "--data", folder, "--splits", splits, "--models", OWN, UNDECLARED, LISTS, CEILING)
    own = [OWN, "DPWinnowClassifier", f"{OWN}, add-remove", LISTS]
    run("utility.py", "--data", data, "--seeds", str(2 * int(splits)), "--methods", *own)
    others = ["BoostedHalfspaceClassifier", "ProjectedHalfspaceClassifier"]
    run("utility.py", "--data", data, "--seeds", splits, "--methods", *others)
    run("unseen.py")
    written = [block for name in ("tables", "utility", "unseen") for block in told((out / f"{name}.md").read_text())]
    ACCURACY.write_text(with_tables(ACCURACY.read_text(), written))
    for name in ("tables.svg", "tables_auc.svg", "utility.svg"):
        shutil.copy(out / name, results.ROOT / "docs" / "figures")
    results.write(RECORDS, "accuracy", origin(rest))


def by_rows(folder, rest):
    """The area of both models of `bench/areas.py` by the number of rows, and its picture."""
    record = origin(rest) | areas.measured(folder, areas.LARGEST)
    results.write(RECORDS, "rows", record)
    areas.picture(record, results.ROOT / "docs" / "figures" / "rows.svg")


def told(text):
    """The tables of a text, each as its lines."""
    return re.findall(r"(?:^\|.*\n)+", text + "\n", re.MULTILINE)


def with_tables(text, tables):
    """A text whose tables are replaced by those with the same header, in their order."""
    left = list(tables)
    for old in told(text):
        header = old.split("\n")[0]
        new = next((each for each in left if each.split("\n")[0] == header), None)
        if new:
            left.remove(new)
            text = text.replace(old, new, 1)
    if left:
        raise ValueError(f"no table begins with {left[0].splitlines()[0]}")
    return text


def figures(cell):
    """A cell of accuracy and area without leading zeros: .856 / .910."""
    return f"{cell['accuracy']:.3f} / {cell['auc']:.3f}".replace("0.", ".")


def printed():
    """What the records say of raw tables: table -> model -> epsilon -> figures."""
    for header, rows in earlier.printed(ACCURACY.read_text()):
        name, read = earlier.KINDS.get((header[0], header[1], header[-1]), (None, None))
        if name == "tables":
            return read(rows)
    raise ValueError(f"{ACCURACY} has no table of raw tables")


def front(measured):
    rows = []
    for model, (shown, protected) in FRONT.items():
        cells = measured["adult"][model]
        rows.append([shown, figures(cells["0.3"]), figures(cells["1"]), protected])
    return results.table(["learner", "epsilon 0.3", "epsilon 1", "protects against"], rows)


def prices(measured):
    """How far the default is from trees without privacy, the farthest in area at epsilon 1 first."""
    import tables

    (rows,) = (found for _, found in earlier.printed(tables.distances(measured)))
    rows = [[name, *cells] for name, model, *cells in rows if model == OWN]
    return results.table(["table", "not private", *(f"epsilon {epsilon:g}" for epsilon in tables.EPSILONS)], rows)


def shown_with_seconds(cell):
    """Accuracy, area and the seconds of one fit, of two digits."""
    seconds = float(f"{cell['seconds']:.2g}")
    return f"{figures(cell)}, {seconds:g} s"


def as_recorded(record, measured):
    """The record of times with the accuracy and area of the table of raw tables, so that a cell has one figure."""
    tables = {}
    for name, found in record["tables"].items():
        known = {model: measured[name].get(model, {}).get("1", {}) for model in found["models"]}
        tables[name] = found | {"models": {model: cell | known[model] for model, cell in found["models"].items()}}
    return record | {"tables": tables}


def beside(record):
    """What a table allows at epsilon 1, with seconds of fits: the best other private learner has the larger area."""
    rows = []
    for name, found in record["tables"].items():
        models = found["models"]
        best = max({*QUICK, *SLOW} & models.keys(), key=lambda model: models[model]["auc"], default=None)
        other = f"{best.removesuffix(', tuned')}: {shown_with_seconds(models[best])}" if best else "none"
        largest = f"{found['largest']:.3f}".removeprefix("0")
        cells = [shown_with_seconds(models[model]) for model in (CEILING, OWN, UNDECLARED)]
        rows.append([name, f"{found['rows']:,}", largest, *cells, other])
    head = ["table", "rows", "largest class", "trees, not private", "with a schema", "nothing declared", "best other"]
    return results.table(head, rows)


def races(record):
    rows = []
    for shown, (group, line, peer, of) in KERNELS.items():
        (mine,) = (each for each in record["lines"] if (each["work"], each["line"]) == (group, line))
        (other,) = (each for each in mine["peers"] if each["name"] == peer)
        ratio = float(f"{other['ratio']:.2g}")
        rows.append([shown, of, f"{ratio:,.0f}"])
    return results.table(["work", "compared with", "times as fast"], rows)


def others(record):
    """Private learners of others at epsilon 1, those that were measured, on the tables on which one was."""
    known = {model for found in record["tables"].values() for model in found["models"]}
    shown = [model for model in (*QUICK, *SLOW) if model in known]
    rows = []
    for name, found in record["tables"].items():
        cells = [found["models"].get(model) for model in shown]
        if any(cells):
            rows.append([name, *(shown_with_seconds(cell) if cell else "" for cell in cells)])
    return results.table(["table", *(model.removesuffix(", tuned") for model in shown)], rows)


def with_trees(records):
    """What trees and pairs change, on the tables on which it is most."""
    rows = [[cell.removesuffix(" *") for cell in row[:4]] for row in records.table(*sentences.OF_TREES)[:4]]
    return results.table(["table", "the default", "`trees=0`", "`interactions=0`"], rows)


def full_size(records):
    rows = [
        [run, size, peak, work] for run, size, _, peak, _, _, _, work, _ in records.table("speed.md", "run", "size")
    ]
    return results.table(["run", "size", "peak GB", "seconds of work"], rows)


def blocks(records):
    """What stands between the comments of each name."""
    of_times, of_kernels, of_rows = (results.read(RECORDS, name) for name in ("times", "kernels", "rows"))
    measured, of_accuracy = printed(), results.read(RECORDS, "accuracy")
    command = "`python bench/pages.py --only {}`".format
    timed = f"seconds, and accuracy that no other table has, by {command('times')}"
    cells = [(model, cell) for found in of_times["tables"].values() for model, cell in found["models"].items()]
    again = {}
    for model, cell in cells:
        if "commit" in cell:
            again.setdefault(model.split(",")[0], set()).add(cell["commit"])
    later = ", ".join(f"{model} {' and '.join(sorted(commits))}" for model, commits in sorted(again.items()))
    of_times |= {"later": later} if later else {}
    of_times = as_recorded(of_times, measured)
    return {
        "front": f"{front(measured)}\n{said(of_accuracy, command('accuracy'))}\n",
        "prices": f"{prices(measured)}\n{said(of_accuracy, command('accuracy'))}\n",
        "beside": f"{beside(of_times)}\n{said(of_times, timed)}\n",
        "others": others(of_times),
        "kernels": f"{races(of_kernels)}\n{said(of_kernels, command('kernels'))}\n",
        "trees": with_trees(records),
        "full": full_size(records),
        "rows": f"{areas.markdown(of_rows)}\n{said(of_rows, command('rows'))}\n",
    }


def pages():
    """Every page that has a measured table or figure, with the text that it should have."""
    records = sentences.Records()
    found = blocks(records)
    for path in (results.ROOT / "README.md", *sorted((results.ROOT / "docs").glob("*.md"))):
        old = text = path.read_text(encoding="utf-8")
        for name, block in found.items():
            between = rf"(<!-- measured: {name} -->\n).*?(<!-- end: {name} -->)"
            text = re.sub(between, lambda at, block=block: f"{at[1]}\n{block}\n{at[2]}", text, flags=re.DOTALL)
        page = path.relative_to(results.ROOT).as_posix()
        text, places = sentences.written(page, text, records)
        if places or "<!-- measured: " in old:
            yield path, text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=PARTS, default=PARTS, help="what to measure; nothing, for none")
    parser.add_argument("--tables", type=Path, help="folder of NAME.csv.gz and NAME.schema.json")
    parser.add_argument("--data", type=Path, help="folder of NAME.npz")
    parser.add_argument("--splits", default="5", help="of raw tables; prepared ones have twice as many")
    parser.add_argument("--models", nargs="*", default=(), help="of times: only these, by their names in tables.py")
    parser.add_argument("--names", nargs="*", default=(), help="of times: only these tables")
    parser.add_argument("--rest", action="store_true", help="nothing else runs on this machine: the pages say so")
    arguments = parser.parse_args()
    if arguments.tables is None and {"times", "accuracy", "rows"} & {*arguments.only}:
        parser.error("--tables is needed for times, accuracy and rows")
    if arguments.data is None and "accuracy" in arguments.only:
        parser.error("--data is needed for accuracy")
    if "kernels" in arguments.only:
        kernels(arguments.rest)
    if "times" in arguments.only:
        times(arguments.tables, int(arguments.splits), arguments.rest, arguments.models, arguments.names)
    if "accuracy" in arguments.only:
        accuracy(str(arguments.tables), str(arguments.data), arguments.splits, arguments.rest)
    if "rows" in arguments.only:
        by_rows(arguments.tables, arguments.rest)
    for path, text in [*pages()]:
        path.write_text(text, encoding="utf-8")
        print(f"{path.relative_to(results.ROOT)}: written")


if __name__ == "__main__":
    main()
