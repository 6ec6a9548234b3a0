"""Parts in this process: one table as a rule, whose questions go over its blocks on threads."""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any


class MemoryParts:
    """Parts in memory, or mapped from a file.

    What all kinds of parts answer: a learner asks no more of rows than this, and cannot tell where they are. A question
    is a function of a part and of what is public; it changes nothing but what a part remembers to answer sooner
    (`Piece.memo`), so that a part that is lost and made again gives the same answers.

    Parameters
    ----------
    parts : sequence
        In the order of the rows.
    """

    def __init__(self, parts: Sequence[Any]):
        self._parts = list(parts)

    def __len__(self) -> int:
        return len(self._parts)

    def map(self, make: Callable, *public: Any) -> "MemoryParts":
        """Return the parts ``make(part, *public)``. They are made now and kept where the part is.

        Parameters
        ----------
        make : callable
        *public
            Arguments that are the same for every part.

        Returns
        -------
        MemoryParts
        """
        return MemoryParts(self.each(make, *public))

    def each(self, question: Callable, *public: Any, own: Sequence | None = None) -> list:
        """Return ``question(part, *public)`` of every part, in order.

        Parameters
        ----------
        question : callable
            Gives few numbers.
        *public
            Arguments that are the same for every part.
        own : sequence, optional
            An argument for each part: ``question(part, own[k], *public)``.

        Returns
        -------
        list
        """
        if own is None:
            return [question(part, *public) for part in self._parts]
        return [question(part, each, *public) for part, each in zip(self._parts, own, strict=True)]

    def sum(self, question: Callable, *public: Any, own: Sequence | None = None) -> Any:
        """Return the sum over the parts of what `each` gives: integers, so that it is the same for any parts.

        Parameters
        ----------
        question, *public, own
            As in `each`.

        Returns
        -------
        int or ndarray of int
        """
        return reduce(add, self.each(question, *public, own=own))

    def pick(self, chosen: Sequence[int]) -> "MemoryParts":
        """Return some of the parts.

        Parameters
        ----------
        chosen : sequence of int
            Their numbers.

        Returns
        -------
        MemoryParts
        """
        return MemoryParts([self._parts[k] for k in chosen])

    @property
    def only(self) -> Any:
        """The one part that there is in this process, for what needs all rows at once; None if there are others."""
        return self._parts[0] if len(self._parts) == 1 else None
