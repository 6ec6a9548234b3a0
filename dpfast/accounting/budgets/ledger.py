"""A budget in a file: an SQLite database that many processes and users of one machine charge.

A charge is a transaction. Under a lock that one process holds at a time, the sums are read, the filter checks the
charge, and the charge and the new sums are written together. They are on the disk (`PRAGMA synchronous = EXTRA`) before
`charge` returns, and therefore before anything is drawn. A killed process leaves either nothing or the whole charge; an
incomplete charge is undone when the file is opened next. A charge remains even if no draw followed it.

**What is detected.** A copied file is refused, and so is a file restored from a backup: the ledger stores its inode and
its time of creation. ``Budget.open(path, moved=True)`` accepts a file that was moved, and records the move. A file is
refused if it is cut short, damaged or of a newer version, if its sums are not those of its charges, or if it has a
second link, under which its journals would not be found. A budget object refuses a file that holds fewer charges than
it has seen.

**What is not detected.** A file restored under the inode of a deleted one, if the file system stores no time of
creation; older content that is written over the file in place (``cp backup file``) while no process has it open; a file
that was deleted and created again; and one table under two budgets, which has spent the sum of both.
"""

import ctypes
import getpass
import hashlib
import hmac
import json
import os
import sqlite3
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dpfast.accounting.budgets.budget import Budget
from dpfast.accounting.budgets.filters import Book, BudgetExceeded, Charge, Sums, new_book
from dpfast.accounting.claims.costs import Cost
from dpfast.accounting.numbers import amount, exact, rational

_APPLICATION, _VERSION, _PATIENCE = 0x64704C31, 2, 60.0
_AT_FDCWD, _STATX_BTIME = -100, 0x800  # of Linux
# SQLite forgets in a child what the parent's threads hold open: a fork waits until no ledger of this process is open.
_OPEN = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_OPEN.acquire, after_in_parent=_OPEN.release, after_in_child=_OPEN.release)
_DAMAGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_TABLES = (
    "CREATE TABLE budget (one INTEGER PRIMARY KEY CHECK (one = 1), made TEXT NOT NULL, neighbors TEXT NOT NULL,"
    " unit TEXT NOT NULL, place TEXT NOT NULL, key BLOB NOT NULL, first TEXT NOT NULL, book TEXT NOT NULL,"
    " charges INTEGER NOT NULL)",
    "CREATE TABLE charge (number INTEGER PRIMARY KEY, time TEXT NOT NULL, user TEXT NOT NULL, process INTEGER NOT NULL,"
    " model TEXT, parameters TEXT, schema TEXT, part TEXT, epsilon TEXT NOT NULL, delta TEXT NOT NULL,"
    " cost TEXT NOT NULL, count INTEGER NOT NULL, sums TEXT)",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
)


class LedgerError(ValueError):
    """A ledger cannot be used. Nothing was charged, so nothing may be drawn."""


