"""Stop a program at any of its points: the calls of functions of dpfast that follow a first one, the charge."""

import sys
from contextlib import contextmanager
from pathlib import Path

import dpfast

PACKAGE = str(Path(dpfast.__file__).parent)
# These deal with faults, and are not made to fail themselves.
HANDLERS = ("outputs.py", "report.py", "replacing.py")
# By a destructor, too, where Python ignores what is raised; and what a Ctrl-C waits for.
HANDLING = ("<lambda>", "close", "run_uninterrupted", "interrupts_wait")


class Points:
    """Calls since the charge; at number `at` the fault is run, once.

    Parameters
    ----------
    charge : (type, str)
        A class and the name of its method after whose first return calls are counted.
    at : int or None
        None counts only.
    fault : callable
        May raise, which is then raised where the call is made.
    """

    def __init__(self, charge, at=None, fault=None):
        self._charge, self._at, self._fault = charge, at, fault
        self.passed, self.charged = 0, False

    @contextmanager
    def watched(self, monkeypatch):
        kind, name = self._charge
        method = getattr(kind, name)

        def charging(*args, **options):
            result = method(*args, **options)
            if not self.charged:
                self.charged = True
                sys.setprofile(self._called)  # not before: it makes every call slow
            return result

        with monkeypatch.context() as patched:
            patched.setattr(kind, name, charging)
            try:
                yield self
            finally:
                sys.setprofile(None)

    def _called(self, frame, event, _):
        if event != "call" or not frame.f_code.co_filename.startswith(PACKAGE):
            return
        if frame.f_code.co_filename.endswith(HANDLERS) or frame.f_code.co_name in HANDLING:
            return
        if _settles(frame):
            return
        self.passed += 1
        if self.passed == self._at:
            sys.setprofile(None)
            self._fault()


def _settles(frame):
    """Whether what was released is being published, where Ctrl-C waits."""
    while frame is not None and frame.f_code.co_name != "_settle":
        frame = frame.f_back
    return frame is not None


def chosen(passed, rng, most):
    """Some of so many points: the first ones, the last ones, and others at random."""
    return sorted({1, 2, passed} | {int(k) for k in rng.integers(1, passed + 1, most)})
