"""Checkpoints: all that a stream needs to go on, in a file for its owner only.

The file is a line of text that says that it is private, a line of JSON, the arrays of scores, and a digest over all of
that. Beside it lies ``<name>.lock``: whoever goes on with the stream holds a lock on it, and it tells the generation of
the last checkpoint written and which stream it was, so that an older copy that was put in the place of the file is
refused, and so is one that was moved without its lock. A saved model
(`dpfast.load`) is another thing: it holds what was released and nothing else.
"""

import hashlib
import json
import math
import os
import secrets
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from dpfast.learners.saving import entries, integer, plain
from dpfast.tables.replacing import rehearse_file, replace_file, unfinished

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt

VERSION = 3
_NAME = b"dpfast checkpoint"
_FIRST_LINE = _NAME + b", PRIVATE: it holds scores and noise that undo the stream's privacy. Keep it from others.\n"
_DIGEST = len(b"sha256:") + 64
_MODE = 0o600  # for its owner only
_ZEROS = bytes(1 << 20)
_FAULTS = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


class Checkpoint:
    """The file of one stream, which this process holds until `close`, or as long as the object lives."""

    def __init__(self, path):
        self.path = Path(path).resolve()  # one name, one lock, whatever links lead here
        self._lock = _Lock(self.path.with_name(f"{self.path.name}.lock"))
        for partial in unfinished(self.path):  # by a process that was killed
            partial.unlink()

    @classmethod
    def new(cls, path):
        """A place for a new stream; refused where no file can be, where one is, and while another stream holds it."""
        path = Path(path)
        if not os.access(path.absolute().parent, os.W_OK):
            raise ValueError(f"{path} cannot be written: checkpoint must name a file in a folder that exists")
        self = cls(path)
        with self.beginning():
            if path.exists():
                raise ValueError(
                    f"{path.name} exists: resume() goes on with its stream; a new stream needs a new checkpoint"
                )
            self._generation, self._id = 0, secrets.token_hex(16)
            self._lock.keep(self._generation, self._id)
        return self

    @contextmanager
    def beginning(self):
        """A block that may refuse the stream: the file is then free for another one, and no new lock is left."""
        try:
            yield
        except BaseException:
            if not self._lock.kept()[0]:
                self._lock.remove()
            self.close()
            raise

    @classmethod
    def read(cls, path, model):
        """(checkpoint, document, arrays) of a stream of this kind, as `write` was given them.

        Raises
        ------
        ValueError
            If the file is cut short, damaged, older than the last that was written in its place, no checkpoint of this
            kind, or of another version.
        OSError
            If there is no file, or another stream holds it.
        """
        path = Path(path)
        with open(path, "rb") as file:  # no lock beside what is not there
            names = os.fstat(file.fileno()).st_nlink
        if names > 1:
            raise ValueError(f"{path.name} has {names} names (hard links), and each would have a lock of its own")
        self = cls(path)
        with self.refusing():
            document, arrays = self._read(model)
        return self, document["stream"], arrays

    @contextmanager
    def refusing(self):
        """A block in which whatever a damaged file can cause is told as such, and lets go of the file."""
        try:
            yield
        except BaseException as error:
            self.close()
            if not isinstance(error, _FAULTS):
                raise
            told = error if type(error) is ValueError else f"{type(error).__name__}: {error}"
            raise ValueError(f"{self.path.name} cannot be gone on with: {told}") from None

    def _read(self, model):
        content = self.path.read_bytes()
        if not content.startswith(_NAME) and not _NAME.startswith(content):
            raise ValueError("it is no dpfast checkpoint")
        body = memoryview(content)[:-_DIGEST]
        if content[-_DIGEST:] != _digest([body]):
            raise ValueError("it is damaged, cut short or of an older version, by its digest")
        start = content.find(b"\n") + 1
        stop = content.find(b"\n", start) + 1
        document = json.loads(content[start:stop])
        if document["version"] != VERSION:
            raise ValueError(f"its format version is {document['version']!r}, this dpfast goes on with {VERSION} only")
        entries(document, "version", "model", "generation", "id", "shapes", "stream")
        if document["model"] != model:
            raise ValueError(f"it is a stream of kind {document['model']!r}, not {model!r}")
        self._generation = integer(document["generation"], 1, 1 << 62)
        kept, self._id = self._lock.kept()
        if self._id != document["id"]:
            raise ValueError(
                f"{self.path.name}.lock, which tells how far its stream was kept, is not that of this stream: a "
                "checkpoint is moved together with its lock, both under the new name"
            )
        if self._generation < kept:
            raise ValueError(
                f"it is an older copy, number {self._generation} of its stream, which was kept up to number "
                f"{kept} since: to go on from it would release again what was paid for once"
            )
        return document, _arrays(body[stop:], document["shapes"])

    def close(self):
        """Let another stream go on with the file."""
        self._lock.close()

    def write(self, model, stream, arrays):
        """Replace the file at once or not at all; it is on the disk, for its owner only, when this returns.

        Parameters
        ----------
        model : str
            The kind of the stream.
        stream : dict
            For JSON.
        arrays : list of ndarray of int64
        """
        parts = self._parts(model, stream, arrays)
        replace_file(self.path, lambda file: file.writelines(parts), mode=_MODE)
        self._generation += 1
        self._lock.keep(self._generation, self._id)

    def rehearse(self, model, stream, arrays, more):
        """Write what `write` would, and so many bytes more, to a file beside this one, and remove it.

        Raises
        ------
        OSError, TypeError
            For what cannot be written.
        """
        parts = self._parts(model, stream, arrays)

        def write(file):
            file.writelines(parts)
            for start in range(0, more, len(_ZEROS)):
                file.write(_ZEROS[: more - start])

        rehearse_file(self.path, write, mode=_MODE)

    def _parts(self, model, stream, arrays):
        """The content of the file."""
        document = {
            "version": VERSION,
            "model": model,
            "generation": self._generation + 1,
            "id": self._id,
            "shapes": [array.shape for array in arrays],
            "stream": stream,
        }
        parts = [_FIRST_LINE, json.dumps(document, default=plain).encode() + b"\n"]
        parts += [np.ascontiguousarray(array, "<i8").data.cast("B") for array in arrays]
        return [*parts, _digest(parts)]


