"""Every race of this folder in one table and one picture: report.md, report.svg, and report.json behind them.

    python bench/report.py [--out DIR] [--threads 1 2] [-- more arguments for pytest]
    python bench/report.py --json ONE.json [TWO.json]      what pytest bench --benchmark-json=... left

A ratio is the peer's time over dpfast's for the same work in the same run, both medians; where the two sides do
different amounts of it, for the same amount. Shares are of what this machine's memory gives to reading (bandwidth.py).
Lower instruction-set levels are given as how much longer they take. Runs with more threads repeat dpfast's lines only,
and count where the line uses the pool of `dpfast.parts.blocks`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import results

OURS = "test_dpfast_"


def title(benchmark):
    """A line's name without what its group and its level say: draw, release [mirrored]."""
    name, _, parameters = benchmark["name"].partition("[")
    level = (benchmark["params"] or {}).get("isa")
    parameters = "-".join(part for part in parameters.rstrip("]").split("-") if part != level)
    return name.removeprefix(OURS).removeprefix("test_").replace("_", " ") + (f" [{parameters}]" if parameters else "")


def lines(benchmarks):
    """One record for each line of dpfast, with the peers of its group.

    Parameters
    ----------
    benchmarks : list of dict
        As in a file of --benchmark-json. `extra_info` may hold `bytes`, what the work reads and writes, `items`, a
        number and its unit, and `work`, how many times a line does the work of its group.

    Returns
    -------
    list of dict
        work, line, level, seconds, bytes, items, pooled, and peers: a list of name, seconds, ratio.
    """
    groups = defaultdict(list)
    for benchmark in benchmarks:
        groups[benchmark["group"]].append(benchmark)

    def each(benchmark):  # seconds for one unit of work
        return benchmark["stats"]["median"] / benchmark["extra_info"].get("work", 1)

    records = []
    for group, members in groups.items():
        rivals = [member for member in members if not member["name"].startswith(OURS)]
        for mine in members:
            if mine in rivals:
                continue
            records.append(
                {
                    "work": group,
                    "line": title(mine),
                    "level": (mine["params"] or {}).get("isa"),
                    "seconds": mine["stats"]["median"],
                    "bytes": mine["extra_info"].get("bytes"),
                    "items": mine["extra_info"].get("items"),
                    "pooled": mine["extra_info"].get("pooled", False),
                    "peers": [
                        {"name": title(rival), "seconds": rival["stats"]["median"], "ratio": each(rival) / each(mine)}
                        for rival in rivals
                    ],
                }
            )
    return records


def merged(runs):
    """Records of `lines` from runs with different numbers of threads, best levels only.

    Parameters
    ----------
    runs : dict
        From a number of threads to records; the first run's ratios are kept.

    Returns
    -------
    list of dict
        The first run's records with `threads`, seconds by number of threads (others only for pooled lines), and
        `slower`, from a lower level to how many times longer it takes.
    """
    best = {}
    for threads, records in runs.items():
        for record in records:  # levels rise
            key = record["work"], record["line"]
            if key not in best or best[key]["level"] != record["level"]:
                lower = best.get(key)
                if threads != next(iter(runs)):
                    continue
                best[key] = record | {"threads": {threads: record["seconds"]}, "slower": {}}
                if lower:
                    known = lower["slower"] | {lower["level"]: 1}
                    change = lower["seconds"] / record["seconds"]
                    best[key]["slower"] = {level: factor * change for level, factor in known.items()}
            elif record["pooled"]:
                best[key]["threads"][threads] = record["seconds"]
    return list(best.values())


def milliseconds(seconds):
    return f"{1e3 * seconds:.3g}" if seconds < 10 else f"{1e3 * seconds:.0f}"


def times(ratio):
    return f"{ratio:.3g}" if ratio < 1000 else f"{ratio:,.0f}"


