"""Replays: a learner is fitted on two neighbouring tables, and the second fit is given the answers of the first.

A proof of privacy says how far one row moves the exact numbers that noise is added to, given all that was released
before. Here the answers of a fit are recorded and given back to a fit on a neighbour, so that what was released before
is the same. The neighbour must then ask the same questions, print the same, raise the same and publish the same; and
what hiding the movements of all its questions costs must not be more than what was charged. The idea is that of
dp-recorder [1]_.

**What is compared.** A question (`dpfast.mechanisms.draws.Question`) that moves costs mu = (Euclidean norm of the
movement) / sigma where noise is Gaussian, epsilon = (absolute change) / scale for each entry where it is Laplace, and a
bounded range of (exponent times the range of the change of scores) where a candidate is drawn. All these costs compose
(`dpfast.accounting.claims.composition`), and the ratio is the movement that was seen over the movement in the same
proportions for which the claim would pay. A mechanism with a theorem of its own about several questions (greedy cover,
tests against a threshold, SparseSample, steps that see one random row) states how far each of its questions may move,
and what all of them cost; the ratio of such a question is how far it moved over how far it may. Where a word that only
one table has may be published with probability d, the other answers must keep to (delta - d) / (1 - d), by the theorem
of `dpfast.accounting.curves.opening`.

A ratio above 1 shows that the claim does not follow from its proof. A ratio of at most 1 shows nothing about other
tables.

.. [1] dp-recorder, arXiv 2602.17454.
"""

import contextlib
import copy
import io
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from dpfast.accounting import Budget, Cost
from dpfast.accounting.claims.composition import Composed
from dpfast.accounting.curves.searches import largest
from dpfast.audit.traces import Traces, global_values, process_values, reachable, watch
from dpfast.mechanisms.draws import Question, recording

_SLACK = 1e-6  # by which floats of accounting may differ
_PLAIN = (bool, int, float, str, bytes, list, tuple, dict, set, np.ndarray, np.generic)  # values that are compared
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
_CLOCK = re.compile(rf"{_TIME.pattern}|\d+:\d\d:\d\d|-:--:--|[\d,]+ rows/s")


@dataclass(frozen=True)
class Replay:
    """Result of `replay`.

    Attributes
    ----------
    epsilon, delta : float
        The claim.
    ratio : float
        The largest ratio of a movement that was seen to the movement that was paid for.
    question : str
        The question with that ratio, or, where costs add up, the one with the largest part in it.
    ratios : tuple of (str, float)
        All questions in order. Where costs add up, the ratio of a question is its part: the squares of the parts add up
        to the square of the ratio of all of them together.
    differences : tuple of str
        What else the two fits differ in.
    refusal : str
        The error with which both fits were refused; empty if they were not.
    planned : float
        The largest ratio of the movement of a release to the one that the plan of a learner states for it; 0 if no
        release of a plan moved. Above 1 a premise of the claim's proof is false, even where the claim pays for more.
    """

    epsilon: float
    delta: float
    ratio: float
    question: str
    ratios: tuple[tuple[str, float], ...]
    differences: tuple[str, ...]
    refusal: str = ""
    planned: float = 0.0

    @property
    def holds(self) -> bool:
        """Return whether the claim withstood the replay: no differences, and ratios of at most 1 up to rounding."""
        return not self.differences and max(self.ratio, self.planned) <= 1 + _SLACK

    def __str__(self) -> str:
        same = f"both fits were refused: {self.refusal}" if self.refusal else "nothing else differs"
        differences = "; ".join(self.differences) or same
        if self.planned > 1 + _SLACK:
            differences = f"a release moved by {self.planned:.3g} of what its plan states; {differences}"
        return (
            f"claimed epsilon {self.epsilon:g} at delta {self.delta:g}: {len(self.ratios)} questions moved by at most "
            f"{self.ratio:.3g} of what was paid for ({self.question or 'none moved'}); {differences}"
        )


