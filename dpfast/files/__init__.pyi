from .datasets import load_dataset as load_dataset
from .parquet import ParquetRows as ParquetRows
from .readers import read_table as read_table
from .spooled import FileParts as FileParts
from .tables import read_codes as read_codes
