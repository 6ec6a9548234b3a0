"""Small pictures as SVG text, for pages that need nothing else: curves over bins, bars of values, shares.

Pictures of one page have one `Scale`, so that a length means the same in all of them.
"""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from dpfast.report.additive import DEVIATIONS

_WIDTH, _HEIGHT, _TITLE = 320, 132, 14
_LEFT, _BOTTOM, _TOP = 46, 18, 8
_ROWS, _CELLS = 16, 48  # height of the columns that show where rows lie, and their number
_LONGEST = 20  # letters of a text beside a bar
_ADDS = "adds to the score"  # the title of an axis of weights
VAGUE = 0.5  # length of an interval of a share above which its dot is hollow


class Scale(NamedTuple):
    """Weights from `low` to `high`, with 0 between them and a mark at plus and minus `tick`."""

    low: float
    high: float
    tick: float

    @property
    def most(self) -> float:
        """Return the larger distance from 0."""
        return max(self.high, -self.low)

    @classmethod
    def of(cls, weights: Sequence[np.ndarray]) -> "Scale":
        """Return a scale that holds all of these weights."""
        low = min((float(each.min(initial=0.0)) for each in weights), default=0.0)
        high = max((float(each.max(initial=0.0)) for each in weights), default=0.0)
        most = max(high, -low) or 1.0
        power = float(10.0 ** np.floor(np.log10(most)))
        tick = max(tick for tick in (power, 2 * power, 5 * power) if tick <= most)
        return cls(min(low, -most / 4) - most / 20, max(high, most / 4) + most / 20, tick)


class Axis(NamedTuple):
    """The ends of bins in [0, 1], in increasing order and one more than bins, texts at some places, and a title."""

    places: np.ndarray
    texts: Sequence[tuple[float, str]]
    title: str


def steps(
    axis: Axis,
    weights: np.ndarray,
    noise: np.ndarray | None,
    missing: tuple[float, float] | None,
    texts: Sequence[str],
    scale: Scale,
    description: str,
    shares: np.ndarray | None = None,
) -> str:
    """Return a curve over bins with a band for its noise, given as standard deviations.

    `missing` is the weight of missing values and its noise, drawn as a mark on the right. `texts` are the tooltips of
    the bins, if any. `description` describes the picture to readers who cannot see it. `shares` of the rows in each bin
    are drawn as columns below the curve.
    """
    right = _WIDTH - (58 if missing is not None else 8)

    below = 0 if shares is None else _ROWS
    room = (_HEIGHT - _BOTTOM - 2 * _TOP - below) / (scale.high - scale.low)

    def x(place):
        return _LEFT + place * (right - _LEFT)

    def y(value):
        return _TOP + room * (scale.high - min(max(value, scale.low), scale.high))

    ends = axis.places.tolist()
    marks = [_grid(scale, y, right), _titles(axis.title, _HEIGHT)]
    if shares is not None:
        marks.append(_columns(axis.places, shares, x))
    if noise is not None:
        reach = DEVIATIONS * noise
        upper, lower = _path(x, y, ends, weights + reach), _path(x, y, ends[::-1], (weights - reach)[::-1])
        marks.append(f'<path d="{upper}L{lower[1:]}z" class="band"/>')
    clear = np.ones(len(weights), bool) if noise is None else np.abs(weights) > DEVIATIONS * noise
    marks.append(f'<path d="{_path(x, y, ends, weights)}" class="curve{" dim" * (not clear.all())}"/>')
    if clear.any() and not clear.all():
        bounds = np.flatnonzero(np.diff(np.concatenate([[False], clear, [False]]))).reshape(-1, 2).tolist()
        over = "".join(_path(x, y, ends[first : last + 1], weights[first:last]) for first, last in bounds)
        marks.append(f'<path d="{over}" class="curve"/>')
    marks += [
        f'<path d="M{x(a):.1f} 0h{max(0.5, x(b) - x(a)):.1f}v{_HEIGHT - _BOTTOM}H{x(a):.1f}z" class="spot">'
        f"<title>{escape(text)}: {w:+.2f}</title></path>"
        for a, b, w, text in zip(ends[:-1], ends[1:], weights.tolist(), texts, strict=False)
    ]
    for place, text in axis.texts:
        anchor = "start" if place < 0.1 else "end" if place > 0.9 else "middle"
        marks.append(f'<text x="{x(place):.1f}" y="{_HEIGHT - 4}" text-anchor="{anchor}">{escape(text)}</text>')
    if missing is not None:
        weight, deviation = missing
        at = _WIDTH - 22
        marks.append(
            f'<path d="M{at} {y(weight + DEVIATIONS * deviation):.1f}V{y(weight - DEVIATIONS * deviation):.1f}" '
            f'class="reach"/><circle cx="{at}" cy="{y(weight):.1f}" r="4" class="mark">'
            f"<title>missing: {weight:+.2f}</title></circle>"
            f'<text x="{_WIDTH}" y="{_HEIGHT - 4}" text-anchor="end">missing</text>'
        )
    return _picture(_HEIGHT + _TITLE, marks, description)


