"""What this machine's memory gives: reads, and the triad a = b + s c, in bytes a second. Needs a C compiler.

python bench/bandwidth.py
"""

import ctypes
import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
from workloads import best_of

WORDS = 1 << 25  # 256 MB an array, beyond any cache
FLAGS = ("-std=c11", "-O3", "-march=native", "-shared", "-fPIC")
POINTER = ctypes.c_void_p


def compiler():
    """The C compiler: what CC names, or cc."""
    found = shutil.which(os.environ.get("CC", "cc"))
    if found is None:
        raise RuntimeError("measuring memory needs a C compiler: neither CC nor cc is one")
    return found


@cache
def loops():
    """bandwidth.c, compiled for this machine; its functions let other threads run."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "bandwidth.so")
        subprocess.run([compiler(), *FLAGS, Path(__file__).with_suffix(".c"), "-o", library], check=True)
        built = ctypes.CDLL(str(library))
    built.bandwidth_read.argtypes, built.bandwidth_read.restype = (POINTER, ctypes.c_size_t), ctypes.c_uint64
    built.bandwidth_triad.argtypes = (POINTER, POINTER, POINTER, ctypes.c_double, ctypes.c_size_t)
    built.bandwidth_triad.restype = None
    return built


def rate(task, size, threads):
    """`size` bytes over the seconds that `threads` threads need for task(part), each its own part."""
    with ThreadPoolExecutor(threads) as pool:
        return size / best_of(lambda: list(pool.map(task, range(threads))))


@cache
def read(threads=1):
    part = WORDS // threads // 32 * 32
    x = np.ones(part * threads, np.uint64)

    def task(i):
        assert loops().bandwidth_read(x[i * part :].ctypes.data, part) == part

    return rate(task, x.nbytes, threads)


@cache
def triad(threads=1):
    part = WORDS // threads
    a, b, c = (np.full(part * threads, value) for value in (0.0, 1.0, 2.0))

    def task(i):
        loops().bandwidth_triad(*(x[i * part :].ctypes.data for x in (a, b, c)), 3.0, part)

    result = rate(task, 3 * a.nbytes, threads)
    assert (a == 7).all()
    return result


if __name__ == "__main__":
    for threads in (1, 2):
        print(f"threads {threads}: read {read(threads) / 1e9:.1f} GB/s, triad {triad(threads) / 1e9:.1f} GB/s")
