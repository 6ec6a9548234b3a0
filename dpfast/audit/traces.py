"""What a fit leaves besides what its model publishes: text, log records, files, and whatever an object refers to.

`watch` records the first three, and `reachable` lists the values that a Python program can get at from an object;
`global_values` and `process_values` those that need none.
"""

import contextlib
import contextvars
import functools
import gc
import io
import locale
import logging
import os
import random
import sys
import tempfile
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

_LEAVES = (bool, int, float, complex, str, bytes, bytearray, Fraction, np.generic, np.dtype, type(None), type(...))
_MOST_ENTRIES, _MOST_VALUES = 1 << 20, 200_000  # of an array, and of an object: beyond, nothing is compared
_EVENTS = "socket.connect", "socket.sendto", "subprocess.Popen", "os.system", "sqlite3.connect", "os.putenv"
_HARMLESS = (os.devnull, "/dev/tty")
_LIBRARIES = "dpfast", "sklearn", "numpy", "scipy", "pandas", "pyarrow", "builtins", "abc", "typing", "dataclasses"


@dataclass
class Traces:
    """Text by the name of its stream, contents of files by path, and other events."""

    texts: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)


@contextlib.contextmanager
def watch() -> Iterator[Traces]:
    """Record what the block writes to standard output and error below Python, logs, and writes to files.

    Python writes no compiled modules meanwhile, which only the first of two fits would.
    """
    traces, written, logged = Traces(), _Written(), io.StringIO()
    before, root = logging.getLogRecordFactory(), logging.getLogger()
    level, compiled = root.level, sys.dont_write_bytecode

    def record(*arguments, **named):
        result = before(*arguments, **named)
        logged.write(f"{result.name}: {result.getMessage()}\n")
        return result

    logging.setLogRecordFactory(record)
    root.setLevel(1)
    sys.dont_write_bytecode = True
    try:
        with _caught(1) as out, _caught(2) as err, written:
            yield traces
    finally:
        logging.setLogRecordFactory(before)
        root.setLevel(level)
        sys.dont_write_bytecode = compiled
    traces.texts |= {"standard output": out.getvalue(), "standard error": err.getvalue(), "logging": logged.getvalue()}
    traces.files |= written.contents()


@contextlib.contextmanager
def _caught(descriptor: int) -> Iterator[io.StringIO]:
    """Catch what is written to a file descriptor, by whatever code."""
    caught, stream = io.StringIO(), sys.__stdout__ if descriptor == 1 else sys.__stderr__
    try:
        _flush(stream)
        copy = os.dup(descriptor)
    except (OSError, ValueError):  # it is closed
        yield caught
        return
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), descriptor)
        try:
            yield caught
        finally:
            _flush(stream)
            os.dup2(copy, descriptor)
            os.close(copy)
            file.seek(0)
            caught.write(file.read().decode(errors="replace"))


def _flush(stream: Any) -> None:
    with contextlib.suppress(AttributeError, OSError, ValueError):
        stream.flush()


class _Written:
    """The files that are opened for writing in a block, and connections and programs that it starts."""

    active: "list[_Written]" = []  # noqa: RUF012 - one hook serves all, as Python never removes it
    hooked = False

    def __init__(self) -> None:
        self._paths: dict[str, int] = {}
        self._events: list[str] = []

    def __enter__(self) -> None:
        if not _Written.hooked:
            sys.addaudithook(_hook)
            _Written.hooked = True
        _Written.active.append(self)

    def __exit__(self, *error: Any) -> None:
        _Written.active.remove(self)

    def note(self, event: str, arguments: tuple) -> None:
        if event == "open" and _writes(*arguments[1:3]):
            self._note_path(arguments[0])
        elif event == "os.rename":
            self._note_path(arguments[1])
        elif event in _EVENTS:
            self._events.append(f"{event} {arguments!r:.200}")

    def _note_path(self, path: Any) -> None:
        if isinstance(path, str | bytes | os.PathLike):
            name = os.path.abspath(os.fsdecode(path))
            if not name.endswith(_HARMLESS):
                with contextlib.suppress(OSError):
                    self._paths.setdefault(name, os.path.getsize(name))
                self._paths.setdefault(name, 0)

    def contents(self) -> dict[str, bytes]:
        """Return the contents of the files by path, and of those that were longer only what was appended."""
        contents: dict[str, bytes] = {}
        for name, size in self._paths.items():
            try:
                with open(name, "rb") as file:
                    content = file.read()
            except OSError:
                content = b"(removed)"
            contents[name] = content[size:] if len(content) > size else content
        return contents | dict.fromkeys(self._events, b"")


def _writes(mode: Any, flags: Any) -> bool:
    if isinstance(mode, str):
        return bool({*mode} & {*"wax+"})
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


def _hook(event: str, arguments: tuple) -> None:
    for each in _Written.active:
        each.note(event, arguments)


# ---- what is reachable -----------------------------------------------------------------------------------------------


