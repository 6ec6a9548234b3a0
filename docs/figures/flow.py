"""How a row flows from a file to a released model, for a list and for a halfspace: flow.svg, for docs/development.md.

Every stop names the file in which it happens; a name that is no file any more is refused.
"""

from pathlib import Path

import style
from style import plt

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

STOPS = [  # what happens; the file for a list; the file for a halfspace; whose side it is on
    ("a file is parsed", "dpfast/files/readers.py", "dpfast/files/readers.py", "row"),
    ("a row gets its image,\nfrom that row alone", "dpfast/tables/bit_matrix.py", "dpfast/tables/unit_rows.py", "row"),
    ("images live in parts,\nasked on threads", "dpfast/parts/blocks.py", "dpfast/parts/blocks.py", "row"),
    ("a kernel answers with\nsums of integers", "csrc/cover.c", "csrc/unit_rows.c", "row"),
    (
        "the price of a choice\nor of a sum",
        "dpfast/accounting/curves/cover.py",
        "dpfast/accounting/claims/costs.py",
        "release",
    ),
    ("one exact draw,\none exact noise", "dpfast/kernels/cover.pyx", "dpfast/mechanisms/draws.py", "release"),
    (
        "the learner reads\nlike the paper",
        "dpfast/learners/lists/decision_list.py",
        "dpfast/learners/halfspaces/projected.py",
        "release",
    ),
    ("charged, then published\nwith its claim", "dpfast/base/fitting.py", "dpfast/base/fitting.py", "release"),
    ("saved, shown", "dpfast/base/saving.py", "dpfast/base/saving.py", "release"),
]


def main():
    for _, *files, _ in STOPS:
        for file in files:
            if not (ROOT / file).is_file():
                raise SystemExit(f"{file} is gone: say in STOPS where this happens now")
    figure, axes = plt.subplots(figsize=(8.6, 0.78 * len(STOPS) + 0.8))
    axes.set(xlim=(0, 10), ylim=(-len(STOPS) + 0.3, 1.1))
    axes.set_axis_off()
    for x, title in ((4.6, "a decision list"), (8.1, "a halfspace")):
        axes.text(x, 0.8, title, ha="center", weight="bold")
    for k, (what, for_list, for_halfspace, side) in enumerate(STOPS):
        colour = style.ORANGE if side == "row" else style.BLUE
        axes.text(0.1, -k, what, va="center", color=colour)
        for x, file in ((4.6, for_list), (8.1, for_halfspace)):
            box = {"boxstyle": "round,pad=0.35", "edgecolor": colour, "facecolor": "white"}
            axes.text(x, -k, file.removeprefix("dpfast/"), ha="center", va="center", fontsize=8.5, bbox=box)
            if k:
                axes.annotate("", (x, -k + 0.24), (x, -k + 0.76), arrowprops={"arrowstyle": "->", "color": style.GREY})
    axes.text(0.1, 0.8, "orange: private, blue: released", color=style.GREY, fontsize=8.5)
    style.save(figure, HERE / "flow.svg")


if __name__ == "__main__":
    main()
