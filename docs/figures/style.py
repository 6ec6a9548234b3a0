"""What the pictures share: one look, and files that come out the same each time."""

import matplotlib
import numpy as np
from sklearn.isotonic import isotonic_regression

matplotlib.use("svg")
import matplotlib.pyplot as plt

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#6E6E6E"  # Okabe and Ito: safe for the colour-blind
PURPLE, SKY, AMBER, BLACK, RED = "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#B00020"

plt.rcParams.update(
    {
        "axes.grid": True,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlelocation": "left",
        "axes.titleweight": "bold",
        "figure.facecolor": "white",
        "font.family": "DejaVu Sans",
        "font.size": 10,
        "grid.color": "#E6E6E6",
        "lines.linewidth": 2,
        "svg.fonttype": "none",
        "svg.hashsalt": "dpfast",
    }
)


def plain_ticks(axis, values):
    """Ticks at `values` of a logarithmic axis, as plain decimals."""
    axis.set_ticks(values, [f"{value:g}" for value in values])
    axis.set_ticks([], minor=True)


def label_ends(axes, labels, gap=0.07):
    """Write (y, text, colour) labels at the right edge, each as near to y as a gap (in heights of axes) allows."""
    labels = sorted(labels)
    edge = axes.get_xlim()[1]
    inside = axes.transAxes.inverted()
    ideal = np.array([inside.transform(axes.transData.transform((edge, y)))[1] for y, _, _ in labels])
    spread = gap * np.arange(len(labels))
    heights = isotonic_regression(ideal - spread) + spread
    for height, (_, text, colour) in zip(heights, labels, strict=True):
        axes.text(1.02, height, text, color=colour, va="center", transform=axes.transAxes)


def save(figure, path):
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight", pad_inches=0.15)
    print(f"wrote {path.name}")
