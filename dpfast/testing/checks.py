"""The checks of private learners: what the library promises, tried on small tables."""

import copy
import inspect
import pickle
import secrets
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import clone

import dpfast
from dpfast.accounting import Budget, BudgetExceeded
from dpfast.audit.replays import collect_published, replay_closely, unlike
from dpfast.base.parameters import unsaved
from dpfast.base.run import Run
from dpfast.mechanisms.draws import recording
from dpfast.parts import MemoryParts
from dpfast.parts.blocks import one_thread
from dpfast.testing.questions import find_sum_that_is_none
from dpfast.testing.tables import (
    MANY,
    MOST_ROWS,
    ROWS,
    SCHEMA,
    Case,
    bits,
    cases,
    frame,
    ladder,
    numbers,
    random_cases,
    tied,
    wide,
)

_RELATIONS = ("replace", "add-remove")
_SEED = 7
_BATCH = 3000  # rows that are predicted together
_EPSILONS = 1, 30, 1e-3  # times that of an estimator


def check_private_estimator(estimator: Any, *, thorough: bool = False, seed: int | None = None) -> "Checked":
    """Check that a private classifier keeps what dpfast promises, on small tables; an error says what it does not.

    Parameters
    ----------
    estimator : private classifier
        Not fitted. It is copied; its budget is not charged. Parameters that make it fast make the checks fast; a
        learner that goes round by round needs some 30 rounds, so that what goes wrong in late ones is seen.
    thorough : bool, default=False
        Whether to add replays on larger and random tables, which take minutes.
    seed : int, optional
        The seed of the random tables; by default a new one. Errors and the result name it.

    Returns
    -------
    Checked
        What was tried, and what such checks cannot see; it prints as text.

    Raises
    ------
    AssertionError
        With the name of the check, the table, and what was found.

    Notes
    -----
    The checks are

    - **replays**: fits on hostile neighbouring tables, under both relations, for rows and for persons, of two classes
      and three, of 4 columns and 40, with a schema and without one, with little noise and with much, with each
      parameter that is true or false both ways, and where a class has 0, 1, ... or all of the rows, get the same
      answers (`dpfast.audit.replay`): one row moves no release by more than its plan states and than was charged, and
      nothing else differs, in attributes, in whatever the estimator refers to, in the variables of its modules and of
      the process, in text, logs and files. A row may also lose its label, if the learner allows it. Noise that was
      forgotten, a row's value in an attribute, a sum whose sensitivity is larger than planned, and a number of rounds
      that depends on rows are found so;
    - **sums**: each answer of a table is the sum of the answers for its rows one by one, and that of 36,000 rows the
      sum of those for 400 parts;
    - **refusals**: a fit that is refused changes no attribute, draws nothing and charges nothing;
    - **interruptions**: a fit that is interrupted at any release keeps what it released, with its claim, and no round
      is lost; on a neighbour it is the same;
    - **files**: a saved model, a pickled one and a copy have the same attributes, parameters, predictions
      and scores, for two classes and three, with a schema and without, and a damaged file is refused;
    - **classes**: there is a score and a probability for each class, the same beside whatever other rows;
    - **sources**: an array, a frame, an Arrow table, a CSV file and parts give one model, and a sparse matrix does,
      given the same answers;
    - **names**: columns are those of the fit, in their order, parameters are those of the constructor, and a fit
      changes none;
    - **determinism**: a seed gives one model, for any number of threads.

    Passing them proves nothing: a proof of the sensitivity of each release remains the author's. A relation or a kind
    of table that an estimator refuses before the charge is left out; it is an error if none remains.

    Examples
    --------
    >>> from dpfast import NetHalfspaceClassifier
    >>> from dpfast.testing import check_private_estimator
    >>> checked = check_private_estimator(NetHalfspaceClassifier(n_components=2, net_radius=0.5))
    >>> print(str(checked)[:36])
    NetHalfspaceClassifier passed: names
    """
    if seed is None:
        seed = secrets.randbits(32)
    tried: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks: Any = [*CHECKS, partial(check_random_tables, seed=seed)] if thorough else CHECKS
        for check in checks:
            try:
                tried.append(check(estimator) or _name_of(check))
            except AssertionError:
                raise
            except Exception as error:
                raise AssertionError(
                    f"{_name_of(check)}: a fit or a prediction fails: {type(error).__name__}: {error}"
                ) from error
    return Checked(type(estimator).__name__, tuple(tried), seed if thorough else None)


