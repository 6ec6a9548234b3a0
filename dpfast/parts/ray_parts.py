"""Parts in the actors of a Ray cluster.

An actor holds the states of some parts, and answers one call per round. It receives its parts as references to objects
of Ray when it starts. An actor that is killed is restarted, and recomputes the states that it is asked for.
"""

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import uuid4

from dpfast.parts.engine import Answer, EngineLost, answer_part, make_state

RETRIES = 4  # of a call, and restarts of an actor


class RayBackend:
    """Engine on actors of a Ray cluster, which end when neither it nor an engine derived from it is referenced."""

    def __init__(self, tables: Sequence[Any], actors: int | None = None):
        import ray

        slots = actors or int(ray.cluster_resources().get("CPU", 1))
        slots = max(1, min(slots, len(tables)))
        remote = ray.remote(max_restarts=RETRIES, max_task_retries=RETRIES)(_Holder)
        self._tables = list(tables)  # read again by an actor that is restarted
        self._numbers = [list(range(first, len(tables), slots)) for first in range(slots)]
        self._actors: list[Any] = [remote.remote({k: [tables[k]] for k in numbers}) for numbers in self._numbers]
        self._steps: tuple[Any, ...] = ()
        self.marks: list[bytes] = []  # of the parts, once they were read

    def size(self) -> int:
        return len(self._tables)

    def make(self, f: Callable, *public: Any, own: Sequence | None = None) -> "RayBackend":
        import ray

        engine = copy.copy(self)
        stored = None if own is None else [ray.put(each) for each in own]
        engine._steps = (*self._steps, (uuid4().hex, f, public, stored))
        states = dict(engine.ask(_nothing, (), None))  # the states are computed where they are needed
        engine.marks = [states[k].fingerprint for k in range(self.size())]
        return engine

    def ask(self, f: Callable, public: Sequence, own: Sequence | None) -> Iterable[tuple[int, Answer]]:
        import ray

        question = ray.put((self._steps, f, tuple(public)))  # once, for all actors
        references = [
            actor.ask.remote(question, None if own is None else {k: own[k] for k in numbers})
            for actor, numbers in zip(self._actors, self._numbers, strict=True)
        ]
        try:
            for each in references:
                yield from ray.get(each)
        except ray.exceptions.RayError as error:
            raise EngineLost(f"actors of the Ray cluster are lost ({type(error).__name__})") from None

    def close(self) -> None:
        """Free the states of this engine; the actors end when none of their engines is referenced any more."""
        import ray

        if self._steps and ray.is_initialized():
            for actor in self._actors:
                actor.forget.remote(self._steps[-1][0])


def ray_backend(X: Any, columns: list[str] | None = None, actors: int | None = None) -> RayBackend:
    """Return the engine of tables, as `dpfast.engines.ray`; of a Dataset only `columns` are read."""
    if hasattr(X, "to_arrow_refs"):
        if columns is not None:
            there = {*X.schema().names}
            X = X.select_columns([name for name in columns if name in there])  # parts refuse missing columns
        X = X.to_arrow_refs()
    return RayBackend(X, actors)


class _Holder:
    """Actor that holds the states of some parts, by the name of the step that computed them and the part's number."""

    def __init__(self, tables):
        self._tables, self._states = tables, {}

    def ask(self, question, own):
        steps, f, public = question
        return [(k, answer_part(self._state(k, steps), k, f, public, own)) for k in self._tables]

    def forget(self, name):
        for key in [key for key in self._states if key[0] == name]:
            del self._states[key]

    def _state(self, k, steps):
        import ray

        latest = max((i for i, step in enumerate(steps, 1) if (step[0], k) in self._states), default=0)
        state = self._states[steps[latest - 1][0], k] if latest else make_state(self._tables[k], _pair, ())
        for _, make, public, own in steps[latest:]:
            state = make_state(state, make, public, k, None if own is None else {k: ray.get(own[k])})
        if steps:
            self._states[steps[-1][0], k] = state
        return state


def _pair(table):
    import ray

    return ray.get(table[0]), None


def _nothing(state):
    return 0