def replay(
    estimator: Any, table: Any, neighbor: Any, *, fit: Callable[..., Any] | None = None, seed: int = 0, **keywords: Any
) -> Replay:
    """Fit a private learner on a table, and again on a neighbour with the answers of the first fit given back.

    Parameters
    ----------
    estimator : estimator
        It is copied, not fitted, and its budget is not charged. Its noise and draws must come from
        `dpfast.mechanisms`.
    table, neighbor : tuple, mapping or table
        Two tables that are neighbours in the relation of the claim: the arguments of `fit` as a tuple (X, y), as a
        mapping of their names, or X alone.
    fit : callable, optional
        Called as ``fit(estimator, *arguments)`` instead of the method `fit`.
    seed : int
        The seed of the first fit.
    **keywords
        Further arguments of `fit`, the same for both tables, such as `classes` or `units`.

    Returns
    -------
    Replay

    Raises
    ------
    ValueError
        If the claim is unknown, because the learner has neither `privacy_` nor the parameter `epsilon`.

    Notes
    -----
    Printed times, rates and blanks are not compared. It is a difference if only one fit is refused, even before it has
    charged or asked anything: the refusal reveals that the table is not as declared. It is none if both fits raise the
    same error after the charge, given the same answers: that nothing was discovered, say, follows from these.

    Under "add-remove", leave out the last row, or the last rows if these are all rows of one unit. A row that has a
    label in one of the tables only is the last one, too. Learners that assign or choose rows at random do so by the
    numbers of the rows, so the other rows are then treated as before.

    Examples
    --------
    >>> import numpy as np
    >>> import dpfast
    >>> X, y = np.eye(4)[[0, 1, 2, 3, 0, 1]], np.array([0, 1, 0, 1, 0, 1])
    >>> other = np.array([0, 1, 0, 1, 0, 0])
    >>> found = replay(dpfast.HalfspaceClassifier(n_rounds=3), (X, y), (X, other), classes=[0, 1])
    >>> found.holds, found.ratio > 0.5
    (True, True)
    """
    return replay_closely(estimator, table, [neighbor], keywords, fit=fit, seed=seed, closely=False)[0]


def replay_closely(
    estimator: Any,
    table: Any,
    neighbors: Sequence[Any],
    keywords: Mapping[str, Any] = MappingProxyType({}),
    *,
    fit: Callable[..., Any] | None = None,
    seed: int = 0,
    closely: bool = True,
    variables: bool = True,
    interrupted: int | None = None,
) -> list[Replay]:
    """Return a replay for each neighbor of one table, which is fitted once; other parameters are those of `replay`.

    If `closely`, replays also compare what the fits leave elsewhere: whatever is reachable from the estimator, log
    records, files, what other code than Python's writes to standard output and error, what all code of the process can
    read, and with `variables` those of its modules. For fits of tables in memory, which need none of these. A ratio of
    at most 1 is then given as 1. All fits are interrupted after the question with the number `interrupted`, if given.
    """
    tape: list[tuple[Question, str, Any, Any]] = []
    placed: list[dict[int, int]] = []

    def run_of(arguments, second):
        recorder = _Recorder(tape, placed, second, np.random.default_rng(seed), interrupted)
        model, watched = _copy_estimator(estimator, recorder)
        if not closely:
            return _run(model, arguments, keywords, fit, recorder, watched)
        with watch() as traces:
            run = _run(model, arguments, keywords, fit, recorder, watched)
        run.leave(traces, variables)
        return run

    first = run_of(table, False)
    epsilon, delta = _claim_of(first.model, estimator)
    replays = []
    for neighbor in neighbors:
        second = run_of(neighbor, True)
        ratio, question, ratios = _largest_ratio(tape, second.recorder.questions, epsilon, delta, exactly=not closely)
        planned = _largest_of_plan(tape, second.recorder)
        differences = tuple(_differences(first, second, epsilon, delta))
        refusal = first.raised if first.raised == second.raised else ""
        replays.append(Replay(epsilon, delta, ratio, question, ratios, differences, refusal, planned))
    return replays


# ---- a run -----------------------------------------------------------------------------------------------------------


class _Strayed(BaseException):
    """The second fit asks what the first did not, so there is no answer to give; no learner may catch this."""


class _Watched(Budget):
    """A budget of any size, which records the charges and when they were made."""

    def __init__(self, recorder: "_Recorder"):
        super().__init__(1.0)
        self._recorder, self.pair = recorder, [0.0, 0.0]

    def check(self, *arguments: Any, **more: Any) -> None:
        """Refuse nothing."""

    foresee = check

    def charge(self, epsilon: Any, delta: Any = 0.0, *, count: int = 1, **more: Any) -> None:
        """Record the charge."""
        self._recorder.note_charge()
        self.pair = [self.pair[0] + count * float(epsilon), self.pair[1] + count * float(delta)]

    def as_pairs(self) -> Budget:
        return self