@dataclass(frozen=True)
class Checked:
    """What `check_private_estimator` tried without finding a fault, and what it cannot see; it prints as text.

    Attributes
    ----------
    name : str
        The name of the class of the estimator.
    tried : tuple of str
    seed : int or None
        The seed of random tables, if there were some.
    """

    name: str
    tried: tuple[str, ...]
    seed: int | None = None

    def __repr__(self) -> str:
        text = f"{self.name} passed: {'; '.join(self.tried)}."
        if self.seed is None:
            text += " Larger and random tables were not tried: thorough=True does."
        return f"{text}\n{_UNSEEN}"


_UNSEEN = (
    "It cannot see: a row that moves a release too far in tables that are unlike those tried, such as one with a rare "
    "value or beyond their number of rows; how long a fit takes; randomness that is not from dpfast.mechanisms or the "
    "run; and whether the plan's numbers are right for every table, which your proof must say."
)


def _name_of(check: Any) -> str:
    return getattr(check, "func", check).__name__.removeprefix("check_").replace("_", " ")


def check_replays(estimator: Any) -> str:
    """Check the answers of fits on neighbouring tables."""
    several = estimator.__sklearn_tags__().classifier_tags.multi_class
    withstood = 0
    for relation in _RELATIONS:
        if relation == estimator.neighbors:  # columns, counts and flags matter alike under both
            for case in (wide(relation), *ladder(relation), *_with_other_flags(estimator, relation)):
                withstood += _replays(estimator, relation, case, 1)
        unlabelled = _leaves_labels_out(estimator)
        units = "units" in inspect.signature(estimator.fit).parameters and (unlabelled or relation == "add-remove")
        tables = cases(relation, units, unlabelled, hasattr(estimator, "schema"), several)
        for k, case in enumerate(tables):
            withstood += _replays(estimator, relation, case, k)
    if not withstood:
        raise AssertionError("replay: every table was refused")
    return f"replays of {withstood} pairs of neighbouring tables"


def _with_other_flags(estimator: Any, relation: str) -> Iterator[Case]:
    """Yield a pair of tables for each parameter that is true or false, which is then the other; `verbose` is one."""
    case = next(cases(relation, units=False, unlabelled=False, schema=False))
    for name, value in estimator.get_params(deep=False).items():
        if isinstance(value, bool):
            yield case._replace(what=f"{case.what}, {name}={not value}", parameters={name: not value})


def _replays(estimator: Any, relation: str, case: Case, k: int = 0) -> int:
    """Return how many replays of a case withstood, of which one in three has several epsilons.

    With little noise the releases follow the rows; with much of it they are large, and so is what follows from them.
    """
    withstood = 0
    for times in _EPSILONS if len(case.neighbors) > 1 or k % 3 == 0 else _EPSILONS[:1]:
        epsilon = {} if times == 1 else {"epsilon": times * estimator.epsilon}
        copied = _with(estimator, neighbors=relation, **case.parameters, **epsilon)
        others = case.neighbors if times == 1 else [case.neighbors[k % len(case.neighbors)]]
        for replay in replay_closely(copied, case.table, others, seed=_SEED, variables=k % 3 == 0 and times == 1):
            if replay.refusal and not replay.differences:
                continue
            if not replay.holds:
                raise AssertionError(f"replay ({relation}, {case.what}): {replay}")
            withstood += 1
    return withstood