def _columns(places, shares, x):
    """Return columns of equal width above the horizontal axis whose areas are the shares of the rows there."""
    points = np.diff(places) == 0  # bins of one number, such as that of zeros
    grid, spread = np.linspace(0, 1, _CELLS + 1), np.where(points, 0, shares)
    rows = np.diff(np.interp(grid, places, np.append(0.0, np.cumsum(spread))))
    np.add.at(rows, np.minimum(places[:-1][points] * _CELLS, _CELLS - 1).astype(int), shares[points])
    foot, wide = _HEIGHT - _BOTTOM, (x(1) - x(0)) / _CELLS
    steps = "".join(f"V{foot - up:.1f}h{wide:.2f}" for up in (_ROWS * rows / (rows.max() or 1.0)).tolist())
    return f'<path d="M{x(0):.1f} {foot}{steps}V{foot}z" class="rows"/>'


def bars(
    texts: Sequence[str],
    weights: np.ndarray,
    noise: np.ndarray | None,
    scale: Scale,
    description: str,
    shares: np.ndarray | None = None,
    most: int = 12,
    title: str = _ADDS,
) -> str:
    """Return a bar for each value with a whisker for its noise, the largest weights first.

    Only the `most` values with the largest products of weight and share of the rows are drawn; the others are counted.
    `title` is that of the axis.
    """
    order = np.argsort(-np.abs(weights) * (1.0 if shares is None else shares), kind="stable")[:most]
    order = order[np.argsort(-weights[order], kind="stable")]
    middle, half, line = 226, 90, 18
    height = line * len(order)
    tick = half * scale.tick / scale.most
    marks = [
        f'<path d="M{middle} 0V{height}" class="axis"/>',
        f'<path d="M{middle - tick:.1f} 0V{height}M{middle + tick:.1f} 0V{height}" class="rule"/>',
    ]
    for k, i in enumerate(order.tolist()):
        weight = float(weights[i])
        length, top = half * abs(weight) / scale.most, line * k + 4
        start = middle if weight >= 0 else middle - length
        text, full = _short(texts[i]), texts[i]
        if shares is not None:
            of_rows = _percent(float(shares[i]))
            text, full = f"{_short(full, _LONGEST - 5)}, {of_rows}", f"{full} ({of_rows} of the rows)"
        whisker = ""
        if noise is not None:
            reach = half * DEVIATIONS * float(noise[i]) / scale.most
            end = middle + half * weight / scale.most
            low, high = max(end - reach, middle - half), min(end + reach, middle + half)
            whisker = f'<path d="M{low:.1f} {top + 5}H{high:.1f}" class="reach"/>'
        marks.append(
            f'<g><title>{escape(full)}: {weight:+.2f}</title><rect x="{start:.1f}" y="{top}" '
            f'width="{length:.1f}" height="10" class="{_kind(weight, noise, i)}"/>{whisker}'
            f'<text x="{middle - half - 6}" y="{top + 9}" text-anchor="end">{escape(text)}</text></g>'
        )
    for sign, at in ((-1, middle - tick), (0, middle), (1, middle + tick)):
        marks.append(
            f'<text x="{at:.1f}" y="{height + 13}" text-anchor="middle">{_with_sign(sign * scale.tick)}</text>'
        )
    marks.append(f'<text x="{middle}" y="{height + 27}" text-anchor="middle">{title}</text>')
    height += 18
    left = len(weights) - len(order)
    if left:
        marks.append(f'<text x="{middle - half - 6}" y="{height - 5}" text-anchor="end">{left:,} matter less</text>')
    return _picture(height + _TITLE, marks, description)


