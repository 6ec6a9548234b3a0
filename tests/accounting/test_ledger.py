import errno
import json
import math
import os
import pickle
import random
import resource
import shutil
import signal
import sqlite3
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from forks import fork, in_a_child

import dpfast
from dpfast.accounting import Budget, BudgetExceeded, Cost, gaussian_epsilon, gaussian_sigma
from dpfast.accounting.budgets import ledger as ledgers
from dpfast.accounting.budgets.filters import UNIT, Filter
from dpfast.accounting.budgets.ledger import LedgerError


@pytest.fixture
def path(tmp_path):
    """Of a file to be made; in memory where that can be had, for a disk takes milliseconds to be sure of a charge."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path / "patients.budget"
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder) / "patients.budget"


def _forked(work, number):
    """The sum of what `work(i)` returns, each in a child of its own."""
    children = []
    for i in range(number):
        read, write = os.pipe()
        pid = fork()
        if not pid:
            status = 1
            try:
                os.write(write, str(work(i)).encode())
                status = 0
            finally:
                os._exit(status)
        os.close(write)
        children.append((pid, read))
    total = 0
    for pid, read in children:
        with os.fdopen(read) as pipe:
            total += int(pipe.read() or 0)
        assert os.waitpid(pid, 0)[1] == 0
    return total


def test_a_file_is_made_once_and_joined(path):
    made = Budget.open(path, epsilon=3, delta=1e-6, neighbors="add-remove", unit="person")
    made.charge(0.5, neighbors="add-remove", unit="person")
    joined = Budget.open(path)
    assert (joined.epsilon, joined.delta, joined.neighbors, joined.unit) == (3.0, 1e-6, "add-remove", "person")
    assert joined.left == made.left == (2.5, 1e-6)
    joined.charge(Fraction(5, 2), neighbors="add-remove", unit="person")
    assert made.left == (0.0, 1e-6)
    with pytest.raises(BudgetExceeded, match=r"spent \(3.0, 0.0\), left \(0.0, 1e-06\); nothing was charged"):
        made.charge(1e-9, neighbors="add-remove", unit="person")
    Budget.open(path, epsilon=3.0, neighbors="add-remove", composition="auto", pairs=(0, 0))
    for how in ({"epsilon": 4}, {"delta": 1e-5}, {"unit": "row"}, {"composition": "basic"}, {"pairs": (0.1, 0)}):
        with pytest.raises(ValueError, match="was made with"):
            Budget.open(path, **how)
    assert os.listdir(path.parent) == [path.name]


def test_a_file_that_is_not_there_is_not_made_by_joining(path):
    with pytest.raises(LedgerError, match="there is no such file"):
        Budget.open(path)
    with pytest.raises(ValueError, match="epsilon"):
        Budget.open(path, epsilon=-1)
    with pytest.raises(LedgerError, match="the budget could not be created"):
        Budget.open(path / "below", epsilon=1)
    assert not path.exists()


def test_processes_that_make_it_at_once_have_one_budget(path):
    def work(i):
        Budget.open(path, epsilon=1).charge(0.25)
        return 1

    assert _forked(work, 4) == 4
    assert Budget.open(path).left == (0.0, 0.0)


def test_eight_processes_charge_exactly_what_fits(path, many):
    budget, each = Budget.open(path, epsilon=1), many(25, 1250)
    fits = 8 * each // 2

    def work(i):
        charged = 0
        for _ in range(each):
            try:
                budget.charge(Fraction(1, fits))
            except BudgetExceeded:
                continue
            charged += 1
        return charged

    assert _forked(work, 8) == fits
    assert budget.left == (0.0, 0.0)
    assert len(Budget.open(path).charges) == fits


def test_threads_and_pickles_charge_one_file(path):
    budget = Budget.open(path, epsilon=1)
    copies = [budget, pickle.loads(pickle.dumps(budget)), Budget.open(path)]

    def attempt(i):
        try:
            copies[i % 3].charge(0.1)
        except BudgetExceeded:
            return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(attempt, range(15))) == 10
    assert budget.spent == (1.0, 0.0)


def test_kills_at_random_moments_lose_no_charge_that_a_draw_followed(path, many):
    budget, moments = Budget.open(path, epsilon=1000), random.Random(7)
    before = 0
    for _ in range(many(12, 200)):
        read, write = os.pipe()
        pid = fork()
        if not pid:
            try:
                while True:
                    budget.charge(Fraction(1, 1024))
                    os.write(write, b"d")  # a draw
            finally:
                os._exit(1)
        os.close(write)
        draws = len(os.read(read, 1))
        time.sleep(moments.uniform(0.0, 0.2))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        with os.fdopen(read, "rb") as pipe:
            draws += len(pipe.read())
        whole = Budget.open(path)  # whose sums are looked at
        after = len(whole.charges)
        assert draws <= after - before <= draws + 1
        assert whole.spent[0] == after / 1024
        before = after
    assert before > many(3, 100)


# ---- what is refused -------------------------------------------------------------------------------------------------


def _bytes_after(path, budget=None):
    (budget or Budget.open(path, epsilon=1, delta=1e-5)).charge(0.25)
    return path.read_bytes()


def test_a_file_cut_short_is_refused_wherever_it_is_cut(path):
    content = _bytes_after(path)
    for size in (0, 1, 50, 100, 4095, 4096, len(content) // 2, len(content) - 4096, len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(LedgerError, match=r"cut short|damaged"):
            Budget.open(path)
    path.write_bytes(content)
    Budget.open(path)


def test_a_file_that_is_cut_short_while_it_is_open_is_refused(path):
    budget = Budget.open(path, epsilon=1)
    content = _bytes_after(path, budget)
    for size in (0, 100, 4096, len(content) - 4096):
        path.write_bytes(content[:size])
        with pytest.raises(LedgerError):
            budget.charge(0.25)
    path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(LedgerError, match="damaged"):
        budget.charge(0.25)


@pytest.mark.parametrize("over", ['"0"', "{}", "null"])
def test_amounts_over_nothing_are_refused_as_damage(path, over):
    Budget.open(path, epsilon=3.0, delta=1e-5).charge(0.5)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE budget SET first = replace(first, '\"100000\"', ?)", (over,))
    db.close()
    with pytest.raises(LedgerError, match="it is damaged: "):
        Budget.open(path)


def test_charges_beyond_the_budget_are_refused_as_damage(path):
    Budget.open(path, epsilon=3.0).charge(2.5)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE charge SET epsilon = '4'")
    db.close()
    with pytest.raises(LedgerError, match="it is damaged: a charge did not add what it costs"):
        Budget.open(path)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE charge SET epsilon = '5/2'")
        for name in ("book", "first"):
            book = json.loads(db.execute(f"SELECT {name} FROM budget").fetchone()[0])
            db.execute(f"UPDATE budget SET {name} = ?", (json.dumps(book | {"total": ["2", "0", "1"]}),))
    db.close()
    with pytest.raises(LedgerError, match="it is damaged: its charges exceed its budget"):
        Budget.open(path)


def test_a_newer_version_and_changed_sums_are_refused(path):
    budget = Budget.open(path, epsilon=1)
    budget.charge(0.5)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 3")
    for attempt in (lambda: Budget.open(path), lambda: budget.charge(0.1)):
        with pytest.raises(LedgerError, match="version 3, this dpfast reads up to 2: install a newer one"):
            attempt()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 2")
        db.execute("UPDATE charge SET epsilon = '1/4'")
    with pytest.raises(LedgerError, match="a charge did not add what it costs"):
        Budget.open(path)
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM charge")
    with pytest.raises(LedgerError, match="its sums are not those of its charges"):
        Budget.open(path)
    db.close()


def test_a_read_only_file_tells_and_is_not_charged(path, rng):
    budget = Budget.open(path, epsilon=1)
    path.chmod(0o444)
    before = rng.bit_generator.state
    model = dpfast.FiniteClassLearner(0.5, hypotheses="features", budget=Budget.open(path), random_state=rng)
    with pytest.raises(LedgerError, match="read-only; nothing was charged"):
        model.fit(np.eye(4, dtype=bool), [0, 1, 0, 1])
    assert rng.bit_generator.state == before
    assert not hasattr(model, "privacy_")
    assert budget.spent == (0.0, 0.0)


def test_a_full_disk_is_refused_and_nothing_charged(path, monkeypatch):
    budget = Budget.open(path, epsilon=1)
    connect = ledgers._connect

    def full(path, mode):
        db = connect(path, mode)
        db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
        return db

    monkeypatch.setattr(ledgers, "_connect", full)

    def fill():
        while True:
            budget.charge(Fraction(1, 1000), what={"model": "M" * 500})
            charged.append(1)

    charged = []
    with pytest.raises(LedgerError, match="disk is full; nothing may be drawn"):
        fill()
    monkeypatch.undo()
    assert len(Budget.open(path).charges) == len(charged)
    budget.charge(0.1)


def test_a_file_that_may_not_grow_is_refused_and_nothing_charged(path):
    budget = Budget.open(path, epsilon=1)
    budget.charge(0.25)

    def work(i):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        try:
            budget.charge(0.25)
        except LedgerError:
            return 1
        return 0

    assert _forked(work, 1) == 1
    assert Budget.open(path).spent == (0.25, 0.0)


def test_a_charge_that_fails_half_way_is_taken_back(path, monkeypatch):
    budget = Budget.open(path, epsilon=1)
    monkeypatch.setattr(ledgers, "_now", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        budget.charge(0.5)
    monkeypatch.undo()
    assert Budget.open(path).spent == (0.0, 0.0)


# ---- copies ----------------------------------------------------------------------------------------------------------


def test_a_copy_is_refused_and_a_move_is_noted(path):
    budget = Budget.open(path, epsilon=1)
    budget.charge(0.25)
    copy = path.with_name("copy.budget")
    shutil.copy(path, copy)
    with pytest.raises(LedgerError, match=r"copy of a budget.*moved=True"):
        Budget.open(copy).charge(0.1)
    assert Budget.open(copy).spent == (0.25, 0.0)
    renamed = path.rename(path.with_name("renamed.budget"))
    Budget.open(renamed).charge(0.25)
    with pytest.raises(LedgerError, match="no such file"):
        budget.charge(0.1)
    renamed.unlink()
    moved = Budget.open(copy, moved=True)
    moved.charge(0.5)
    assert moved.left == (0.25, 0.0)
    assert [note["model"] for note in Budget.open(copy).notes()] == [None, "(the file was moved)", None]


def test_an_earlier_content_is_refused_by_whoever_has_seen_more(path):
    budget = Budget.open(path, epsilon=1)
    content = _bytes_after(path, budget)
    budget.charge(0.5)
    path.write_bytes(content)
    with pytest.raises(LedgerError, match="holds 1 charges and had 2"):
        budget.charge(0.1)


def test_a_backup_in_the_place_of_the_file_is_refused(path):
    budget = Budget.open(path, epsilon=1)
    backup = path.with_name("backup")
    shutil.copy(path, backup)
    budget.charge(0.5)
    backup.rename(path)
    with pytest.raises(LedgerError, match="restored from one"):
        Budget.open(path).charge(0.1)


def test_a_second_link_is_refused(path):
    budget = Budget.open(path, epsilon=1)
    os.link(path, path.with_name("other"))
    with pytest.raises(LedgerError, match="2 links"):
        budget.charge(0.1)


# ---- what is kept ----------------------------------------------------------------------------------------------------


def test_a_fit_is_noted_with_its_parameters_and_a_keyed_digest_of_its_columns(path, tmp_path):
    X, y = np.eye(6, dtype=bool).repeat(20, axis=0), np.arange(120) % 2
    other = Budget.open(tmp_path / "other.budget", epsilon=3, delta=1e-6)
    budget = Budget.open(path, epsilon=3, delta=1e-6)
    for taker in (budget, budget, other):
        dpfast.HalfspaceClassifier(n_rounds=5, budget=taker, random_state=0).fit(X, y)
    dpfast.HalfspaceClassifier(n_rounds=5, budget=budget, random_state=0).fit(X[:, :5], y)
    one, two, fewer = budget.notes()
    assert (one["model"], one["epsilon"], one["delta"], one["process"]) == (
        "HalfspaceClassifier",
        1.0,
        1e-6,
        os.getpid(),
    )
    assert one["parameters"]["n_rounds"] == 5
    assert one["schema"] == two["schema"] != fewer["schema"]
    assert one["schema"] != other.notes()[0]["schema"]
    assert budget.composition == "gaussian"
    assert Budget.open(path).spent[0] == pytest.approx(
        gaussian_epsilon(3**-0.5, 1e-6, sensitivity=1 / gaussian_sigma(1, 1e-6))
    )


def test_curves_and_parts_are_kept_exactly(path):
    budget = Budget.open(path, epsilon=2, delta=1e-6, composition="renyi", pairs=(0.5, 1e-7))
    budget.part("north").charge(1, 1e-6, cost=[Cost("gaussian", 0.2)])
    budget.part("south").charge(1, 1e-6, cost=[Cost("range", 0.1, times=7)])
    budget.charge(0.5, 1e-7)
    joined = Budget.open(path)
    assert joined.part("north").spent == budget.part("north").spent
    assert joined.part("north").left < joined.part("south").left
    assert joined.left == joined.part("north").left


def test_a_backup_under_the_inode_of_the_file_is_refused(path):
    budget = Budget.open(path, epsilon=1)
    if ledgers._birth_of(path) is None:
        pytest.skip("this file system does not keep when a file was born")
    backup = path.with_name("backup")
    shutil.copy(path, backup)
    budget.charge(0.5)
    for _ in range(20):  # until the file system uses the number of the deleted file again
        number = path.stat().st_ino
        path.unlink()
        shutil.copy(backup, path)
        with pytest.raises(LedgerError, match="restored from one"):
            Budget.open(path).charge(0.1)
        if path.stat().st_ino == number:
            break


def test_a_charge_by_another_while_a_ledger_is_opened_is_no_damage(path, monkeypatch):
    budget = Budget.open(path, epsilon=1)
    from_dict, opened = ledgers.Book.from_dict, []

    def meanwhile(state):
        if not opened:
            opened.append(True)
            budget.charge(0.25)
        return from_dict(state)

    monkeypatch.setattr(ledgers.Book, "from_dict", meanwhile)
    assert Budget.open(path).spent == (0.25, 0)
    assert opened


def test_a_charge_by_another_thread_while_the_file_is_read_is_no_older_content(path):
    ledger = Budget.open(path, epsilon=1, delta=1e-6)

    class Slow:  # another thread charges between what this one reads and what it concludes
        def __init__(self, db):
            self.db = db

        def execute(self, query):
            self.found = self.db.execute(query).fetchone()
            if "charges" in query:
                ledger.charge(0.01)
            return self

        def fetchone(self):
            return self.found

    with ledger._reading() as db:
        ledger._look(Slow(db))
    assert len(ledger.charges) == 1


def test_a_ledger_whose_filter_is_unknown_is_damaged(path):
    ledger = Budget.open(path, epsilon=1, delta=1e-6)
    with closing(sqlite3.connect(path)) as db:
        db.execute("""UPDATE budget SET book = replace(book, '"auto"', '"odd"')""")
        db.commit()
    with pytest.raises(LedgerError, match=r"it is damaged: .*odd"):
        ledger.charge(0.1)
    with pytest.raises(LedgerError, match="it is damaged"):
        Budget.open(path)


def test_a_fork_waits_until_no_thread_has_a_ledger_open(path):
    ledger, stop = Budget.open(path, epsilon=1e6), threading.Event()

    def charge():
        while not stop.is_set():
            ledger.charge(0.5)

    def child():
        signal.alarm(50)
        Budget.open(path).charge(0.25)

    threads = [threading.Thread(target=charge) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        assert [in_a_child(child) for _ in range(10)] == ["none"] * 10
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert sum(epsilon == 0.25 for epsilon, _ in Budget.open(path).charges) == 10


# ---- other processors ------------------------------------------------------------------------------------------------


_CHARGES_OF = {
    "gaussian": [
        (0.4, 1e-7, [Cost("gaussian", 0.11)]),
        (0.3, 1e-7, [Cost("range", 0.2, 3)]),
        (0.1, 0, [Cost("pure", 0.1)]),
    ],
    "renyi": [(0.4, 1e-7, [Cost("zcdp", 0.01)]), (0.3, 1e-7, [Cost("range", 0.2, 3)]), (0.1, 0, [Cost("pure", 0.1)])],
    "auto": [
        (0.1, 0, [Cost("pure", 0.1)]),
        (0.4, 1e-7, [Cost("gaussian", 0.11)]),
        (0.3, 1e-7, [Cost("range", 0.2, 3)]),
    ],
}


def _charge_all(budget, composition):
    for epsilon, delta, cost in _CHARGES_OF[composition]:
        budget.charge(epsilon, delta, cost=cost)


@pytest.fixture
def other_processor(monkeypatch):
    """Return a function that moves what libm computes by some last places, and the best order by more."""
    square, divergence, order = Cost.gaussian.fget, Cost.renyi, Filter._best_order

    def move(by):
        monkeypatch.setattr(Cost, "gaussian", property(lambda self: square(self) * (1 + by)))
        monkeypatch.setattr(Cost, "renyi", lambda self, b: divergence(self, b) * (1 + by))
        monkeypatch.setattr(Filter, "_best_order", lambda self: order(self) * (1 + 1e6 * by))
        monkeypatch.setattr(Filter, "_bound", lambda self, b, bound=Filter._bound: bound(self, b) * (1 - by))

    return move


@pytest.mark.parametrize("composition", _CHARGES_OF)
@pytest.mark.parametrize("by", [-1e-14, 1e-14])
def test_a_budget_of_another_processor_is_read_as_it_is_and_charged(path, composition, by, other_processor):
    kept = Budget(3, 1e-6, composition=composition)
    for budget in (Budget.open(path, 3, 1e-6, composition=composition), kept):
        _charge_all(budget, composition)
    book = json.loads(json.dumps(kept.to_dict()))
    whole = Budget.open(path)._book
    other_processor(by)
    again = Budget.open(path)
    assert (again._book.whole, again._book.filter.bounds) == (whole.whole, whole.filter.bounds)
    assert Budget.from_dict(book)._book.whole == kept._book.whole
    _charge_all(again, composition)
    other_processor(-3 * by)
    assert len(Budget.open(path).charges) == 6


@pytest.mark.parametrize("composition", ["gaussian", "renyi"])
def test_a_budget_spent_to_its_last_unit_opens_on_another_processor(path, composition, other_processor):
    Budget.open(path, 3, 1e-6, composition=composition)
    most = Budget.open(path)._book.filter.bounds
    size = most.curve / UNIT * (1 - 1e-14)
    cost = Cost("gaussian", math.sqrt(size)) if composition == "gaussian" else Cost("zcdp", size / (1 + most.order))
    Budget.open(path).charge(2.9, 1e-6, cost=[cost])
    book = json.loads(json.dumps(Budget(3, 1e-6, composition=composition).to_dict()))
    assert Budget.from_dict(book)._book.filter.bounds == most
    other_processor(1e-13)
    again = Budget.open(path)
    with pytest.raises(BudgetExceeded):
        again.charge(0.1, 1e-7, cost=[Cost("gaussian" if composition == "gaussian" else "zcdp", 1e-3)])


def test_a_budget_whose_stored_bounds_or_sums_are_moved_is_damaged(path):
    Budget.open(path, 3, 1e-6, composition="renyi")
    _charge_all(Budget.open(path), "renyi")
    content = path.read_bytes()
    with closing(sqlite3.connect(path)) as db:
        kept, first = (json.loads(db.execute(f"SELECT {name} FROM budget").fetchone()[0]) for name in ("book", "first"))
    order, curve, apart = kept["bounds"]
    for wrong in ([order, str(int(curve) * 2), apart], [order, curve, str(int(apart) * 2 + 1)], ["nan", curve, apart],
                  [(float.fromhex(order) * 4).hex(), curve, apart]):  # fmt: skip
        with closing(sqlite3.connect(path)) as db:
            for name, book in (("book", kept), ("first", first)):
                db.execute(f"UPDATE budget SET {name} = ?", (json.dumps(book | {"bounds": wrong}),))
            db.commit()
        with pytest.raises(LedgerError, match="it is damaged"):
            Budget.open(path)
        path.write_bytes(content)
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE budget SET book = ?", (json.dumps(kept | {"bounds": [order, str(int(curve) - 1), apart]}),))
        db.commit()
    with pytest.raises(LedgerError, match="its filter is not that of its charges"):
        Budget.open(path)


def test_a_charge_that_is_said_to_have_added_less_than_it_costs_is_damage(path):
    _charge_all(Budget.open(path, 3, 1e-6, composition="gaussian"), "gaussian")
    with closing(sqlite3.connect(path)) as db:
        book = json.loads(db.execute("SELECT book FROM budget").fetchone()[0])
        sums = json.loads(db.execute("SELECT sums FROM charge WHERE number = 2").fetchone()[0])
        for each in (sums, book["whole"]):
            each[3] = str(int(each[3]) - 10**28)
        db.execute("UPDATE budget SET book = ?", (json.dumps(book),))
        db.execute("UPDATE charge SET sums = ? WHERE number = 2", (json.dumps(sums),))
        db.commit()
    with pytest.raises(LedgerError, match="a charge did not add what it costs"):
        Budget.open(path)


def test_a_file_of_version_1_is_read_and_becomes_version_2_when_it_is_charged(path):
    for composition in _CHARGES_OF:
        path.unlink(missing_ok=True)
        _charge_all(Budget.open(path, 3, 1e-6, composition=composition), composition)
        with closing(sqlite3.connect(path)) as db:
            for name in ("book", "first"):
                book = json.loads(db.execute(f"SELECT {name} FROM budget").fetchone()[0])
                del book["bounds"]
                db.execute(f"UPDATE budget SET {name} = ?", (json.dumps(book),))
            db.execute("ALTER TABLE charge DROP COLUMN sums")
            db.execute("PRAGMA user_version = 1")
            db.commit()
        old = Budget.open(path)
        spent = old.spent
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA user_version").fetchone() == (1,)
        old.charge(0.01, cost=[Cost("pure", 0.01)])
        again = Budget.open(path)
        assert len(again.charges) == 4
        assert again.spent >= spent
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA user_version").fetchone() == (2,)
            assert [row[0] is None for row in db.execute("SELECT sums FROM charge ORDER BY number")] == [True] * 3 + [
                False
            ]


def test_a_ledger_of_lists_is_read_as_it_was_charged(path):
    ledger = Budget.open(path, 4, 1e-6)
    cover = Cost("cover", 0.135, up=0.135, rounds=10)
    for _ in range(3):
        ledger.charge(1, 1e-6, cost=[cover])
    assert Budget.open(path).costs == (cover,) * 3
    assert 1 < Budget.open(path).spent[0] == ledger.spent[0] < 2
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT cost FROM charge").fetchone()[0] == '[["cover",0.135,1,0.0,0.135,10]]'


def test_a_ledger_on_a_read_only_disk_is_not_created_and_says_so(tmp_path, monkeypatch):
    def refused(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(ledgers.sqlite3, "connect", refused)
    monkeypatch.setattr(Path, "unlink", refused)  # as such a disk does, even of a file that is not there
    with pytest.raises(ledgers.LedgerError, match=r"new.db: the budget could not be created: .*Read-only file system"):
        Budget.open(tmp_path / "new.db", 1.0, 1e-6)