class Ledger(Budget):
    """A budget in a file; `Budget.open` creates and opens it.

    It can be charged in any process and thread. It is pickled as its path, and the file is closed after every charge.
    Unless `composition` is "basic", reading `spent` takes longer with each charge; a charge does not.

    Attributes
    ----------
    path : Path
    """

    def __init__(self, path: Path):
        self.path = path
        self._n_charges = 0
        with self._reading() as db:
            self._neighbors, self._unit = db.execute("SELECT neighbors, unit FROM budget").fetchone()
            self._verify(db)

    @property
    def _book(self) -> Book:  # type: ignore[override]
        with self._reading() as db:
            return _book_of(db)

    @property
    def _charges(self) -> list[Charge]:  # type: ignore[override]
        with self._reading() as db:
            return [_charge_of(row) for row in db.execute(_CHARGES)]

    def notes(self) -> list[dict]:
        """Return the notes of all charges, in order.

        Each note has number, time, user, process, model, parameters, schema (a keyed digest), part, count, epsilon and
        delta.
        """
        names = ("number", "time", "user", "process", "model", "parameters", "schema", "part", "count")
        with self._reading() as db:
            rows = db.execute(f"SELECT {', '.join(names)}, epsilon, delta FROM charge ORDER BY number").fetchall()
        noted = [dict(zip(names, row, strict=False)) for row in rows]
        for note, row in zip(noted, rows, strict=True):
            note["epsilon"], note["delta"] = _amount_of(*row[-2:]).above()
            note["parameters"] = json.loads(note["parameters"] or "{}")
        return noted

    def _described(self) -> list[dict[str, Any]]:
        described = []
        for note in self.notes():
            entry = {"what": note["model"] or "", "time": note["time"][:16].replace("T", " ")}
            entry |= {name: note[name] for name in ("epsilon", "delta", "count")}
            described.append(entry | ({} if note["part"] is None else {"part": note["part"]}))
        return described

    def _charge(self, charge: Charge, what) -> None:
        try:
            with self._writing() as db:
                number = self._add(db, charge, what or {})
        except BudgetExceeded as refusal:  # `spent` may take long: compute it without the lock
            raise BudgetExceeded(str(refusal).replace("{spent}", str(self.spent))) from None
        self._n_charges = number

    def _add(self, db, charge, what) -> int:
        """Write a charge and the sums after it, and return its number; refuse a charge that does not fit."""
        after = _book_of(db).with_charge(charge)
        number, key = db.execute("SELECT charges + 1, key FROM budget").fetchone()
        described = what.get("schema")
        digest = None if described is None else hmac.new(key, _json(described).encode(), hashlib.sha256).hexdigest()
        epsilon, delta = map(str, charge.pair.as_fractions())
        row = (
            *(number, _now(), _user(), os.getpid(), what.get("model"), _json(what.get("parameters", {})), digest),
            *(charge.part, epsilon, delta, _json([cost.to_list() for cost in charge.cost]), charge.count),
            _json(after.filter.measure(charge.cost, charge.pair).to_list()),
        )
        db.execute(f"INSERT INTO charge VALUES ({', '.join('?' * len(row))})", row)
        db.execute("UPDATE budget SET book = ?, charges = ?", (_json(after.to_dict()), number))
        return number

    def _check_process(self) -> None:
        pass  # every process is welcome

    # ---- the file --------------------------------------------------------------------------------------------------

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        mode = "rw" if self._writable() else "ro"  # an incomplete charge is undone by writing
        with _OPEN, self._refusing(), closing(_connect(self.path, mode)) as db:
            self._look(db)
            yield db

    @contextmanager
    def _writing(self, *, moved: bool = False) -> Iterator[sqlite3.Connection]:
        with _OPEN, self._refusing():
            if not self._writable():
                raise LedgerError("it cannot be written: its mode is read-only")
            with closing(_connect(self.path, "rw")) as db:
                db.execute("BEGIN IMMEDIATE")
                try:
                    self._look(db)
                    if not moved:
                        self._check_place(db)
                    _upgrade(db)
                    yield db
                    db.execute("COMMIT")
                finally:
                    if db.in_transaction:
                        db.execute("ROLLBACK")

    def _writable(self) -> bool:
        return not self.path.exists() or (bool(self.path.stat().st_mode & 0o222) and os.access(self.path, os.W_OK))

    def _look(self, db) -> None:
        """Refuse a file that is not a ledger, or that has fewer charges than were seen."""
        before = self._n_charges  # before the file is read: another thread may charge meanwhile
        application, version = (
            db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        if application != _APPLICATION:
            raise LedgerError("it is not a dpfast budget, or it was cut short")
        if version > _VERSION:
            raise LedgerError(f"it has version {version}, this dpfast reads up to {_VERSION}: install a newer one")
        charges = db.execute("SELECT charges FROM budget").fetchone()[0]
        if charges < before:
            raise LedgerError(f"it holds {charges:,} charges and had {before:,}: it was overwritten with older content")
        self._n_charges = charges

    def _check_place(self, db) -> None:
        place = db.execute("SELECT place FROM budget").fetchone()[0]
        if place != place_of(self.path):
            raise LedgerError(
                "it is a copy of a budget, or was restored from one, and does not know what the other file has spent. "
                "Use the original file; if it was moved here and the old one is gone, open it with moved=True"
            )
        for _ in range(20):  # while it is being created it has two names
            links = self.path.stat().st_nlink
            if links == 1:
                return
            time.sleep(0.05)
        raise LedgerError(f"it has {links} links, and changes under different names are not safe: remove the others")

    def _verify(self, db) -> None:
        """Refuse a damaged file, and one whose sums are not those of its charges."""
        db.execute("BEGIN")  # a concurrent charge is read completely or not at all
        state = db.execute("PRAGMA quick_check").fetchone()[0]
        rows = _rows_of(db)
        db.execute("COMMIT")
        first, book, charges = _books_of(*rows)
        if state != "ok":
            raise LedgerError(f"it is damaged: {state}")
        try:
            book.verify(first, charges)
        except (BudgetExceeded, ValueError) as error:
            raise LedgerError(f"it is damaged: {error}") from None

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Convert errors of SQLite and of the system to clear messages."""
        try:
            yield
        except BudgetExceeded:
            raise
        except LedgerError as error:
            raise LedgerError(f"{self.path.name}: {error}; nothing was charged") from None
        except FileNotFoundError:
            raise LedgerError(f"{self.path.name}: there is no such file; nothing was charged") from None
        except sqlite3.DatabaseError as error:
            if not self.path.exists():
                raise LedgerError(f"{self.path.name}: there is no such file; nothing was charged") from None
            raise LedgerError(f"{self.path.name}: {_cause(error)}; nothing may be drawn") from None
        except _DAMAGE as error:
            raise LedgerError(f"{self.path.name}: it is damaged: {error!r}; nothing was charged") from None

    def to_dict(self) -> dict:
        raise ValueError(f"this budget is a file, {self.path.name}: open the file where it is needed")

    def __reduce__(self):
        return open_ledger, (str(self.path),)

    def __repr__(self):
        return super().__repr__().replace("Budget(", f"Budget.open({self.path.name!r}: ", 1)


def open_ledger(
    path, epsilon=None, delta=None, *, neighbors=None, unit=None, composition=None, pairs=None, moved=False
) -> Ledger:
    """Create a budget in a file, or open it if the file exists.

    Parameters
    ----------
    path : str or path-like
    epsilon, delta, neighbors, unit, composition, pairs : optional
        As in `Budget`, for a new file. If the file exists, each given value must be that of the file.
    moved : bool, default=False
        Accept a file that was moved, and record the move. The old file must be gone, which cannot be checked.

    Returns
    -------
    Ledger

    Raises
    ------
    LedgerError
        If the file does not exist and epsilon is not given, or it is invalid: see the documentation of this module.
    ValueError
        If a value is out of its range, or differs from that of the file.
    """
    path = Path(path).resolve()
    options = {"neighbors": neighbors, "unit": unit, "composition": composition, "pairs": pairs}
    if not path.exists():
        if epsilon is None:
            raise LedgerError(f"{path.name}: there is no such file; give epsilon= (--epsilon) to create a budget")
        settings: dict[str, Any] = {"neighbors": "replace", "unit": "row", "composition": "auto", "pairs": (0.0, 0.0)}
        settings |= {name: value for name, value in options.items() if value is not None}
        _make(
            path,
            new_book(epsilon, 0.0 if delta is None else delta, **settings),
            settings["neighbors"],
            settings["unit"],
        )
    ledger = Ledger(path)
    if moved:
        with ledger._writing(moved=True) as db:
            db.execute("UPDATE budget SET place = ?", (place_of(path),))
            ledger._add(db, Charge(amount(0, 0), (Cost("pure", 0.0),)), {"model": "(the file was moved)"})
    with ledger._reading() as db:
        first = Book.from_dict(json.loads(db.execute("SELECT first FROM budget").fetchone()[0])).filter
    total = first.total.as_fractions()
    contents = {"epsilon": total[0], "delta": total[1], "neighbors": ledger.neighbors, "unit": ledger.unit}
    contents |= {"composition": first.kind, "pairs": first.pairs.as_fractions()}
    exactly: dict[str, Callable[..., Any]] = {"epsilon": partial(exact, "epsilon"), "delta": partial(exact, "delta")}
    exactly["pairs"] = lambda value: amount(*value).as_fractions()
    for name, value in ({"epsilon": epsilon, "delta": delta} | options).items():
        if value is not None and exactly.get(name, str)(value) != contents[name]:
            raise ValueError(f"{path.name} was made with {name}={contents[name]}, got {value!r}")
    return ledger


def _make(path: Path, book: Book, neighbors: str, unit: str) -> None:
    """Create the file atomically; another process may be doing the same."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.part")
    try:
        with _OPEN, closing(sqlite3.connect(partial, isolation_level=None)) as db:
            db.execute("PRAGMA synchronous = EXTRA")
            db.execute("BEGIN EXCLUSIVE")
            for statement in _TABLES:
                db.execute(statement)
            text = _json(book.to_dict())
            row = (1, _now(), neighbors, unit, place_of(partial), os.urandom(32), text, text, 0)
            db.execute(f"INSERT INTO budget VALUES ({', '.join('?' * len(row))})", row)
            db.execute("COMMIT")
        try:
            os.link(partial, path)
        except FileExistsError:
            return
    except (sqlite3.DatabaseError, OSError) as error:
        raise LedgerError(f"{path.name}: the budget could not be created: {error}") from None
    finally:
        with suppress(OSError):  # on a read-only disk, even of a file that is not there
            partial.unlink()
    if os.name == "posix":  # else the name could be gone after a power cut
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


