"""The fit of a learner is a transaction: parameters, source, task, plan, charge, discovery, learning, publication.

Nothing of the learner changes before the charge, and no row is refused afterwards. A fit that ends early, by Ctrl-C or
because fewer than two labels were discovered (`NothingLearned`), publishes what it released until then.
"""

import warnings
from contextlib import AbstractContextManager
from typing import Any

from dpfast.base.fitting import Charge, Fit, attributes_of, publish, settling
from dpfast.base.notes import notes_of, warn_of_lost
from dpfast.base.progress import call_back, progress_bar
from dpfast.base.reading import TableReader
from dpfast.base.run import Rows, Run
from dpfast.files.encodings import source_of
from dpfast.tables.naming import visible


def fit(learner: Any, X: Any, y: Any, classes: Any, units: Any, rows_per_unit: int | None) -> None:
    """Fit a learner; the parameters are those of `PrivateClassifier.fit`."""
    reader, rng = reader_of(learner, source_of(X, y), units)
    fit = Fit(Charge(learner), rng)
    with publishing(learner, reader, fit):
        warned = _learn(learner, reader, reader.read(fit, classes, units, rows_per_unit), fit)
    for each in warned:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    warn_of_lost(learner)


def reader_of(learner: Any, source: Any, units: Any = None, *, vectors: bool = False) -> tuple[TableReader, Any]:
    """Return the reader of a source for a fit of a learner, and the generator; refuse invalid parameters.

    With `vectors`, the rows are read as vectors, whatever the schema.
    """
    checked = learner._checked()
    learner.check()
    schema = "vectors" if vectors else checked.schema
    return TableReader(learner, schema, source, units), checked.rng


def publishing(learner: Any, reader: TableReader, fit: Fit) -> AbstractContextManager[None]:
    """Return a context; once its block has charged, everything released is published, also after an interruption."""
    return settling(fit, _settle, learner, reader, fit)


def _learn(learner, reader, table, fit):
    """Plan, charge, and set the model of a fit; return the warnings that are left to issue.

    After the charge for a discovery, a warning waits for the model, as the caller may have made errors of warnings.
    """
    parts, form, public = reader.open_parts(table)
    classes = tuple(public.classes.tolist())
    task = reader.task(form, public.n_rows, classes, len(classes))
    plan = reader.plan(task)
    solved = plan.solve(task)
    rows = Rows(parts, form, task, public.classes, public.n_features, fit.attributes.get("class_sizes_"))
    warned: list[Any] = []
    if fit.claim is None:
        rows.prepared = learner.prepare(rows)
    else:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            rows.prepared = learner.prepare(rows)
    fit.charge(public, solved.cost, plan.times)

    def progress(rounds, what, most):
        """Return the rounds with a progress bar, if wanted, that call the callbacks.

        The bar shows rows per second only if the number of rows is public.
        """
        n = fit.charges.public_rows(public.n_rows)
        return call_back(learner, progress_bar(rounds, what, learner.verbose, most, rows=n), what, most)

    run = Run(fit, plan, solved, progress)
    run.model = learner.learn(rows, plan, run)
    return warned


def _settle(learner, reader, fit):
    """Replace the fitted attributes of a learner by those of what was released, and its claim."""
    facts = fit.charges.facts(fit.public)
    published = reader.attributes(fit.public, facts)
    if fit.label is not None:
        facts["label"] = fit.label
    if fit.learns:
        published["privacy_"] = fit.claim_so_far()
        published |= fit.attributes
        for model in fit.released:
            published |= attributes_of(model())
        reader.tell_others(fit.counted)
    publish(learner, published, facts)
    learner.notes_ = [visible(note) for note in (*notes_of(learner, fit.charges.rows_per_unit), *fit.notes)]