class _Recorder:
    """Records questions and answers, or gives the recorded answers back."""

    def __init__(self, tape, placed, given_back, rng, interrupted):
        self._tape, self._given_back, self.rng, self._fresh = tape, given_back, rng, _state(rng)
        self._placed, self._used = placed, iter(placed)  # the ranks of names in the first fit, call by call
        self.questions: list[Question] = []
        self.early: str | None = None
        self.has_charged, self.watches = False, False
        self.most: dict[int, float] = {}  # what questions cost at most, by the plan
        self.names: dict[int, str] = {}  # of the releases that questions are of
        self._next: tuple[str, float] | None = None
        self._interrupted = interrupted

    def plan(self, name, most):
        self._next = name, most

    def note_charge(self):
        if not self.has_charged and _state(self.rng) != self._fresh:
            self.early = self.early or "draws before it charges"
        self.has_charged = True

    def ranks(self, names, places):
        """Return the rank of each of the first `places` names: that of the first fit if it has one, else a free one."""
        names = names[:places]
        recorded = next(self._used, {}) if self._given_back else {}
        ranks = {name: recorded[name] for name in names if name in recorded}
        free = iter(sorted({*range(places)} - {*ranks.values()}))
        ranks = {name: ranks[name] if name in ranks else next(free) for name in names}
        if not self._given_back:
            self._placed.append(ranks)
        return [ranks[name] for name in names]

    def answer(self, question, draw, rng):
        question, name = question.with_own_copy(), _asker(question.mechanism)
        if self.watches and not self.has_charged:
            self.early = self.early or f"asks before it charges: {name}"
        k = len(self.questions)
        if self._next is not None:
            (self.names[k], self.most[k]), self._next = self._next, None
        if self._given_back:
            if k >= len(self._tape):
                raise _Strayed(f"question {k + 1} ({name}) is asked by the second fit alone")
            if (form := question.form()) != (own := self._tape[k][0].form()):
                raise _Strayed(
                    f"question {k + 1} ({name}) is {_text_of(own)} in the first fit, {_text_of(form)} in the second"
                )
            answer, after = copy.deepcopy(self._tape[k][2]), self._tape[k][3]
        else:
            with recording(None):
                answer = draw()
            after = _state(rng)
            self._tape.append((question, name, copy.deepcopy(answer), after))
        if rng is self.rng:
            rng.bit_generator.state = after
        self.questions.append(question)
        if self.interrupts:
            raise KeyboardInterrupt
        return answer

    @property
    def interrupts(self) -> bool:
        """Return whether the question was the last one before an interruption."""
        return len(self.questions) == self._interrupted


@dataclass
class _Run:
    model: Any
    recorder: _Recorder
    watched: _Watched | None
    raised: str = ""
    strayed: str = ""
    printed: dict[str, str] = field(default_factory=dict)
    elsewhere: dict[str, dict[str, Any]] = field(default_factory=dict)

    def leave(self, traces: Traces, variables: bool) -> None:
        """Record what the fit left elsewhere."""
        parameters = (
            (*self.model.get_params(deep=False), "random_state", "budget") if hasattr(self.model, "get_params") else ()
        )
        texts = {name: " ".join(_CLOCK.sub("", text).split()) for name, text in traces.texts.items()}
        self.elsewhere = {
            "what is written": texts | traces.files,
            "what the model refers to": reachable(self.model, leave_out=parameters),
            "a variable of its modules": global_values(self.model) if variables else {},
            "the state of the process": process_values(),
        }

    @property
    def late(self) -> bool:
        """Return whether something was charged or asked."""
        return bool(self.recorder.has_charged or self.recorder.questions)


def _run(model, arguments, keywords, fit, recorder, watched):
    run, out, err = _Run(model, recorder, watched), io.StringIO(), io.StringIO()
    recorder.watches = watched is not None
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(record=True) as notes,
    ):
        warnings.simplefilter("always")
        try:
            with recording(recorder):
                _fit(model, arguments, keywords, fit)
        except _Strayed as strayed:
            run.strayed = str(strayed)
        except KeyboardInterrupt:
            if not recorder.interrupts:
                raise
        except Exception as error:
            run.raised = f"{type(error).__name__}: {error}"
    warned = "".join(f"{each.category.__name__}: {each.message}\n" for each in notes)
    texts = {"standard output": out.getvalue(), "standard error": err.getvalue(), "warnings": warned}
    run.printed = {name: " ".join(_CLOCK.sub("", text).split()) for name, text in texts.items()}
    return run


def _fit(model, arguments, keywords, fit):
    call = model.fit if fit is None else lambda *each, **named: fit(model, *each, **named)
    if isinstance(arguments, tuple):
        call(*arguments, **keywords)
    elif isinstance(arguments, Mapping) and "X" in arguments:
        call(**arguments, **keywords)
    else:
        call(arguments, **keywords)


