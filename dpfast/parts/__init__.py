"""Where rows live and how they are asked: threads over memory, tables read block by block, workers of a cluster."""

from .blocks import RowBlocks
from .memory import MemoryParts
from .piece import Piece

__all__ = ["MemoryParts", "Piece", "RowBlocks"]
