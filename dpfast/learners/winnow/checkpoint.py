"""Checkpoints: private files from which a stream can be resumed.

The file consists of a line of text that says that it is private, a line of JSON, the arrays of scores, and a digest of
all of these. Beside it lies ``<name>.lock``. The process that continues the stream holds a lock on this second file,
which stores the id of the stream, the generation of its last checkpoint, and its own inode and time of creation. So an
older copy in the place of the checkpoint is refused, and so are a checkpoint that was moved without its lock, and
copies of both, from a backup say. ``resume(path, moved=True)`` accepts files that were copied to another disk. A saved
model (`dpfast.load`) is different: it holds the released values and nothing else.

**Older content of both files** that is written into the files that are there (``cp backup/* .``) keeps the inode of the
lock. It is refused where the file system has extended attributes (Linux): the generation is stored there, too, where
``cp`` and ``cp -p`` leave it as it is. It is not detected on other systems, nor if the attributes are copied as well
(``cp -a``). The last checkpoint but one is accepted, too, if it is put back after a process was killed between the
replacement of the checkpoint and its note in the lock, before the new one was resumed: nothing of this was shown.
"""

import errno
import hashlib
import json
import math
import os
import secrets
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from dpfast.accounting.budgets.ledger import place_of
from dpfast.base.saving import entries, integer, plain
from dpfast.tables.replacing import leftovers, rehearse_file, replace_file

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
_NOTED = "user.dpfast.generation"  # an extended attribute of the lock, which stays where content is replaced
_HELD = errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK  # a lock that another one holds
_MODE = 0o600  # for its owner only
_ZEROS = bytes(1 << 20)
_FAULTS = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