def reachable(value: Any, *, leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the plain values that an object refers to, through whatever objects, by the way to them.

    Attributes of the object itself with a name of `leave_out` are left out.
    """
    walk = _Walk()
    names = {name: each for name, each in {**_state_of(value), **_attributes(value)}.items() if name not in leave_out}
    for name, each in names.items():
        walk.go(each, name)
    for kind in type(value).__mro__:
        if is_own(kind.__module__):
            walk.go(kind, kind.__name__)
    return walk.found


def global_values(value: Any) -> dict[str, Any]:
    """Return the plain values of the modules in which the classes of an object are defined, but for libraries."""
    walk = _Walk()
    for name in dict.fromkeys(kind.__module__ for kind in type(value).__mro__):
        if is_own(name) and name in sys.modules:
            for variable, each in list(vars(sys.modules[name]).items()):
                if not (variable.startswith("__") and variable.endswith("__")):
                    walk.go(each, f"{name}.{variable}")
    return walk.found


_SETTINGS: dict[str, Callable[[], Any]] = {
    "sys.getrecursionlimit()": sys.getrecursionlimit,
    "sys.getswitchinterval()": sys.getswitchinterval,
    "sys.get_int_max_str_digits()": sys.get_int_max_str_digits,
    "sys.path": lambda: sys.path,
    "sys.argv": lambda: sys.argv,
    "gc.get_threshold()": gc.get_threshold,
    "threading.stack_size()": threading.stack_size,
    "locale.setlocale()": lambda: locale.setlocale(locale.LC_ALL),
    "np.geterr()": np.geterr,
    "np.get_printoptions()": np.get_printoptions,
    "logging.root.level": lambda: logging.root.level,
}


def process_values() -> dict[str, Any]:
    """Return what all code of the process can read: environment, settings, generators, context variables."""
    walk = _Walk()
    walk.go(dict(os.environ), "os.environ")
    walk.go(os.getcwd(), "os.getcwd()")
    walk.go(threading.current_thread().name, "the name of the thread")
    for setting, read in _SETTINGS.items():
        walk.go(repr(read()), setting)
    walk.go(repr(random.getstate()), "random.getstate()")
    walk.go(np.random.get_state(), "np.random.get_state()")  # noqa: NPY002 - what other code may have set
    for variable, value in contextvars.copy_context().items():
        walk.go(value, f"the context variable {variable.name}")
    return walk.found


def is_own(module: str) -> bool:
    """Return whether a module is none of the libraries on which a learner rests."""
    root = module.partition(".")[0]
    return module == "__main__" or (root not in _LIBRARIES and root not in sys.stdlib_module_names)


class _Walk:
    """A walk from an object to what it refers to, once for each object."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        self._visited: dict[int, Any] = {}

    def go(self, start: Any, way: str) -> None:
        left = [(start, way)]
        while left and len(self._visited) < _MOST_VALUES:
            value, way = left.pop()
            if isinstance(value, _LEAVES):
                self.found[way] = (type(value).__name__, repr(value))
            elif id(value) not in self._visited:
                self._visited[id(value)] = value
                left += self._next(value, way)

    def _next(self, value: Any, way: str) -> list[tuple[Any, str]]:
        """Return what an object refers to, with the way to it."""
        if isinstance(value, np.ndarray) and value.dtype != object:
            content = value.tobytes() if value.size <= _MOST_ENTRIES else b"large"
            self.found[way] = (value.dtype.str, value.shape, content)
            return [] if value.base is None else [(value.base, f"{way}.base")]
        if isinstance(value, Mapping):
            self.found[way] = ("mapping", tuple(map(_name, value)))
            return [(each, f"{way}[{_name(key)}]") for key, each in value.items()]
        if isinstance(value, list | tuple | np.ndarray):
            self.found[way] = (type(value).__name__, len(value))
            return [(each, f"{way}[{k}]") for k, each in enumerate(value)] + _of(value, way)
        if isinstance(value, set | frozenset):
            self.found[way] = (type(value).__name__, tuple(sorted(map(_name, value))))
            return []
        if isinstance(value, types.FunctionType):
            if not is_own(value.__module__ or ""):
                return []
            cells = [each.cell_contents for each in value.__closure__ or () if _is_full(each)]
            return [(cells, f"{way}.closure"), (value.__defaults__, f"{way}.defaults"), (vars(value), f"{way}.vars")]
        if isinstance(value, types.MethodType):
            return [(value.__self__, f"{way}.self"), (value.__func__, f"{way}.function")]
        if isinstance(value, functools._lru_cache_wrapper):
            return [(each, f"{way}.cache") for each in gc.get_referents(value) if isinstance(each, dict)]
        if isinstance(value, type):
            own = is_own(value.__module__)
            each_own = ((name, each) for name, each in list(vars(value).items()) if not name.startswith("__"))
            return [
                (each, f"{way}.{name}") for name, each in each_own if own or isinstance(each, (*_LEAVES, np.ndarray))
            ]
        if isinstance(
            value, types.ModuleType | weakref.ref | types.GeneratorType | property | staticmethod | classmethod
        ):
            return []
        self.found[way] = ("object", type(value).__qualname__)
        return _of(value, way)


def _of(value: Any, way: str) -> list[tuple[Any, str]]:
    """Return the attributes of an object, or what a pickle would hold of it."""
    if attributes := _attributes(value):
        return [(each, f"{way}.{name}") for name, each in attributes.items()]
    if isinstance(value, list | tuple | np.ndarray):
        return []
    try:
        _, *parts = value.__reduce_ex__(4)
        return [(list(each) if isinstance(each, Iterator) else each, f"{way}.state") for each in parts]
    except Exception:
        return []  # a lock, say


def _attributes(value: Any) -> dict[str, Any]:
    attributes = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        slots = getattr(kind, "__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            with contextlib.suppress(AttributeError):
                attributes[name] = getattr(value, name)
    return attributes


def _state_of(value: Any) -> dict[str, Any]:
    """Return what a pickle of an object holds, if it is not what its attributes are."""
    try:
        state = value.__getstate__()
    except Exception:
        return {}
    return state if isinstance(state, dict) else {"pickle": state}


def _name(key: Any) -> str:
    return f"{key!r:.2000}" if isinstance(key, (*_LEAVES, tuple)) else type(key).__name__


def _is_full(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - it raises
    except ValueError:
        return False
    return True
