"""The files of a command: no two of them are one, and what was paid for is kept in one of them or in another."""

import csv
import glob
import io
import os
import sys
import tempfile
from copy import copy
from pathlib import Path

from .figures import figures_to_keep
from .files import bytes_of, name_features
from .report import complain, reason_of

BEGUN = "learning had begun: count its budget as spent; no file was written"
RELEASED = "the model is released and its budget spent"
_BESIDE = {"checkpoint": (".lock",), "budget": ("-journal", "-wal", "-shm")}  # files that lie beside a file


def check_files(out=None, **others):
    """Refuse, before any work, an output that could not be written after it, and two files that are the same one.

    Without `out`, the command writes to standard output. DATA and LOSSES are tables, in one file or in several, or
    bundled.
    """
    if out is None:
        check_output()
    elif out.is_dir() or not os.access(out.absolute().parent, os.W_OK):
        raise ValueError(f"{out} cannot be written: it must name a file in a folder that exists")
    elif out.exists() and not out.is_file():
        raise ValueError(f"{out} cannot be written: it is a device or a pipe; leave out --out for standard output")
    files = {}
    for name, path in {**others, "out": out}.items():
        argument = name if name.isupper() else f"--{name}"
        for file in _files(name, path):
            other = files.setdefault(_identity(file), argument)
            if other != argument:
                raise ValueError(f"{other} and {argument} are the same file, {file}: give each a file of its own")


def check_output():
    """Refuse to write to a standard output that is closed."""
    if sys.stdout is None:
        raise ValueError("standard output is closed: what this command writes would be lost")


def _files(name, path):
    """Return all files that an argument stands for."""
    if path is None:
        return []
    if name not in ("DATA", "LOSSES"):
        return [Path(path), *(Path(f"{path}{ending}") for ending in _BESIDE.get(name, ()))]
    if Path(path).is_dir():
        return [each for each in Path(path).rglob("*") if each.is_file()]
    if not Path(path).suffix:  # a bundled table, or standard input
        return []
    return [Path(path)] if Path(path).exists() else [Path(each) for each in glob.glob(str(path), recursive=True)]


def _identity(file):
    """Return the identity of a file, the same for all its names and links."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return os.path.normcase(file.resolve())
    return status.st_dev, status.st_ino


def csv_of(rows):
    """Return lines of comma-separated cells."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def add_figures(estimator, out, figures, of):
    """Store the figures that were paid for with a model, in its file too; the file is unchanged if that fails."""
    from dpfast.base.saving import read_document, write_model

    estimator.figures_ = figures_to_keep(figures, of)
    if out is not None:
        table = read_document(out).get("table")
        write_model(estimator, out, **({} if table is None else {"table": table}))


# ---- what was paid for -----------------------------------------------------------------------------------------------


def learning(state, estimator, names, **table):
    """Note that learning begins: should the command stop in it, what was released until then is written to a file."""

    def rescue():
        if not hasattr(estimator, "privacy_"):
            return None  # there is no model
        state.now, state.has_spent = "learning had begun: its budget is spent, and no file was written", True
        where = deliver(content_of(estimator, names, **table), None, "model.json")
        return f"learning had begun: its budget is spent; what was released until then is {where}"

    state.now, state.rescue = BEGUN, rescue


def keep(estimator, out, state, names, **table):
    """Save a model that was just released, its columns named; return the file, which is another one if `out` fails.

    The budget is spent, so the model is saved before anything else. If the command stops after this, `state` says where
    the model is; without `out`, it is written only in that case.
    """
    content = content_of(estimator, names, **table)
    state.now, state.has_spent = RELEASED, True
    state.rescue = lambda: f"{state.now}; the model is {deliver(content, None, 'model.json')}"
    if out is None:
        return None
    where = deliver(content, out, out.name)
    state.now, state.rescue = f"{RELEASED}; the complete model is {where}", None
    return str(where).removeprefix("in ")


def content_of(estimator, names, *, label=None, text=None, facts=None, **table):
    """Return the file of a model whose columns and label have these names, and that was fitted on such text."""
    estimator = copy(estimator)  # a stream continues with the original, on arrays without names
    name_features(estimator, names, label, text, facts)
    return bytes_of(estimator, **table)


def deliver(content, out, name):
    """Write bytes that were paid for to `out`, or else to a new folder; return in words where they are."""
    from dpfast.tables.replacing import replace_file

    failed = None
    for place in (out, tempfile.gettempdir, os.getcwd, Path.home):
        if place is None:
            continue
        folder = None
        try:
            if callable(place):
                folder = tempfile.mkdtemp(prefix="dpfast-", dir=place())  # its owner's only
            file = out if folder is None else Path(folder) / name
            replace_file(file, lambda file: file.write(content))
        except (OSError, RuntimeError) as error:  # Path.home may fail by the latter
            failed = failed or error
            if folder is not None:
                os.rmdir(folder)
            continue
        if out not in (None, file):
            complain(f"{reason_of(failed)}; what was paid for is in {file}")
        return f"in {file}"
    complain(f"{reason_of(failed)}; no file could be written, and what was paid for follows")
    print(content.decode(), file=sys.stderr)
    return "above"