class _Lock:
    """A hold on a file that ends with this object or its process; the file says how far which stream was kept."""

    def __init__(self, path):
        self._path = path
        self._hold()
        while not self._is_there():  # removed by whoever held it
            self.close()
            self._hold()

    def _hold(self):
        path, self._file = self._path, os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            else:
                os.lseek(self._file, 1 << 30, os.SEEK_SET)  # far from the number, which others may then read
                msvcrt.locking(self._file, msvcrt.LK_NBLCK, 1)
        except OSError:
            self.close()
            raise BlockingIOError(
                f"{path.name.removesuffix('.lock')} is in use: one stream at a time goes on with a checkpoint, "
                "until its process ends or its estimator is deleted"
            ) from None

    def _is_there(self):
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._file))
        except FileNotFoundError:
            return False

    def remove(self):
        with suppress(OSError):  # Windows removes no open file
            self._path.unlink()

    def kept(self):
        """The last generation and the id of the stream; (0, "") in a new file."""
        os.lseek(self._file, 0, os.SEEK_SET)
        number, _, name = os.read(self._file, 60).decode("ascii", "replace").partition(" ")
        return (int(number) if number.isdecimal() else 0), name.strip()

    def keep(self, generation, name):
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, b"%020d %s" % (generation, name.encode()))

    def close(self):
        file, self._file = vars(self).get("_file"), None
        if file is not None:
            os.close(file)

    __del__ = close


def _arrays(content, shapes):
    shapes = [tuple(int(integer(size, 0, 1 << 40)) for size in shape) for shape in shapes]
    sizes = [math.prod(shape) for shape in shapes]
    if 8 * sum(sizes) != len(content):
        raise ValueError(f"arrays of shapes {shapes} in {len(content)} bytes")
    flat = np.frombuffer(content, "<i8").astype(np.int64)
    return [part.reshape(shape) for part, shape in zip(np.split(flat, np.cumsum(sizes)[:-1]), shapes, strict=True)]


def _digest(parts):
    sha = hashlib.sha256()
    for part in parts:
        sha.update(part)
    return b"sha256:" + sha.hexdigest().encode()