def check_random_tables(estimator: Any, seed: int) -> str:
    """Check replays on larger and random tables."""
    several = estimator.__sklearn_tags__().classifier_tags.multi_class
    withstood, rng = 0, np.random.default_rng(seed)
    for relation in _RELATIONS:
        for case in random_cases(relation, hasattr(estimator, "schema"), several, rng):
            try:
                withstood += _replays(estimator, relation, case)
            except AssertionError as error:
                raise AssertionError(f"{error} (thorough, seed={seed})") from error
    return f"replays of {withstood} pairs of random tables, up to {MOST_ROWS:,} rows, with seed {seed}"


def check_sums(estimator: Any) -> None:
    """Check that each answer is the sum of the answers for single rows."""
    irregular, y = numbers(2, d=37)
    tables = {"irregular numbers": (irregular, y), "rows alike": (np.tile(irregular[:1], (len(y), 1)), y)}
    tables["labels tied"] = tied(2, 1, 1)
    many = np.arange(MANY)
    tables["many rows"] = (bits()[0][many % ROWS], many * 16 // MANY // 15)
    for what, (X, y) in tables.items():
        fault = find_sum_that_is_none(lambda source: _fit(estimator, source), X, y, parts=min(len(y), 400))
        if fault:
            raise AssertionError(f"sums ({what}): {fault}")


def check_refusals(estimator: Any) -> None:
    """Check that a fit that is refused leaves everything as it was."""
    X, y = bits()
    model = _fit(estimator)
    wrong = X.copy()
    wrong[0, 0] = np.nan
    for what, arguments in {
        "NaN": ((wrong, y), {}),
        "labels that are not declared": ((X, y), {"classes": [5, 6]}),
        "one label less": ((X, y[:-1]), {}),
        "labels of one class": ((X, np.zeros(len(y), int)), {}),
        "weights": ((X, y), {"sample_weight": np.ones(len(y))}),
        "no rows": ((X[:0], y[:0]), {}),
    }.items():
        _check_refused(model, what, *arguments)
    for name, value in {"epsilon": -1.0, "neighbors": "nobody"}.items():
        before = getattr(model, name)
        _check_refused(model.set_params(**{name: value}), f"{name}={value!r}", (X, y), {})
        model.set_params(**{name: before})
    small = Budget(model.epsilon / 4, getattr(model, "delta", 0.0), neighbors=model.neighbors)
    _check_refused(model, "a budget that does not suffice", (X, y), {}, small)


def _check_refused(model, what, arguments, keywords, budget=None):
    budget = budget or Budget(1e6, 0.5, neighbors="replace" if model.neighbors == "nobody" else model.neighbors)
    rng, spent = np.random.default_rng(_SEED), budget.spent
    model.set_params(budget=budget, random_state=rng)
    state, before = copy.deepcopy(rng.bit_generator.state), pickle.dumps(collect_published(model))
    try:
        model.fit(*arguments, **keywords)
    except (ValueError, TypeError, BudgetExceeded):
        if pickle.dumps(collect_published(model)) != before:
            raise AssertionError(f"refusal ({what}): the fit was refused, and the fitted attributes changed") from None
        if rng.bit_generator.state != state:
            raise AssertionError(f"refusal ({what}): the fit was refused after it drew from random_state") from None
        if budget.spent != spent:
            raise AssertionError(f"refusal ({what}): the fit was refused after it charged the budget") from None
    else:
        if what != "NaN":  # a learner may read missing values
            raise AssertionError(f"refusal ({what}): the fit was not refused")
    finally:
        model.set_params(budget=None, random_state=None)


class _Interrupter:
    """Interrupts a fit at one of its questions, before or after the answer is drawn."""

    def __init__(self, at: int, late: bool):
        self.n_questions, self._at, self._late = 0, at, late

    def answer(self, question: Any, draw: Callable[[], Any], rng: np.random.Generator) -> Any:
        self.n_questions += 1
        if self.n_questions == self._at and not self._late:
            raise KeyboardInterrupt
        answer = draw()
        if self.n_questions == self._at:
            raise KeyboardInterrupt
        return answer


def check_interruptions(estimator: Any) -> None:
    """Check that a fit that is interrupted at any release is a model that says what was paid for, and no more."""
    X, y = bits()
    whole = _Interrupter(0, False)
    with recording(whole), _watched_rounds():
        model = _with(estimator, random_state=_SEED).fit(X, y, classes=[0, 1])
    several = sum(event.used for event in model.privacy_.events) > 1
    steps = range(1, whole.n_questions + 1)
    for at in steps if len(steps) <= 16 else [*steps[:8], *steps[-8:]]:
        for late in (False, True):
            budget = Budget(1e6, 0.5, neighbors=estimator.neighbors)
            model, interrupter = _with(estimator, random_state=_SEED, budget=budget), _Interrupter(at, late)
            what = f"interruption ({'after' if late else 'before'} answer {at} of {whole.n_questions})"
            try:
                with recording(interrupter):
                    model.fit(X, y, classes=[0, 1])
            except KeyboardInterrupt:
                pass
            except BaseException as error:
                raise AssertionError(f"{what}: it was replaced by {error!r}") from error
            else:
                raise AssertionError(f"{what}: it was lost, and the fit went on")
            _check_kept(model, budget, what, several and at == whole.n_questions)
    case = next(cases(estimator.neighbors, units=False, unlabelled=False, schema=False))
    for at in steps if len(steps) <= 6 else [*steps[:4], *steps[-2:]]:
        for replay in replay_closely(estimator, case.table, case.neighbors[:1], seed=_SEED, interrupted=at):
            if not replay.holds:
                raise AssertionError(f"interruption (after answer {at} of {whole.n_questions}): {replay}")


@contextmanager
def _watched_rounds():
    """Find a learner that has made a round, and would lose it if it were interrupted."""
    before = Run.rounds

    def rounds(run, name, each=1):
        for k in before(run, name, each):
            if k and run.model is None:
                raise AssertionError("interruption: a round would be lost: learn() must set run.model after each")
            yield k

    Run.rounds = rounds
    try:
        yield
    finally:
        Run.rounds = before


def _check_kept(model, budget, what, has_more):
    if budget.spent == (0.0, 0.0):
        raise AssertionError(f"{what}: an answer was drawn before the charge")
    if "privacy_" not in vars(model):
        raise AssertionError(f"{what}: the fit was charged, and the estimator has no privacy_")
    X, _ = bits()
    if not any(event.used for event in model.privacy_.events):
        if has_more and "model_" not in vars(model):
            raise AssertionError(
                f"{what}: what was released before is lost, although it was paid for: set run.model after a release, "
                "or call run.show"
            )
        return
    try:
        predicted = model.predict(X)
    except Exception as error:
        raise AssertionError(f"{what}: releases are claimed, and the model does not predict: {error!r}") from error
    if not np.array_equal(predicted, pickle.loads(pickle.dumps(model)).predict(X)):
        raise AssertionError(f"{what}: what was released does not survive a pickle")


def check_files(estimator: Any) -> None:
    """Check that a saved, a pickled and a copied model are the same model."""
    for table, X, model in _models(estimator):
        _check_files(f"files ({table})", X, model)


def _models(estimator):
    """Yield tables by their names, their rows and models: of two classes and three, with a schema and without."""
    X, y = bits()
    yield "bits", X, _fit(estimator)
    if estimator.__sklearn_tags__().classifier_tags.multi_class:
        model = _with(estimator, random_state=_SEED).fit(X, np.arange(len(y)) % 3, classes=[0, 1, 2])
        yield "three classes", X, model
    if "schema" in estimator.get_params():
        try:
            model = _fit(estimator, (frame(),), schema=SCHEMA)
        except ValueError:
            return  # it reads no codes
        yield "a frame with a schema", frame(), model
        X, y = frame().drop(columns="buys"), frame()["buys"]
        yield "a frame without a schema", X, _fit(estimator, (X, y))


def _check_files(table, X, model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        for what, again in {
            "the file": dpfast.load(path),
            "the pickle": pickle.loads(pickle.dumps(model)),
            "a copy": copy.deepcopy(model),
        }.items():
            _check_same(f"{table}: {what}", model, again)
            for method in ("predict", "decision_function", "predict_proba"):
                if hasattr(model, method) and not np.array_equal(getattr(model, method)(X), getattr(again, method)(X)):
                    raise AssertionError(f"{table}: {what} has another {method} than the model")
            for name in model.get_params().keys() - {*unsaved(model)}:
                one, other = (_comparable(getattr(each, name)) for each in (model, again))
                if one != other:
                    raise AssertionError(f"{table}: {what} has {name}={other!r}, and the model has {one!r}")
            if getattr(again, "random_state", None) is not None:
                raise AssertionError(f"{table}: {what} holds random_state, which reveals the noise")
        content = path.read_text()
        path.write_text(content.replace('"released"', '"Released"', 1))
        try:
            dpfast.load(path)
        except ValueError:
            return
        raise AssertionError(f"{table}: a damaged file was loaded")


def _comparable(value):
    """Return the value of a parameter as a file gives it back."""
    return np.asarray(value).tolist() if isinstance(value, tuple | np.ndarray | np.generic) else value


def check_classes(estimator: Any) -> None:
    """Check that a model has a score and a probability for each class."""
    for table, X, model in _models(estimator):
        n, k = len(X), len(model.classes_)
        for method, shape in {"decision_function": (n,) if k == 2 else (n, k), "predict_proba": (n, k)}.items():
            if hasattr(model, method) and (shape_here := np.shape(getattr(model, method)(X))) != shape:
                raise AssertionError(f"classes ({table}): {method} must have shape {shape}, got {shape_here}")
        if not {*model.predict(X).tolist()} <= {*model.classes_.tolist()}:
            raise AssertionError(f"classes ({table}): predict must give labels of the fit")
        for method in ("predict", "decision_function", "predict_proba"):
            if hasattr(model, method):
                answers, many = getattr(model, method)(X), np.arange(_BATCH) % n
                for places in (np.arange(1, n, 2), many):
                    if not np.array_equal(getattr(model, method)(X.take(places, axis=0)), answers[places]):
                        raise AssertionError(
                            f"classes ({table}): {method} gives a row another answer beside other rows"
                        )


def check_sources(estimator: Any) -> None:
    """Check that the kind of a table does not matter."""
    import scipy.sparse as sp

    X, y = bits()
    tables = {"float32": X.astype(np.float32), "int8": X.astype(np.int8), "lists": X.tolist()}
    model = _fit(estimator)
    for what, table in tables.items():
        _check_same(f"sources: an array and {what}", model, _fit(estimator, (table, y)))
    if estimator.__sklearn_tags__().input_tags.sparse:  # given the same answers, as its draws may take other words
        (same,) = replay_closely(estimator, (X, y), [(sp.csr_array(X), y)], {"classes": [0, 1]}, seed=_SEED)
        if same.ratio or same.planned or not same.holds:
            raise AssertionError(f"sources: an array and a sparse matrix: {same}")
    if "schema" not in estimator.get_params():
        return
    try:
        model = _fit(estimator, (frame(),), schema=SCHEMA)
    except ValueError:
        return  # it reads no codes
    with tempfile.TemporaryDirectory() as folder:
        for what, table in _sources(Path(folder)):
            try:
                other = _fit(estimator, (table,), schema=SCHEMA)
            except ValueError as error:
                if "takes no table in parts" in str(error):
                    continue
                raise AssertionError(f"sources: a frame is read, and {what} is refused: {error}") from error
            _check_same(f"sources: a frame and {what}", model, other)


def _sources(folder: Path) -> Iterator[tuple[str, Any]]:
    table = frame()
    yield "an Arrow table", pa.Table.from_pandas(table)
    yield "columns", {name: table[name].to_numpy() for name in table}
    table.to_csv(folder / "t.csv", index=False)
    yield "a CSV file", dpfast.FileParts(folder / "t.csv")
    yield "parts", MemoryParts([(table.iloc[a:b], None) for a, b in ((0, 5), (5, 6), (6, ROWS))])


def check_names(estimator: Any) -> None:
    """Check the names of columns and of parameters."""
    parameters = estimator.get_params()
    if clone(estimator).get_params().keys() != parameters.keys():
        raise AssertionError("names: a clone has other parameters")
    accepts = set(inspect.signature(type(estimator).__init__).parameters)
    if not set(parameters) <= accepts:
        raise AssertionError(f"names: {sorted(set(parameters) - accepts)} are no parameters of the constructor")
    X, y = bits()
    model = _with(estimator, random_state=_SEED)
    before = model.get_params()
    model.fit(X, y, classes=[0, 1])
    changed = sorted(name for name, value in model.get_params().items() if value is not before[name])
    if changed:
        raise AssertionError(f"names: a fit changed its parameters: {', '.join(changed)}")
    if model.n_features_in_ != X.shape[1] or model.classes_.tolist() != [0, 1]:
        raise AssertionError("names: n_features_in_ and classes_ must be those of the table")
    _check_refuses(model, X[:, :2], "names: rows with fewer columns than those of the fit")
    if "schema" not in parameters:
        return
    names = [f"c{j}" for j in range(X.shape[1])]
    import pandas as pd  # no dependency of dpfast

    table = pd.DataFrame(X, columns=names)
    model = _fit(estimator, (table, y))
    if list(model.feature_names_in_) != names:
        raise AssertionError(f"names: feature_names_in_ must be {names}, got {list(model.feature_names_in_)}")
    _check_refuses(model, table.rename(columns={"c0": "other"}), "names: a column with another name than in the fit")
    if "privacy_" not in vars(model) or str(model.privacy_.epsilon) not in str(model.privacy_):
        raise AssertionError("names: privacy_ must state epsilon")


def check_determinism(estimator: Any) -> None:
    """Check that a seed gives one model."""
    first, second = _fit(estimator), _fit(estimator)
    _check_same("determinism: two fits with one seed", first, second)
    with one_thread():
        _check_same("determinism: many threads and one", first, _fit(estimator))
    if not first.privacy_.reproducible:
        raise AssertionError("determinism: privacy_ must say that a seed was given")


CHECKS: tuple[Callable[[Any], str | None], ...] = (
    check_names,
    check_determinism,
    check_replays,
    check_sums,
    check_refusals,
    check_interruptions,
    check_files,
    check_classes,
    check_sources,
)


def _with(estimator, **parameters):
    """Return a copy with these parameters, of those that it has."""
    copied = clone(estimator)
    return copied.set_params(**{name: value for name, value in parameters.items() if name in copied.get_params()})


def _fit(estimator, arguments=None, **parameters):
    return _with(estimator, random_state=_SEED, **parameters).fit(*(arguments or bits()), classes=[0, 1])


def _leaves_labels_out(estimator):
    """Return whether rows may be without a label, and units with fewer rows than others, under "replace"."""
    return bool(getattr(estimator, "spares_unlabelled", True))


def _check_same(what, one, other):
    """Check that two models publish the same, but for the notes, which name the kind of a table."""
    first, second = map(_published_values, (one, other))
    for difference in unlike(first, second, ""):
        raise AssertionError(f"{what}: {difference}")


def _published_values(model):
    """Return what a model publishes by sorted names; a file holds a cost only if it is nearly that of the claim."""
    values = collect_published(model) | {"privacy_": replace(model.privacy_, cost=())}
    if "encoder_" in values:
        values["encoder_"] = {
            name: value for name, value in _published_values(model.encoder_).items() if name[0] != "_"
        }
    return {name: values[name] for name in sorted(values) if name != "notes_"}


def _check_refuses(model, X, what):
    try:
        model.predict(X)
    except (ValueError, TypeError):
        return
    raise AssertionError(f"{what} must be refused by predict")