def markdown(report):
    threads = list(report["bandwidth"])
    header = ["work", "dpfast", *(f"ms, {number} thread{'s' * (number != '1')}" for number in threads)]
    header += ["scalar, AVX2", "GB/s", "of reading", "peer", "ms", "ratio"]
    rows = []
    for line in report["lines"]:
        measured = [milliseconds(line["threads"][number]) if number in line["threads"] else "" for number in threads]
        slower = ", ".join(f"{line['slower'][level]:.1f} x" for level in ("scalar", "avx2") if level in line["slower"])
        rates = {number: line["bytes"] / seconds for number, seconds in line["threads"].items() if line["bytes"]}
        shares = [f"{100 * rate / report['bandwidth'][number]['read']:.0f}%" for number, rate in rates.items()]
        known = [line["work"], line["line"], *measured, slower]
        known += [", ".join(f"{rate / 1e9:.1f}" for rate in rates.values()), ", ".join(shares)]
        for peer in line["peers"] or [None]:
            race = [peer["name"], milliseconds(peer["seconds"]), times(peer["ratio"])] if peer else ["", "", ""]
            rows.append([*known, *race])
            known = [""] * len(known)
    memory = "; ".join(
        f"threads {number}: read {rate['read'] / 1e9:.1f} GB/s, triad {rate['triad'] / 1e9:.1f} GB/s"
        for number, rate in report["bandwidth"].items()
    )
    return f"{results.sentence(report['machine'])}\n\nMemory, {memory}.\n\n" + results.table(header, rows)


def draw(report, path):
    style = results.style()
    races = [(line, peer) for line in report["lines"] for peer in line["peers"]]
    figure, axes = style.plt.subplots(figsize=(10.8, 0.28 * len(races) + 1.2))
    heights, work = [], None
    for line, _ in races:
        heights.append((heights[-1] if heights else 0) - (1 if line["work"] == work else 1.6))
        work = line["work"]
    for height, (_, peer) in zip(heights, races, strict=True):
        ratio = peer["ratio"]
        axes.barh(height, ratio - 1, left=1, color=style.BLUE if ratio >= 1 else style.ORANGE)
        axes.text(1.08 * max(ratio, 1), height, times(ratio), va="center", fontsize=8)
    axes.set_yticks(heights, [f"{line['work']}: {line['line']} / {peer['name']}" for line, peer in races], fontsize=8)
    axes.set(xscale="log", xlabel="times faster than the peer, same run", ylim=(min(heights) - 1, 0))
    axes.axvline(1, color=style.GREY, linewidth=1.2)
    axes.set_xlim(min(0.5, *(peer["ratio"] / 1.5 for _, peer in races)), 3 * max(peer["ratio"] for _, peer in races))
    axes.grid(axis="y", visible=False)
    axes.set_axisbelow(True)
    style.save(figure, path)


def run(threads, more):
    """What pytest bench leaves, with so many threads."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "benchmark.json")
        command = f"-m pytest bench -q -p no:cacheprovider --benchmark-json={file}".split()
        environment = os.environ | {"DPFAST_THREADS": str(threads)}
        subprocess.run([sys.executable, "-P", *command, *more], check=True, cwd=results.ROOT, env=environment)
        return json.loads(file.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--json", type=Path, nargs="+", help="results of pytest to read instead of running it")
    parser.add_argument("pytest", nargs="*", help="more arguments for pytest, after --")
    arguments = parser.parse_args()

    if arguments.json:
        files = [json.loads(path.read_text()) for path in arguments.json]
    else:
        first, *others = arguments.threads
        files = [run(first, arguments.pytest)]
        files += [run(number, [*arguments.pytest, "--ours"]) for number in others]
    runs = {str(file["dpfast"]["threads"]): lines(file["benchmarks"]) for file in files}
    report = {
        "machine": files[0]["dpfast"]["machine"],
        "bandwidth": {str(file["dpfast"]["threads"]): file["dpfast"]["bandwidth"] for file in files},
        "lines": merged(runs),
    }
    results.write(arguments.out, "report", report)
    results.publish(arguments.out, "report", markdown(report))
    draw(report, arguments.out / "report.svg")


if __name__ == "__main__":
    main()
