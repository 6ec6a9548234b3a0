"""Choosing among private learners at a price that is known beforehand."""

from .search import PrivateSearch, private_search

__all__ = ["PrivateSearch", "private_search"]
