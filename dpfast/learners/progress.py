"""Progress bars of fits: rounds, rows a second, and what parts sent in a round."""

from collections.abc import Iterable
from typing import Any


def shown(
    iterable: Iterable,
    what: str,
    verbose: bool,
    total: int | None = None,
    *,
    rows: int | None = None,
    parts: Any = None,
) -> Iterable:
    """The same iterable, with a progress bar if wanted.

    Parameters
    ----------
    iterable : of rounds
    what : str
        What the rounds are called.
    verbose : bool
    total : int, optional
        How many rounds there are, if their length does not tell.
    rows : int, optional
        Read in a round, to tell how many a second; not where their number is private.
    parts : MemoryParts or EngineParts, optional
        That are asked, to tell how many bytes they answer in a round.
    """
    return _tracked(iterable, what, total, rows, parts) if verbose else iterable


def _tracked(iterable, what, total, rows, parts):
    from rich.progress import Progress, ProgressColumn
    from rich.text import Text

    class Rates(ProgressColumn):
        """Changes when a round ends."""

        def render(self, task):
            told, rounds = [], task.completed
            if rows is not None and rounds and task.elapsed:
                told.append(f"{rows * rounds / task.elapsed:,.0f} rows/s")
            if getattr(parts, "moved", 0) and rounds:
                told.append(f"{parts.moved / rounds:,.0f} bytes a round")
            return Text(", ".join(told))

    with Progress(*Progress.get_default_columns(), Rates()) as progress:
        yield from progress.track(iterable, total=total, description=what)
