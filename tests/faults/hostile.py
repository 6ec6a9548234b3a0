"""Files that nobody writes by mistake, and what reading one may take: 2 seconds of the processor and 1 GB."""

import gzip
import io
import json
import os
import resource
import signal
import sys
import zipfile

import numpy as np
import pyarrow as pa
from pyarrow import parquet

SECONDS, BYTES = 2, 1 << 30
REFUSED = (ValueError, OSError)


class _Loaded:
    """What a pickle would run."""

    def __reduce__(self):
        return os._exit, (77,)


def tried(function, path, seconds=20):
    """How a child process fares that calls `function(path)`: (outcome, seconds of the processor, bytes on top).

    The outcome is "read", "refused", or what is wrong: the name of another error, or of the signal that ended it.
    """
    sys.stdout.flush()
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        os.close(told)
        try:
            function(path)
            outcome = "read"
        except REFUSED as error:
            outcome = "refused" if str(error) else f"{type(error).__name__} without a word"
        except BaseException as error:
            outcome = f"{type(error).__name__}: {str(error)[:200]}"
        os.write(tell, outcome.encode())
        os._exit(0)
    os.close(tell)
    _, status, used = os.wait4(child, 0)
    with os.fdopen(told) as pipe:
        outcome = pipe.read()
    if os.WIFSIGNALED(status):
        outcome = signal.Signals(os.WTERMSIG(status)).name
    return outcome or f"exit {status}", used.ru_utime + used.ru_stime, max(0, used.ru_maxrss - own) << 10


