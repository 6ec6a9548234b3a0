"""Parts of a table and engines that hold them: threads in memory, blocks of files, workers of a cluster."""

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