class Range(NamedTuple):
    """A share with an interval, which is drawn pale if it is vague."""

    what: str
    value: float
    low: float
    high: float
    text: str  # more about it

    @property
    def vague(self) -> bool:
        """Return whether the interval is so long that the share is hardly known."""
        return self.high - self.low > VAGUE


def ranges(lines: Sequence[Range], title: str, description: str) -> str:
    """Return a line for each share with its interval, from 0% to 100%; a pale one where it is hardly known."""
    left, right, line = 130, _WIDTH - 14, 20
    bottom = line * len(lines)

    def x(value):
        return left + value * (right - left)

    marks = [f'<path d="M{x(0):.1f} 0V{bottom}M{x(0.5):.1f} 0V{bottom}M{x(1):.1f} 0V{bottom}" class="rule"/>']
    for k, each in enumerate(lines):
        top, vague = line * k + line / 2, " vague" * each.vague
        share = "too few rows to say" if each.vague else f"{each.value:.0%} ({each.low:.0%} to {each.high:.0%})"
        marks.append(
            f"<g><title>{escape(f'{each.what}, {each.text}: {share}')}</title>"
            f'<text x="{left - 6}" y="{top + 4:g}" text-anchor="end">{escape(_short(each.what))}</text>'
            f'<path d="M{x(each.low):.1f} {top:g}H{x(each.high):.1f}" class="reach{vague}"/>'
        )
        if not each.vague:
            marks.append(f'<circle cx="{x(each.value):.1f}" cy="{top:g}" r="3.5" class="mark"/>')
        marks.append("</g>")
    for value in (0, 0.5, 1):
        marks.append(f'<text x="{x(value):.1f}" y="{bottom + 13}" text-anchor="middle">{value:.0%}</text>')
    marks.append(f'<text x="{x(0.5):.1f}" y="{bottom + 27}" text-anchor="middle">{escape(title)}</text>')
    return _picture(bottom + 32, marks, description)


def heat(texts: Sequence[Sequence[str]], weights: np.ndarray, scale: Scale, description: str) -> str:
    """Return a map of cells, a larger weight darker, with the names of its rows and of its columns."""
    left, line, below = 130, 18, 96
    wide, bottom = (_WIDTH - left - 4) / weights.shape[1], line * len(weights)
    marks = []
    for i, (text, row) in enumerate(zip(texts[0], weights.tolist(), strict=True)):
        marks.append(f'<text x="{left - 4}" y="{line * i + 13}" text-anchor="end">{escape(_short(text))}</text>')
        for j, weight in enumerate(row):
            marks.append(
                f'<rect x="{left + wide * j:.1f}" y="{line * i}" width="{wide:.1f}" height="{line}" '
                f'class="{"up" if weight >= 0 else "down"}" fill-opacity="{min(1.0, abs(weight) / scale.most):.2f}">'
                f"<title>{escape(f'{text}; {texts[1][j]}')}: {weight:+.2f}</title></rect>"
            )
    for j, text in enumerate(texts[1]):
        x = left + wide * (j + 0.5) + 4
        marks.append(
            f'<text x="{x:.1f}" y="{bottom + 6}" text-anchor="end" transform="rotate(-90 {x:.1f} {bottom + 6})">'
            f"{escape(_short(text))}</text>"
        )
    marks.append(f'<path d="M{left} 0H{_WIDTH - 4}V{bottom}H{left}z" class="axis"/>')
    return _picture(bottom + below, marks, description)


def _kind(weight, noise, i):
    """Return the style of a bar: grey if the weight is within its noise of 0."""
    if noise is not None and abs(weight) <= DEVIATIONS * float(noise[i]):
        return "dim"
    return "up" if weight >= 0 else "down"


