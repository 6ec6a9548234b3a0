"""Parts of a table and engines that hold them: threads in memory, blocks of files, workers of a cluster."""

from .blocks import Piece
from .engine import Answer, Backend, EngineLost, MemoryParts, answer_part, make_state

__all__ = ["Answer", "Backend", "EngineLost", "MemoryParts", "Piece", "answer_part", "make_state"]