_CHARGES = "SELECT * FROM charge ORDER BY number"


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    db = sqlite3.connect(f"file:{quote(str(path))}?mode={mode}", uri=True, timeout=_PATIENCE, isolation_level=None)
    if mode == "rw":
        db.execute("PRAGMA synchronous = EXTRA")
    return db


def _book_of(db) -> Book:
    return Book.from_dict(json.loads(db.execute("SELECT book FROM budget").fetchone()[0]))


def _rows_of(db) -> tuple[Any, Any]:
    return db.execute("SELECT first, book, charges FROM budget").fetchone(), db.execute(_CHARGES).fetchall()


def _books_of(budget, rows) -> tuple[Book, Book, list[Charge]]:
    """Return the ledger as it was made, as it is, and the charges between."""
    first, book = (Book.from_dict(json.loads(each)) for each in budget[:2])
    if len(rows) != budget[2]:
        raise LedgerError("it is damaged: its sums are not those of its charges")
    return first, book, [_charge_of(row) for row in rows]


def _upgrade(db) -> None:
    """Convert a file of version 1, which did not store what a charge added, nor the bounds that it was checked with."""
    if db.execute("PRAGMA user_version").fetchone()[0] > 1:
        return
    first, book, charges = _books_of(*_rows_of(db))
    db.execute("ALTER TABLE charge ADD COLUMN sums TEXT")
    first_text, book_text = (_json(each.to_dict()) for each in (first, book.verify(first, charges)))
    db.execute("UPDATE budget SET first = ?, book = ?", (first_text, book_text))
    db.execute(f"PRAGMA user_version = {_VERSION}")


