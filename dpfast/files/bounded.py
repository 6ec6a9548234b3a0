"""Opening of files with bounds on the length of lines and on the size that compressed files expand to."""

import gzip
import io
from contextlib import contextmanager
from pathlib import Path

LINE = 1 << 27  # bytes, unless a format has a smaller bound
EXPANSION, ALWAYS = 400, 1 << 28  # a compressed file may expand to so many times its size, and to 256 MB in any case


@contextmanager
def opened(path):
    """Return the file, expanded if its name ends in .gz; reading beyond its bounds raises ValueError."""
    path = Path(path)
    with open(path, "rb") as file:
        if path.suffix != ".gz":
            yield Lines(file)
            return
        with gzip.open(file, "rb") as expanded:
            yield Lines(_Bounded(expanded, max(ALWAYS, EXPANSION * path.stat().st_size)))


def check_expansion(expanded, stored):
    """Refuse a table of so many bytes if the file that contains it is too small for that."""
    if expanded > max(ALWAYS, EXPANSION * stored):
        raise ValueError(f"the file expands to {expanded:,} bytes, more than {EXPANSION} times its size")


class Lines(io.BufferedReader):
    """A file with lines of bounded length."""

    def __init__(self, file):
        super().__init__(file if isinstance(file, io.RawIOBase) else file.raw, 1 << 16)

    def __next__(self):
        line = self.readline(LINE)
        if not line:
            raise StopIteration
        if len(line) == LINE and not line.endswith(b"\n"):
            raise ValueError(f"a line has more than {LINE:,} bytes")
        return line


class _Bounded(io.RawIOBase):
    """A file that is not read beyond a number of bytes."""

    def __init__(self, file, most):
        self._file, self._left, self._most = file, most, most

    def readable(self):
        return True

    def readinto(self, buffer):
        data = self._file.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise ValueError(f"the file expands to more than {self._most:,} bytes, {EXPANSION} times its size")
        buffer[: len(data)] = data
        return len(data)