def _copy_estimator(estimator, recorder):
    """Return an estimator with the same parameters, the recorder's generator and a watched budget, and this budget."""
    parameters = dict(estimator.get_params(deep=False)) if hasattr(estimator, "get_params") else {}
    watched = _Watched(recorder) if "budget" in parameters else None
    replaced = {"budget": watched, "random_state": recorder.rng}
    parameters |= {name: value for name, value in replaced.items() if name in parameters}
    return (type(estimator)(**parameters) if parameters else copy.deepcopy(estimator)), watched


def _state(rng):
    """Return the state of a generator, to compare and restore it."""
    return copy.deepcopy(rng.bit_generator.state)


def _asker(mechanism):
    """Return the mechanism and the function that asked for it."""
    frame = sys._getframe(1)
    while frame and frame.f_globals.get("__name__", "").startswith(("dpfast.mechanisms", "dpfast.audit")):
        frame = frame.f_back
    if frame is None:
        return mechanism
    module = frame.f_globals.get("__name__", "").removeprefix("dpfast.")
    return f"{mechanism} in {module}.{frame.f_code.co_name}"


def _text_of(form):
    mechanism, *rest = form
    return f"{mechanism} {tuple(map(str, rest))}"


# ---- what is compared ------------------------------------------------------------------------------------------------


def _claim_of(model, estimator):
    claim = vars(model).get("privacy_") if hasattr(model, "__dict__") else None
    claim = claim if claim is not None else getattr(model, "privacy_", estimator)
    if not hasattr(claim, "epsilon"):
        raise ValueError(f"{type(estimator).__name__} has no claim: neither privacy_ after a fit nor parameter epsilon")
    return float(claim.epsilon), float(getattr(claim, "delta", 0.0))


def _largest_ratio(tape, questions, epsilon, delta, exactly):
    """Return the largest ratio, its question, and the ratios of all questions."""
    names = [f"{k + 1}: {name}" for k, (_, name, _, _) in enumerate(tape)]
    ratios, squares, moved, fixed, deltas = [0.0] * len(questions), {}, [], {}, 0.0
    for k, (question, (before, _, answer, _)) in enumerate(zip(questions, tape, strict=False)):
        costs = before.costs(question, answer)
        if not costs:
            continue
        deltas += question.delta
        claim = before.claim
        if claim is None:
            squares[k] = sum(cost.size**2 * cost.times for cost in costs)  # in proportion to the square of the change
            moved += costs
        else:
            ratios[k] = sum(cost.size for cost in costs) / claim.most
            fixed[id(claim)] = claim
    together = _ratio(moved, fixed.values(), epsilon, (delta - deltas) / (1 - deltas) if deltas < 1 else -1.0, exactly)
    whole = sum(squares.values())
    for k, square in squares.items():
        ratios[k] = together * math.sqrt(square / whole) if whole else together
    largest = max(range(len(ratios)), key=lambda k: ratios[k], default=None)
    ratio = max([together, *ratios])
    question = names[largest] if largest is not None and ratio > 0 else ""
    return ratio, question, tuple(zip(names, ratios, strict=False))


def _largest_of_plan(tape, recorder) -> float:
    """Return the largest ratio of the cost of a question to the one that its plan states."""
    worst = 0.0
    for k, (question, (before, _, answer, _)) in enumerate(zip(recorder.questions, tape, strict=False)):
        most = recorder.most.get(k, math.inf)
        cost = sum(each.size for each in before.costs(question, answer)) if most < math.inf else 0.0
        if cost:
            worst = max(worst, cost / most)
    return worst


def _ratio(moved: list[Cost], claims, epsilon: float, delta: float, exactly: bool) -> float:
    """Return the inverse of the largest factor by which the changes may grow within the claim."""
    fixed = [cost for claim in claims for cost in claim.cost]

    def delta_at(factor: float) -> float:
        sizes = [cost.size * factor for cost in moved]
        if math.inf in sizes:
            return math.inf
        grown = [Cost(cost.kind, size, cost.times, cost.delta) for cost, size in zip(moved, sizes, strict=True)]
        return _delta_of((*fixed, *grown), epsilon * (1 + _SLACK / 2))

    most = delta * (1 + _SLACK / 2)
    if delta < 0 or delta_at(0.0) > most:
        return math.inf
    if not moved:
        return 0.0
    if not exactly and delta_at(1.0) <= most:
        return 1.0
    factor = largest(delta_at, most)
    return 1 / factor if factor else math.inf


@lru_cache(1024)  # replays of one learner move its questions by the same few sizes
def _delta_of(costs: tuple[Cost, ...], epsilon: float) -> float:
    return Composed(costs).delta(epsilon)


