"""Parts in this process: usually one table, whose questions are computed over its blocks on threads."""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any


class MemoryParts:
    """Parts in memory, or mapped from a file.

    This class defines the interface of all kinds of parts: learners use rows only through it, and cannot tell where
    they are. A question is a function of a part and of public values. It changes nothing but the cache of a part
    (`Piece.memo`), so that a part that is lost and recomputed gives the same answers.

    Parameters
    ----------
    parts : sequence
        The parts in the order of the rows.
    """

    def __init__(self, parts: Sequence[Any]):
        self._parts = list(parts)

    def __len__(self) -> int:
        return len(self._parts)

    def map(self, make: Callable, *public: Any) -> "MemoryParts":
        """Return the parts ``make(part, *public)``, computed now and stored where the part is.

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
            Returns few numbers.
        *public
            Arguments that are the same for every part.
        own : sequence, optional
            One argument per part: ``question(part, own[k], *public)``.

        Returns
        -------
        list
        """
        if own is None:
            return [question(part, *public) for part in self._parts]
        return [question(part, each, *public) for part, each in zip(self._parts, own, strict=True)]

    def sum(self, question: Callable, *public: Any, own: Sequence | None = None) -> Any:
        """Return the sum over the parts of the results of `each`, which are integers: the same for any parts.

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
            The numbers of the parts.

        Returns
        -------
        MemoryParts
        """
        return MemoryParts([self._parts[k] for k in chosen])

    @property
    def only(self) -> Any:
        """Return the only part, for code that needs all rows at once; None if there are several."""
        return self._parts[0] if len(self._parts) == 1 else None
