from .datasets import load_dataset as load_dataset
from .encodings import FileParts as FileParts
from .encodings import read_codes as read_codes
from .readers import read_table as read_table
