"""Where rows live and how they are asked: threads over memory, and tables read block by block."""

from .blocks import RowBlocks

__all__ = ["RowBlocks"]
