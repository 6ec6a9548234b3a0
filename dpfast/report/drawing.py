"""Small pictures as SVG text, for pages that need nothing else: steps over bins, bars of values."""

from collections.abc import Sequence
from html import escape

import numpy as np

_WIDTH, _HEIGHT = 320, 120
_LEFT, _BOTTOM, _TOP = 6, 18, 6


def steps(edges: Sequence[float], weights: np.ndarray, texts: Sequence[str], missing: float | None) -> str:
    """A curve over bins between `edges`, one more than weights; the weight of missing values as a mark at the right."""
    shown = [*weights, 0.0] + ([missing] if missing is not None else [])
    low, high = min(shown), max(shown)
    right = _WIDTH - (30 if missing is not None else 6)

    def x(value):
        return _LEFT + (value - edges[0]) / (edges[-1] - edges[0] or 1) * (right - _LEFT)

    y = _scale(low, high)
    path = f"M{x(edges[0]):.1f} {y(weights[0]):.1f}" + "".join(
        f"V{y(w):.1f}H{x(edge):.1f}" for w, edge in zip(weights, edges[1:], strict=True)
    )
    spots = [
        f'<rect x="{x(a):.1f}" y="0" width="{max(0.5, x(b) - x(a)):.1f}" height="{_HEIGHT - _BOTTOM}" class="spot">'
        f"<title>{escape(text)}: {w:+.3f}</title></rect>"
        for a, b, w, text in zip(edges[:-1], edges[1:], weights, texts, strict=True)
    ]
    marks = [_axis(y(0), right), f'<path d="{path}" class="curve"/>', *spots]
    marks += [
        f'<text x="{_LEFT}" y="{_HEIGHT - 4}">{edges[0]:.6g}</text>',
        f'<text x="{right}" y="{_HEIGHT - 4}" text-anchor="end">{edges[-1]:.6g}</text>',
    ]
    if missing is not None:
        marks.append(
            f'<circle cx="{_WIDTH - 12}" cy="{y(missing):.1f}" r="4" class="mark">'
            f"<title>missing: {missing:+.3f}</title></circle>"
            f'<text x="{_WIDTH - 2}" y="{_HEIGHT - 4}" text-anchor="end">none</text>'
        )
    return _picture(_HEIGHT, marks, f"a curve from {edges[0]:.6g} to {edges[-1]:.6g}")


def bars(texts: Sequence[str], weights: np.ndarray, most: int = 12) -> str:
    """A bar for each value, the largest weights first; those beyond `most` are left out and counted."""
    order = np.argsort(-np.abs(weights), kind="stable")[:most]
    order = order[np.argsort(-weights[order], kind="stable")]
    high = float(np.abs(weights).max()) or 1.0
    middle, half, line = 220, 90, 16
    marks = []
    for k, i in enumerate(order):
        length = half * abs(weights[i]) / high
        start = middle if weights[i] >= 0 else middle - length
        text = texts[i] if len(texts[i]) <= 22 else texts[i][:21] + "…"
        marks.append(
            f'<rect x="{start:.1f}" y="{line * k + 3}" width="{length:.1f}" height="{line - 5}" '
            f'class="{"up" if weights[i] >= 0 else "down"}"><title>{escape(texts[i])}: {weights[i]:+.3f}</title></rect>'
            f'<text x="{middle - half - 6}" y="{line * k + 13}" text-anchor="end">{escape(text)}</text>'
        )
    height = line * len(order) + 4
    marks.append(f'<path d="M{middle} 0V{height}" class="axis"/>')
    left = len(weights) - len(order)
    if left:
        marks.append(f'<text x="{_WIDTH - 2}" y="{height + 10}" text-anchor="end">and {left} smaller</text>')
        height += 14
    return _picture(height, marks, f"bars of {len(order)} values")


def dots(points: Sequence[tuple[float, float, float, str]]) -> str:
    """Dots with whiskers beside the diagonal: shares, and how far they reach, against chances, with a text for each."""
    side, edge = 200, 26

    def x(value):
        return edge + value * (side - edge - 8)

    def y(value):
        return side - x(value)

    marks = [
        f'<path d="M{x(0)} {y(0)}L{x(1)} {y(1)}" class="axis"/>',
        f'<path d="M{x(0)} {y(1)}V{y(0)}H{x(1)}" class="axis"/>',
    ]
    for chance, share, reach, text in points:
        low, high = max(0.0, share - reach), min(1.0, share + reach)
        marks.append(
            f'<g><title>{escape(text)}</title><path d="M{x(chance):.1f} {y(low):.1f}V{y(high):.1f}" class="curve"/>'
            f'<circle cx="{x(chance):.1f}" cy="{y(share):.1f}" r="3" class="mark"/></g>'
        )
    for value in (0, 1):
        marks.append(f'<text x="{x(value)}" y="{y(0) + 12}" text-anchor="middle">{value}</text>')
        marks.append(f'<text x="{x(0) - 4}" y="{y(value) + 4}" text-anchor="end">{value}</text>')
    marks.append(f'<text x="{x(0.5)}" y="{side - 2}" text-anchor="middle">said</text>')
    marks.append(f'<text x="12" y="{y(0.5)}" text-anchor="middle" transform="rotate(-90 12 {y(0.5)})">came true</text>')
    return _picture(side, marks, f"{len(points)} shares that came true against chances", side)


def _scale(low, high):
    span = (high - low) or 1.0
    return lambda value: _TOP + (high - value) / span * (_HEIGHT - _BOTTOM - 2 * _TOP)


def _axis(at, right):
    return f'<path d="M{_LEFT} {at:.1f}H{right}" class="axis"/>'


def _picture(height, marks, text, width=_WIDTH):
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(text)}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(marks)}</svg>'
    )
