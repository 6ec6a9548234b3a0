"""An engine of processes: each holds the states of some parts of a table, and answers questions about them."""

import copy
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from uuid import uuid4

from dpfast.parts import EngineLost, answer_part, make_state

TRIES = 3  # processes in which a part may end, one after another
_states = {}  # that a process holds, by the name of the step that made them and the number of their part


class Processes:
    """Parts of a table, in processes of this machine.

    `read` is a function at the top of a module: it returns the table of a source, the path of a file say.
    """

    def __init__(self, read, sources, processes=2):
        self._read, self._sources, self._steps = read, list(sources), ()
        self._processes = [_process() for _ in range(processes)]  # shared by all engines that come of this one

    def size(self):
        return len(self._sources)

    def make(self, f, *public, own=None):
        engine = copy.copy(self)
        engine._steps = (*self._steps, (uuid4().hex, f, public, own))
        for _ in engine.ask(_nothing, (), None):
            pass  # the state is made where it will be asked
        return engine

    def ask(self, f, public, own):
        tries = dict.fromkeys(range(self.size()), TRIES)
        waiting = {k: self._sent(k, f, public, own) for k in tries}
        while waiting:
            k, future = waiting.popitem()
            try:
                yield k, future.result()
            except BrokenProcessPool:  # another process makes the state again, from the source on
                tries[k] -= 1
                if not tries[k]:
                    raise EngineLost(f"{TRIES} processes ended while they held part {k} of the table") from None
                waiting[k] = self._sent(k, f, public, own)

    def close(self):
        for process in self._processes:
            with suppress(BrokenProcessPool, RuntimeError):  # if it is gone, with what it held
                process.submit(_forget, self._steps[-1][0]) if self._steps else process.shutdown()

    def _sent(self, k, f, public, own):
        place, steps = k % len(self._processes), [(*step, _of(k, given)) for *step, given in self._steps]
        told = (_asked, self._read, self._sources[k], steps, k, f, public, _of(k, own))
        try:
            return self._processes[place].submit(*told)
        except BrokenProcessPool:
            self._processes[place] = _process()
            return self._processes[place].submit(*told)


def _of(k, own):
    return None if own is None else {k: own[k]}  # no other part needs it


def _process():
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


# ---- in a process ----------------------------------------------------------------------------------------------------


def _asked(read, source, steps, k, f, public, own):
    known = max((i for i, step in enumerate(steps, 1) if (step[0], k) in _states), default=0)
    state = _states[steps[known - 1][0], k] if known else make_state(source, _pair, (read,))
    for _, make, told, mine in steps[known:]:
        state = make_state(state, make, told, k, mine)
    if steps:
        _states[steps[-1][0], k] = state
    return answer_part(state, k, f, public, own)


def _pair(source, read):
    return read(source), None  # the table, and no labels beside it


def _forget(name):
    for key in [key for key in _states if key[0] == name]:
        del _states[key]


def _nothing(state):
    return 0
