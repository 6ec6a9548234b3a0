"""Choose among private learners, and measure them, at a cost that is known in advance."""

from .search import PrivateSearch, private_search
from .split import PrivateSplit, private_split

__all__ = ["PrivateSearch", "PrivateSplit", "private_search", "private_split"]