def _differences(first: _Run, second: _Run, epsilon: float, delta: float) -> Iterator[str]:
    """Yield the differences of the two runs, in words."""
    both = ((first, "first"), (second, "second"))
    ends = f"the first fit {first.raised or 'is not'}, the second {second.raised or 'is not'}"
    for run, which in both:
        if run.recorder.early:
            yield f"the {which} fit {run.recorder.early}"
    if any(run.raised and not run.late for run, _ in both):
        if first.raised != second.raised:
            yield f"refused before the charge: {ends}"
        return
    if first.raised != second.raised:
        for run, which in both:
            if run.raised:
                yield f"the {which} fit is refused after it charged or asked: {run.raised}"
    if second.strayed:
        yield second.strayed
        return
    if first.raised != second.raised:
        yield f"refused: {ends}"
        return
    asks = [len(each.recorder.questions) for each in (first, second)]
    if asks[0] != asks[1]:
        yield f"the first fit asks {asks[0]} questions, the second {asks[1]}"
    for k, name in first.recorder.names.items():
        if (other := second.recorder.names.get(k)) != name:
            yield f"question {k + 1} is release {name!r} of the first fit, {other!r} of the second"
            break
    for name, text in first.printed.items():
        if text != second.printed[name]:
            yield f"{name}: {text!r} of the first fit, {second.printed[name]!r} of the second"
    for run, which in both:
        if run.watched is not None:
            charges = run.watched.pair
            if charges[0] < epsilon * (1 - _SLACK) or charges[1] < delta * (1 - _SLACK):
                yield f"the {which} fit claims ({epsilon:g}, {delta:g}) and charges ({charges[0]:g}, {charges[1]:g})"
    yield from unlike(collect_published(first.model), collect_published(second.model), "")
    for what, one in first.elsewhere.items():
        yield from _unlike_values(what, one, second.elsewhere[what])


def _unlike_values(what: str, one: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
    """Yield the first difference of two lists of values by names, and how many more there are."""
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    names = [name for name in names if _without_time(one.get(name)) != _without_time(other.get(name))]
    if names:
        more = f", as {len(names) - 1} more" if len(names) > 1 else ""
        yield f"{what} differs: {names[0]}{more} ({one.get(names[0])!r:.100} and {other.get(names[0])!r:.100})"


def _without_time(value: Any) -> Any:
    """Return a value without the time of day of a fit, which is that of its charge and depends on no row."""
    if isinstance(value, tuple):
        return tuple(map(_without_time, value))
    return _TIME.sub("", value) if isinstance(value, str) else value


def collect_published(model: Any) -> dict[str, Any]:
    """Return what a fitted model publishes: its fitted attributes, what a pickle holds besides, and its saved form."""
    attributes = {name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")}
    if hasattr(model, "get_params"):
        parameters = {*model.get_params(deep=False), "random_state", "budget"}
        state = {name: value for name, value in model.__getstate__().items() if name not in parameters | {*attributes}}
        attributes |= {name: value for name, value in state.items() if isinstance(value, _PLAIN)}
    if hasattr(model, "_saver"):
        with contextlib.suppress(Exception):
            attributes["saved model"] = model._saver.released()
    return attributes


def unlike(one: Any, other: Any, name: str) -> Iterator[str]:
    """Yield the differences of two published values, in words."""
    if type(one) is not type(other):
        yield f"{name} is a {type(one).__name__} of the first fit, a {type(other).__name__} of the second"
    elif isinstance(one, Mapping):
        if list(one) != list(other):
            yield f"{name or 'what is published'} has {list(one)} in the first fit, {list(other)} in the second"
        else:
            for key in one:
                yield from unlike(one[key], other[key], f"{name}.{key}" if name else str(key))
    elif isinstance(one, list | tuple):
        if len(one) != len(other):
            yield f"{name} has {len(one)} entries in the first fit, {len(other)} in the second"
        else:
            for k, (a, b) in enumerate(zip(one, other, strict=True)):
                yield from unlike(a, b, f"{name}[{k}]")
    elif isinstance(one, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape:
            yield f"{name} is {one.dtype} {one.shape} of the first fit, {other.dtype} {other.shape} of the second"
        elif one.dtype == object:
            yield from unlike(one.tolist(), other.tolist(), name)
        elif one.tobytes() != other.tobytes():
            yield f"{name} differs"
    elif hasattr(one, "get_params"):
        yield from unlike(collect_published(one), collect_published(other), name)
    elif isinstance(one, float) and math.isnan(one) and math.isnan(other):
        return
    elif not (one is other or one == other or _without_time(one) == _without_time(other)):
        yield f"{name} is {one!r} of the first fit, {other!r} of the second"
