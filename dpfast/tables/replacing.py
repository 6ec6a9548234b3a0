"""Atomic replacement of files."""

import errno
import glob
import hashlib
import os
import secrets
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

_LONG_NAME = 200  # bytes of a file's name; file systems take 255


def leftovers(path: str | os.PathLike) -> list[Path]:
    """Return the files that `replace_file` leaves beside a file if its process is killed."""
    path = Path(path)
    return list(path.parent.glob(f"{glob.escape(_stem(path))}.{'[0-9a-f]' * 16}.part"))


def _stem(path):
    """Return the beginning of the names of unfinished files: the name of the file, or its digest if that is long."""
    encoded = os.fsencode(path.name)
    return path.name if len(encoded) <= _LONG_NAME else hashlib.sha256(encoded).hexdigest()


def replace_file(path: str | os.PathLike, write: Callable[[BinaryIO], Any], mode: int = 0o666) -> None:
    """Replace a file atomically; when this returns, it is on the disk and has this mode.

    The content is first written to a new file with an unpredictable name, so neither another thread nor anybody else
    who may write to the folder has it open. An OSError names the file. A device, a pipe or a folder is refused and left
    unchanged.
    """
    path = Path(path)
    with _new_file(path, write, mode) as partial:
        os.replace(partial, path)
        if os.name == "posix":  # otherwise a power failure could restore the old file
            folder = os.open(path.absolute().parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def rehearse_file(path: str | os.PathLike, write: Callable[[BinaryIO], Any], mode: int = 0o666) -> None:
    """Write a file beside this one to the disk and remove it; fails if `replace_file` would fail."""
    with _new_file(Path(path), write, mode):
        pass


@contextmanager
def _new_file(path, write, mode):
    """Yield a new file with this content, on the disk, and remove it at the end; an OSError names `path`."""
    try:
        if path.exists() and not path.is_file():
            raise FileExistsError(errno.EEXIST, "it is no regular file, and is not replaced")
        partial = path.with_name(f"{_stem(path)}.{secrets.token_hex(8)}.part")
        new = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        try:
            with os.fdopen(new, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            yield partial
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        error.filename = str(path)  # not the new file; the error of a full disk has no name
        raise
