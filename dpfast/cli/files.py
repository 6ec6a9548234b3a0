"""Files that commands read and write."""

import os

from .report import errors


def read(data, **options):
    from dpfast.data.readers import read_table

    with errors.status(f"reading {data}"):
        return read_table(data, **options)


def check_writable(path):
    """Refuse, before any work, a file that could not be written after it."""
    if path is None:
        return
    if path.is_dir() or not os.access(path.absolute().parent, os.W_OK):
        raise ValueError(f"{path} cannot be written: it must name a file in a folder that exists")