def npy(array):
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def header(shape, dtype="<f8"):
    """An array's header; its entries are somewhere else, or nowhere."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": dtype, "fortran_order": False, "shape": shape})
    return out.getvalue()


def npz(**arrays):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in arrays.items():
            file.writestr(f"{name}.npy", content if isinstance(content, bytes) else npy(np.asarray(content)))
    return out.getvalue()


def sparse(format="csr", shape=(3, 4), **parts):
    whole = {"indptr": [0, 1, 2, 2], "indices": [1, 3], "data": [1.0, 1.0]} | parts
    whole = {name: np.asarray(part, None if name == "data" else np.int32) for name, part in whole.items()}
    return npz(format=np.array(format.encode()), shape=np.array(shape), y=[0, 1, 0], **whole)


def table(columns, rows, **options):
    """A Parquet file of constant columns, which take next to no room."""
    out = io.BytesIO()
    column = pa.array(np.zeros(rows, np.uint8))
    parquet.write_table(pa.table({f"c{j}": column for j in range(columns)}), out, **options)
    return out.getvalue()


def tables():
    """Names and contents of hostile tables."""
    labels = np.arange(4) % 2
    yield "rows.npz", npz(X=header((10**12, 10)) + bytes(80), y=labels)
    yield "bytes.npz", npz(X=header((10**12, 1), "|u1") + bytes(80), y=labels)
    yield "negative.npz", npz(X=header((-5, 10)) + bytes(80), y=labels)
    yield "claims.npz", npz(X=header((2**62, 2**62)), y=labels)
    yield "pickle.npz", npz(X=np.array([[_Loaded()]], object), y=labels[:1])
    yield "names.npz", npz(X=np.eye(4), y=labels, feature_names=np.array([_Loaded(), 1], object))
    yield "labels.npz", npz(X=np.eye(4), y=np.array([_Loaded()] * 4, object))
    yield "point.npz", npz(X=np.float64(3), y=labels[:1])
    yield "nan.npz", npz(X=np.full((4, 3), np.nan), y=labels)
    yield "complex.npz", npz(X=np.ones((4, 3), complex), y=labels)
    yield "dates.npz", npz(X=np.zeros((4, 3), "M8[s]"), y=labels)
    yield "records.npz", npz(X=np.zeros(4, [("a", "f8"), ("b", "f8")]), y=labels)
    yield "none.npz", npz(X=np.zeros((0, 3)), y=labels[:0])
    yield "thin.npz", npz(X=np.zeros((4, 0)), y=labels)
    yield "text.npz", npz(X=np.array([["a"] * 3] * 4), y=labels)
    yield "falls.npz", sparse(indptr=[0, 10**9, 2, 2])
    yield "negative indptr.npz", sparse(indptr=[0, -7, 2, 2])
    yield "starts late.npz", sparse(indptr=[1, 1, 2, 2])
    yield "ends late.npz", sparse(indptr=[0, 1, 2, 9])
    yield "far.npz", sparse(indices=[10**6, 2])
    yield "negative indices.npz", sparse(indices=[-7, 2])
    yield "wide.npz", sparse(shape=(3, 10**15))
    yield "tall.npz", sparse(shape=(10**15, 4))
    yield "no rows.npz", sparse(shape=(-3, 4))
    yield "shape of one.npz", sparse(shape=(3,))
    yield "unknown.npz", sparse(format="zzz")
    yield (
        "coordinates.npz",
        npz(
            format=np.array(b"coo"),
            shape=[3, 4],
            row=np.int32([0, 9]),
            col=np.int32([0, -1]),
            data=[1.0, 1.0],
            y=[0, 1, 0],
        ),
    )
    yield (
        "diagonals.npz",
        npz(format=np.array(b"dia"), shape=[3, 10**6], offsets=np.int32([10**9]), data=np.ones((1, 3)), y=[0, 1, 0]),
    )
    yield "blocks.npz", npz(
        format=np.array(b"bsr"), shape=[4, 4], indptr=np.int32([0, 9, 1]), indices=np.int32([7]),
        data=np.ones((1, 2, 2)), y=[0, 1, 0, 1],
    )  # fmt: skip
    yield "sparse.npz", sparse(shape=(3, 2**31 - 1))
    yield "not a zip.npz", b"PK\3\4" + bytes(100)
    yield "empty.npz", b""
    yield "names.csv", b"a,a,y\n1,0,1\n"
    yield "nul.csv", b"a,b,y\n1,0,1\n\0\0,1,0\n"
    yield "nul name.csv", b"a,\0,y\n1,0,1\n"
    yield "latin.csv", b"a,b,y\n1,0,1\n1,0,\xe9\n"
    yield "wide text.csv", "a,b,y\n1,0,1\n".encode("utf-16")
    yield "nothing.csv", b""
    yield "number.csv", b"a,b,y\n1e999,0,1\n0,1,0\n"
    yield "underscore.csv", b"a,b,y\n1_0,0,1\n0,1,0\n"
    yield "sixteen.csv", b"a,b,y\n0x1,0,1\n0,1,0\n"
    yield "not a number.csv", b"a,b,y\nnan,0,1\n0,1,0\n"
    yield "digits.csv", b"a,b,y\n" + b"9" * 100_000 + b",0,1\n0,1,0\n"
    yield "rows.csv.gz", gzip.compress(b"a,b,y\n" + b"1,0,1\n" * 300_000, 1)
    yield "cut.csv.gz", gzip.compress(b"a,b,y\n" + b"1,0,1\n" * 1000)[:-10]
    yield "not.csv.gz", b"a,b\n"
    yield "far.svm", b"1 1:1 999999999999:1\n-1 2:1\n"
    yield "widest.svm", b"1 1:1 2147483646:1\n-1 2:1\n"
    yield "negative.svm", b"1 -5:1\n-1 2:1\n"
    yield "over.svm", b"1 1:1 99999999999999999999999:1\n-1 2:1\n"
    yield "nan.svm", b"1 1:nan\n-1 2:1\n"
    yield "zeros.parquet", b"PAR1" + bytes(50)
    yield "ends.parquet", b"PAR1" + bytes(50) + b"\xff\xff\xff\x7fPAR1"
    yield "tiny groups.parquet", table(2, 20_000, row_group_size=10)


def bombs():
    """Those that take seconds to be made."""
    yield "zeros.npz", npz(X=header((40_000, 10_000), "|u1") + bytes(400_000_000), y=np.arange(40_000) % 2)
    yield "floats.npz", npz(X=header((75_000, 1000)) + bytes(600_000_000), y=np.arange(75_000) % 2)
    columns = 300_000
    yield "columns.csv", b",".join(b"c%d" % j for j in range(columns)) + (b"\n" + b",".join([b"1"] * columns)) * 2
    yield "cell.csv", b"a,b,y\n1,0,1\n" + b"1" * 50_000_000 + b",0,1\n"
    yield "quote.csv", b'a,b,y\n1,0,1\n"' + b"1\n" * 20_000_000
    yield "header.csv", b"a" * 200_000_000 + b",b,y\n1,0,1\n"
    yield "label.csv", b"a,b,y\n1,0,1\n0,0," + b"x" * 2_000_000 + b"\n"
    yield "lines.csv", b"\n" * 1_000_000
    yield "bomb.csv.gz", gzip.compress(b"a,b,y\n" + b"1" * 300_000_000, 1)
    yield "line.svm", b"1 1:1" + b" " * 200_000_000 + b"\n"
    yield "bomb.svm.gz", gzip.compress(b"1 1:1\n" + b"#" * 300_000_000, 1)
    yield "constant.parquet", table(40, 5_000_000)


def models(document):
    """Names and texts of hostile models, made of one that is sound."""
    text = json.dumps(document)
    for name in document:
        for value in ("1" * 10**6, "[" * 10**5, '"' + "a" * 10**6, "1e999", "NaN", "-1", "{}", "[[]]", "null"):
            yield f"{name} {value[:4]}", text.replace(json.dumps(document[name]), value, 1)
    yield "deep", "[" * 10**6 + "]" * 10**6
    yield "deep dicts", '{"a":' * 10**5 + "1" + "}" * 10**5
    yield "nul", "\0" * 10**6
    yield "long", '{"format": "dpfast model", "x": [' + "1," * 10**6 + "1]}"
