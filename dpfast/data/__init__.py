"""Data as learners see it: packed tables, made from whatever users hold."""

from .bit_matrix import BitMatrix
from .datasets import load_dataset

__all__ = ["BitMatrix", "load_dataset"]
