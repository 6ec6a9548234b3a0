"""Data as learners see it: packed tables, made from whatever users hold."""

from .bit_matrix import BitMatrix
from .blocks import RowBlocks
from .datasets import load_dataset
from .parquet_rows import ParquetRows

__all__ = ["BitMatrix", "ParquetRows", "RowBlocks", "load_dataset"]
