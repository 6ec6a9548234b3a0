"""The fit of one learner as an object: it reads tables, discovers what is undeclared, pays, publishes and saves.

A learner has no part in it but its plan and what it learns (`dpfast.learners.private`).
"""

from dataclasses import fields
from functools import lru_cache
from typing import Any, get_type_hints

import numpy as np

from dpfast.learners.base import PrivateClassifier as Machinery
from dpfast.learners.base import call_back
from dpfast.learners.discovery import widest
from dpfast.learners.forms import Outline
from dpfast.learners.model import Model
from dpfast.learners.parameters import unsaved
from dpfast.learners.plan import Spending, Task
from dpfast.learners.reading import MOST_LABELS
from dpfast.learners.run import Rows, Run
from dpfast.tables.codes import CodeTable


class Transaction(Machinery):
    """The fit of a learner, or a fitted learner in order to predict, to save or to restore it; made by `transaction`.

    It has the parameters and the fitted attributes of the learner. The learner stays as it is until a fit was charged.
    """

    _outlined: Any = None  # the widest columns that the discovery may give, and their outline

    def __init__(self, learner: Any):
        known = vars(self)
        known.update(vars(learner))
        for name in ("_skl_callbacks", "_callback_fit_ctx"):  # the learner's own, which its `fit` calls
            known.pop(name, None)
        self._learner, self._reads = learner, learner.reads
        self._reads_parts = self._reads.in_parts

    @property
    def _surveys_arrays(self):
        named = self._reads.vector_parameters
        of_vectors = [each for each in fields(self._learner) if each.name in named]
        return self._reads.surveys() and all(
            np.array_equal(getattr(self._learner, each.name), each.default) for each in of_vectors
        )

    @property
    def _not_saved(self):
        return unsaved(self._learner)

    def get_params(self, deep=True):
        return self._learner.get_params(deep=deep)

    def __sklearn_tags__(self):
        return self._learner.__sklearn_tags__()

    def _checked(self, X=None, y=None, units=None):
        p = super()._checked(X, y, units)
        p.one_column = self._reads.one_column
        return p

    def rows(self, X: Any) -> Any:
        """Return the rows of X of `predict` as models score them; refuse other columns than those of the fit."""
        return self._read_by_image(X, self._reads.scored)

    def publish(self) -> None:
        """Replace the fitted attributes of the learner by those of this fit."""
        known = vars(self._learner)
        for name in [*published(self._learner)]:
            del known[name]
        known.update(published(self))

    def _read_codes(self, X):
        return self._reads.coded(X)

    def _read_by(self, schema):
        return self._reads.reads_by(schema)

    def _spends(self, p):
        p.spending = self._learner.spending(self._widest_task(p, p.source.public.get("n")))
        return p.spending.kind, p.spending.pure, p.spending.parts

    def _plan(self, p, task):
        """Return the plan for a task; refuse one that spends in another way than the survey left a budget for."""
        plan, foreseen = self._learner.plan(task), getattr(p, "spending", Spending())
        if p.survey is not None and foreseen.kind != "pair":
            spending = self._learner.spending(task)
            if (spending.kind, spending.pure) != (foreseen.kind, foreseen.pure):
                raise ValueError(
                    f"plan() of {type(self).__name__} must name the same mechanisms, with the same shares, for the "
                    "widest table that may be discovered and for any other: what a discovery leaves is told to these"
                )
        return plan

    def _spares_unlabelled(self, p):
        return getattr(p, "spares_unlabelled", self._learner.spares_unlabelled)

    def _refuse_parameters(self):
        self._learner.check()

    def _refuse_parts(self, p):
        if not self._reads.in_parts and self._reads.why_whole:
            raise ValueError(self._reads.why_whole)
        super()._refuse_parts(p)

    def _refuse_classes(self, classes, p):
        p.declared = tuple(classes.tolist())

    def _refuse_rows(self, n, p):
        """Refuse what the plan refuses for the widest table that the discovery may give."""
        task = self._widest_task(p, n)
        self._plan(p, task).solve(task)

    def _widest_task(self, p, n=None):
        """Return the task of n rows in the widest form that the discovery may give."""
        classes, most = getattr(p, "declared", None), MOST_LABELS if self._reads.several_classes else 2
        columns = widest(p.schema)
        if self._outlined is None or self._outlined[0] != columns:
            self._outlined = columns, self._reads.outline(columns)
        return self._task(p, self._outlined[1], n, classes, len(classes or ()) or most)

    def _learn(self, table, p, run):
        learner = self._learner
        parts, form, public = self._asked(table, self._reads.rows, self._reads.empty)
        classes = tuple(public.classes.tolist())
        task = self._task(p, form, public.n_rows, classes, len(classes))
        plan = self._plan(p, task)
        solved = plan.solve(task)
        rows = Rows(parts, form, task, public.classes, public.n_features, run.attributes.get("class_sizes_"))
        rows.prepared = learner.prepare(rows)
        run.charge(public, solved.cost, **{name: each.times for name, each in plan.items()})
        learning = Run(run, plan, solved, lambda rounds, what, most: self._shown(rounds, what, parts, public, most))
        learning.model = learner.learn(rows, plan, learning)

    def _task(self, p, form, n, classes, n_classes):
        """Return the public facts of a fit of n rows in the form `form`."""
        return Task(
            epsilon=p.epsilon,
            delta=self.delta and p.delta,
            neighbors=p.neighbors,
            n_columns=form.shape[1],
            classes=classes,
            n_classes=n_classes,
            sizes=_sizes(form),
            reach=getattr(form, "reach", None),
            n_rows=n if p.neighbors == "replace" else None,
            rows_per_unit=p.rows_per_unit,
            in_parts=p.source.in_parts,
            form=self._reads.describe(form),
            noise=() if p.survey is None else p.survey.noise,
        )

    def _watched(self, rounds, what, total=None):
        return call_back(self._learner, rounds, what, total)

    def _publish(self, run):
        for model in run.released:
            for name in self._become_model(model()):
                run.attributes.pop(name, None)  # the discovery's own, which the learner's replace

    def _become_model(self, model):
        """Set the attributes of a model, and return them by their names."""
        known = {"model_": model} | {f"{name}_": value for name, value in model.attributes().items()}
        vars(self).update(known)
        return known

    def _settle(self, run):
        super()._settle(run)
        self.publish()

    def _released(self):
        values = self.model_.to_dict()
        return values if model_of(type(self._learner)) else {type(self.model_).__name__: values}

    def _restore(self, released):
        self._become_model(self._learner.read_model(released, self._saved_task()))

    def _restore_entries(self, document):
        """Read what the file holds besides the model itself, for all models that know of it."""
        known = {name: document[name] for name in document if name == "class_counts"} | document.get("card", {})
        self._become_model(self.model_.with_entries(known, self._saved_task()))

    def _saved_task(self):
        """Return what the file of a model says of its task; whether there is a schema, by `sizes`."""
        form = self._read_as() if hasattr(self, "encoder_") else None
        return Task(
            epsilon=self.epsilon,
            delta=self.delta,
            neighbors=self.neighbors,
            n_columns=self._width,
            classes=tuple(self.classes_.tolist()),
            n_classes=len(self.classes_),
            sizes=_sizes(form),
        )

    def _released_counts(self):
        return self.model_.file_entries()

    def _restore_encoder(self, saved):
        super()._restore_encoder(saved)
        self._learner.schema = self.schema


