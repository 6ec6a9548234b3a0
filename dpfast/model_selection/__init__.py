"""Choosing among private learners, and telling how they do, at a price that is known beforehand."""

from .search import PrivateSearch, private_search
from .split import PrivateSplit, private_split

__all__ = ["PrivateSearch", "PrivateSplit", "private_search", "private_split"]