class Checkpoint:
    """The file of one stream; this process holds it until `close`, or as long as the object lives."""

    def __init__(self, path):
        self.path = Path(path).resolve()  # one lock, whatever links lead to the file
        self._lock = _Lock(self.path.with_name(f"{self.path.name}.lock"))
        for partial in leftovers(self.path):  # left by a process that was killed
            partial.unlink()

    @classmethod
    def new(cls, path):
        """Return the checkpoint of a new stream; refuse an invalid path, an existing file, or a locked one."""
        path = Path(path)
        if not os.access(path.absolute().parent, os.W_OK):
            raise ValueError(f"{path} cannot be written: checkpoint must name a file in a folder that exists")
        self = cls(path)
        with self.beginning():
            if path.exists():
                raise ValueError(
                    f"{path.name} exists: resume() continues its stream; a new stream needs a new checkpoint"
                )
            self._generation, self._id = 0, secrets.token_hex(16)
            self._lock.keep(self._generation, self._id)
        return self

    @contextmanager
    def beginning(self):
        """Release the file, and remove a new lock, if the block raises an error."""
        try:
            yield
        except BaseException:
            if not self._lock.read()[0]:
                self._lock.remove()
            self.close()
            raise

    @classmethod
    def read(cls, path, model, moved=False):
        """Return (checkpoint, document, arrays) of a stream of this kind, as they were given to `write`.

        A ValueError says that the file is truncated, damaged, of another kind or version, or older than the last one
        written in its place, or a copy unless `moved`; an OSError, that there is none or that another stream holds it.
        """
        path = Path(path)
        with open(path, "rb") as file:  # creates no lock if there is no file
            names = os.fstat(file.fileno()).st_nlink
        if names > 1:
            raise ValueError(f"{path.name} has {names} names (hard links), and each would have a lock of its own")
        self = cls(path)
        with self.refusing():
            document, arrays = self._read(model)
            if not moved and self._lock.is_copy():
                raise ValueError(
                    "it is a copy, or was restored from one, and the stream may have gone on elsewhere: resuming it "
                    "would repeat releases that were paid for once. If it was moved here and the old file is gone, "
                    "resume it with moved=True"
                )
            self._lock.keep(self._generation, self._id)  # which a process that was killed may not have done
        return self, document["stream"], arrays

    @contextmanager
    def refusing(self):
        """Convert any error that a damaged file causes in the block to a clear ValueError, and release the file."""
        try:
            yield
        except BaseException as error:
            self.close()
            if not isinstance(error, _FAULTS):
                raise
            what = error if type(error) is ValueError else f"{type(error).__name__}: {error}"
            raise ValueError(f"{self.path.name} cannot be resumed: {what}") from None

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
            raise ValueError(f"its format version is {document['version']!r}, this dpfast reads {VERSION} only")
        entries(document, "version", "model", "generation", "id", "shapes", "stream")
        if document["model"] != model:
            raise ValueError(f"it is a stream of kind {document['model']!r}, not {model!r}")
        self._generation = integer(document["generation"], 1, 1 << 62)
        latest, self._id = self._lock.read()[:2]
        if self._id != document["id"]:
            raise ValueError(
                f"{self.path.name}.lock, which tells how far its stream was kept, is not that of this stream: a "
                "checkpoint is moved together with its lock, both under the new name"
            )
        if self._generation < latest:
            raise ValueError(
                f"it is an older copy, number {self._generation} of its stream, which was kept up to number "
                f"{latest} since: resuming it would repeat releases that were paid for once"
            )
        return document, _arrays(body[stop:], document["shapes"])

    def close(self):
        """Release the file, so that another stream can continue with it."""
        self._lock.close()

    def write(self, model, stream, arrays):
        """Replace the file atomically; it is on the disk, readable by its owner only, when this returns.

        `model` is the kind of the stream, and `stream` its values for JSON. If the lock was renamed or removed while
        the stream was open, an OSError refuses to write, so that the renamed checkpoint and lock can be resumed.
        """
        if not self._lock.is_there():
            raise FileNotFoundError(
                f"{self.path.name}.lock was renamed or removed while the stream was open: nothing was written, and the "
                "stream can be resumed from its checkpoint where that is"
            )
        parts = self._parts(model, stream, arrays)
        replace_file(self.path, lambda file: file.writelines(parts), mode=_MODE)
        self._generation += 1
        self._lock.keep(self._generation, self._id)

    def rehearse(self, model, stream, arrays, more):
        """Write the content of `write` and further bytes to a temporary file, to test that there is space."""
        parts = self._parts(model, stream, arrays)

        def write(file):
            file.writelines(parts)
            for start in range(0, more, len(_ZEROS)):
                file.write(_ZEROS[: more - start])

        rehearse_file(self.path, write, mode=_MODE)

    def _parts(self, model, stream, arrays):
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
    """Lock on a file, held until this object or its process ends; the file stores the progress of its stream."""

    def __init__(self, path):
        self._path = path
        self._hold()
        while not self.is_there():  # removed by its last holder
            self.close()
            self._hold()

    def _hold(self):
        path, self._file = self._path, os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            else:
                os.lseek(self._file, 1 << 30, os.SEEK_SET)  # beyond the number, which stays readable
                msvcrt.locking(self._file, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            new = not os.fstat(self._file).st_size
            self.close()
            if error.errno not in _HELD:
                if new:
                    self.remove()
                raise OSError(
                    error.errno, f"{path.name} cannot be locked, and a checkpoint needs that: {error.strerror}"
                ) from None
            raise BlockingIOError(
                f"{path.name.removesuffix('.lock')} is in use: one stream at a time may use a checkpoint, "
                "until its process ends or its estimator is deleted"
            ) from None

    def is_there(self):
        """Return whether this is still the file of that name."""
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._file))
        except FileNotFoundError:
            return False

    def remove(self):
        with suppress(OSError):  # Windows does not remove open files
            self._path.unlink()

    def read(self):
        """Return the last generation, the id of the stream and the place of the file; (0, "", "") for a new file.

        The generation is the larger one of the content and of the extended attribute, if that is of the same stream.
        """
        os.lseek(self._file, 0, os.SEEK_SET)
        number, name, place = (os.read(self._file, 200).decode("ascii", "replace") + "  ").split(" ", 2)
        generations = [int(number) if number.isdecimal() else 0]
        with suppress(AttributeError, OSError, ValueError):  # not every system has one
            noted, stream = os.getxattr(self._file, _NOTED).decode().split(" ")
            generations += [int(noted)] * (stream == name)
        return max(generations), name, place.strip()

    def keep(self, generation, name):
        os.lseek(self._file, 0, os.SEEK_SET)
        content = f"{generation:020} {name} {place_of(self._path)}".encode()
        os.ftruncate(self._file, os.write(self._file, content))
        with suppress(AttributeError, OSError):
            os.setxattr(self._file, _NOTED, f"{generation} {name}".encode())

    def is_copy(self):
        """Return whether the file is another than the one that was written; not if it is of an older version."""
        return self.read()[2] not in ("", place_of(self._path))

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