def _sizes(form):
    """Return the number of codes of each column of rows of codes, or None."""
    if isinstance(form, Outline):
        return form.sizes
    return tuple(form.sizes.tolist()) if isinstance(form, CodeTable) else None


def transaction(learner: Any) -> Transaction:
    """Return the transaction of a learner; its class has the name of the learner's, for errors and ledgers."""
    kind: Any = type(learner)
    return _class_of(kind)(learner)


@lru_cache(maxsize=256)
def _class_of(learner: Any) -> type[Transaction]:
    fixed = {each.name: each.default for each in fields(learner) if not each.init}
    declared = {name: getattr(learner, name) for name in ("__module__", "_parameters", "_model")}
    return type(learner.__name__, (Transaction,), declared | fixed)


def published(estimator: Any) -> dict[str, Any]:
    """Return the fitted attributes of an estimator, and the public facts of its fit."""
    known = vars(estimator)
    return {name: known[name] for name in known if name == "_facts" or (name[-1] == "_" and name[0] != "_")}


def model_of(learner: type) -> type[Model] | None:
    """Return the class of the models of a learner, by the annotation of its `learn`; None if that is only `Model`."""
    annotated = get_type_hints(learner.learn).get("return")  # type: ignore[attr-defined]
    return annotated if isinstance(annotated, type) and annotated is not Model else None


def read_model(learner: type, saved: Any) -> Model:
    """Return the saved model of a learner, of the class that it is annotated with, or else that the file names."""
    kind = model_of(learner)
    if kind is None:
        ((name, saved),) = saved.items()
        kind = _model_named(name)
    return kind.from_dict(saved)


def _model_named(name):
    """Return the class of models with this name."""
    waiting = [Model]
    while waiting:
        kind = waiting.pop()
        if kind.__name__ == name and kind is not Model:
            return kind
        waiting += kind.__subclasses__()
    raise ValueError(f"the file holds a {name}, and no class of models has this name: import it first")