def _charge_of(row) -> Charge:
    """Return a charge of a row; its last column, the sums, is not there in version 1."""
    part, epsilon, delta, cost, count, *sums = row[7:]
    costs = tuple(Cost(*each) for each in json.loads(cost))
    stored = Sums.from_list(json.loads(sums[0])) if sums and sums[0] else None
    return Charge(_amount_of(epsilon, delta), costs, count, part, stored)


def _amount_of(epsilon: str, delta: str):
    """Return the amount from the texts that `Amount.as_fractions` wrote."""
    return amount(rational(epsilon), rational(delta))


def place_of(path: Path) -> str:
    """Return what tells a file from its copies: its inode and, if the system tells, its time of creation."""
    birth = _birth_of(path)
    return str(path.stat().st_ino) if birth is None else f"{path.stat().st_ino} {birth}"


def _birth_of(path: Path) -> int | None:
    """Return when a file was created, in nanoseconds; None if the system does not tell."""
    status = path.stat()
    if os.name == "nt":
        return status.st_ctime_ns
    if (birth := getattr(status, "st_birthtime", None)) is not None:
        return int(birth * 10**9)
    statx = getattr(ctypes.CDLL(None), "statx", None)  # os.stat has it from Python 3.15 on
    answer = ctypes.create_string_buffer(256)
    if statx is None or statx(_AT_FDCWD, os.fsencode(path), 0, _STATX_BTIME, answer):
        return None
    (mask,), (seconds, nanoseconds) = struct.unpack_from("=I", answer), struct.unpack_from("=qI", answer, 80)
    return seconds * 10**9 + nanoseconds if mask & _STATX_BTIME else None


def _cause(error: sqlite3.DatabaseError) -> str:
    """Return in plain words why SQLite failed."""
    text = str(error)
    if "readonly" in text:
        return "it cannot be written: the file or its folder is read-only"
    if "full" in text:
        return "the disk is full"
    if "unable to open" in text:
        return f"it cannot be opened ({text})"
    if "locked" in text:
        return f"another process has kept it locked for {_PATIENCE:g} seconds"
    if "malformed" in text or "not a database" in text or "no such table" in text:
        return f"it is damaged or was cut short ({text})"
    return text


def _json(value) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid()) if hasattr(os, "getuid") else "?"
