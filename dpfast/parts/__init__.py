"""Where rows live and how they are asked: threads over memory, tables read block by block, workers of a cluster."""

from .blocks import RowBlocks
from .engine import Answer, Backend, EngineLost, answered, made
from .memory import MemoryParts
from .piece import Piece

__all__ = [
    "Answer",
    "Backend",
    "EngineLost",
    "MemoryParts",
    "Piece",
    "RowBlocks",
    "answered",
    "made",
]