def _short(text, most=_LONGEST):
    return text if len(text) <= most else text[: most - 1] + "…"


def _percent(share):
    return f"{share:.0%}" if share >= 0.01 else "<1%"


class Dot(NamedTuple):
    """A group of rows with about the same predicted probability."""

    what: str  # the predicted label
    chance: float  # its predicted probability
    share: float  # of the rows that have this label, from noisy counts
    low: float  # the ends of a confidence interval of the share, for the noise and the sample
    high: float

    @property
    def vague(self) -> bool:
        """Return whether the interval is so wide that the share is hardly known."""
        return self.high - self.low > VAGUE


def dots(points: Sequence[Dot], description: str) -> str:
    """Return dots with whiskers, hollow where the share is hardly known, and the diagonal."""
    side, edge = 240, 52

    def x(value):
        return edge + value * (side - edge - 18)

    def y(value):
        return side - x(value)

    marks = [
        f'<path d="M{x(0)} {y(0)}L{x(1)} {y(1)}" class="even"/>',
        f'<path d="M{x(0)} {y(1)}V{y(0)}H{x(1)}" class="axis"/>',
    ]
    for point in points:
        what, chance, share, low, high = point
        text, vague = (
            f"{what}: said {chance:.2f}, came true {share:.2f} ({low:.2f} to {high:.2f})",
            " vague" * point.vague,
        )
        marks.append(
            f'<g><title>{escape(text)}</title><path d="M{x(chance):.1f} {y(low):.1f}V{y(high):.1f}" '
            f'class="reach{vague}"/><circle cx="{x(chance):.1f}" cy="{y(share):.1f}" r="3.5" class="mark{vague}"/></g>'
        )
    for value in (0, 0.5, 1):
        marks.append(f'<text x="{x(value)}" y="{y(0) + 14}" text-anchor="middle">{value:.0%}</text>')
        marks.append(f'<text x="{x(0) - 4}" y="{y(value) + 4}" text-anchor="end">{value:.0%}</text>')
    marks.append(f'<text x="{x(0.5)}" y="{y(0) + 30}" text-anchor="middle">probability that it gives</text>')
    marks.append(_vertical_title("share that came true", y(0.5)))
    return _picture(side, marks, description, side)


def _titles(title, height):
    """Return the titles of the axes of a curve."""
    across = (
        f'<text x="{_WIDTH / 2:g}" y="{height + _TITLE - 4}" text-anchor="middle">{escape(_short(title, 40))}</text>'
    )
    return across + _vertical_title(_ADDS, height / 2 - 4)


def _vertical_title(title, middle):
    """Return the title of a vertical axis."""
    return f'<text x="10" y="{middle:g}" text-anchor="middle" transform="rotate(-90 10 {middle:g})">{title}</text>'


def _path(x, y, ends, weights):
    """Return a curve that is constant between ends and jumps at them."""
    parts, before = [f"M{x(ends[0]):.1f} {y(weights[0]):.1f}"], f"{y(weights[0]):.1f}"
    for weight, end in zip(weights.tolist(), ends[1:], strict=True):
        at = f"{y(weight):.1f}"
        parts.append(f"H{x(end):.1f}" if at == before else f"V{at}H{x(end):.1f}")
        before = at
    return "".join(parts)


def _grid(scale, y, right):
    """Return the lines of 0 and of the ticks, with their numbers."""
    ticks = [value for value in (-scale.tick, 0.0, scale.tick) if scale.low <= value <= scale.high]
    lines = "".join(f"M{_LEFT} {y(value):.1f}H{right}" for value in ticks if value)
    texts = "".join(
        f'<text x="{_LEFT - 4}" y="{y(value) + 4:.1f}" text-anchor="end">{_with_sign(value)}</text>' for value in ticks
    )
    return f'<path d="{lines}" class="rule"/><path d="M{_LEFT} {y(0):.1f}H{right}" class="axis"/>{texts}'


def _with_sign(value):
    return f"{value:+g}".replace("-", "\N{MINUS SIGN}") if value else "0"


def _picture(height, marks, text, width=_WIDTH):
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(text)}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(marks)}</svg>'
    )
