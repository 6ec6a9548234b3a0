"""The fit of a learner is a transaction: parameters, source, task, plan, charge, discovery, learning, publication.

Nothing of the learner changes before the charge, and nothing is refused afterwards. A fit that ends early, by Ctrl-C
say, publishes what it released until then.
"""

import warnings
from contextlib import AbstractContextManager
from typing import Any

from dpfast.files.encodings import source_of
from dpfast.learners.base import call_back, progress_bar
from dpfast.learners.fitting import Charge, Fit, attributes_of, publish, settling
from dpfast.learners.notes import notes_of, warn_of_lost
from dpfast.learners.reading import TableReader
from dpfast.learners.run import Rows, Run
from dpfast.tables.naming import visible


def fit(learner: Any, X: Any, y: Any, classes: Any, units: Any, rows_per_unit: int | None) -> None:
    """Fit a learner; the parameters are those of `PrivateClassifier.fit`."""
    reader, rng = reader_of(learner, source_of(X, y), units)
    run = Fit(Charge(learner), rng)
    with publishing(learner, reader, run):
        told = _learn(learner, reader, reader.read(run, classes, units, rows_per_unit), run)
    for each in told:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    warn_of_lost(learner)


def reader_of(learner: Any, source: Any, units: Any = None, *, vectors: bool = False) -> tuple[TableReader, Any]:
    """Return the reader of a source for a fit of a learner, and the generator; refuse invalid parameters.

    With `vectors`, the rows are read as vectors, whatever the schema.
    """
    checked = learner._checked()
    learner.check()
    schema = "vectors" if vectors else checked.schema
    return TableReader(learner, schema, source, units if isinstance(units, str) else None), checked.rng


def publishing(learner: Any, reader: TableReader, run: Fit) -> AbstractContextManager[None]:
    """Return a context; once its block has charged, everything released is published, also after an interruption."""
    return settling(run, _settle, learner, reader, run)


def _learn(learner, reader, table, run):
    """Plan, charge, and set the model of a run; return the warnings that are left to issue.

    After the charge for a discovery, a warning waits for the model, as the caller may have made errors of warnings.
    """
    parts, form, public = reader.open_parts(table)
    classes = tuple(public.classes.tolist())
    task = reader.task(form, public.n_rows, classes, len(classes))
    plan = reader.plan(task)
    solved = plan.solve(task)
    rows = Rows(parts, form, task, public.classes, public.n_features, run.attributes.get("class_sizes_"))
    told: list[Any] = []
    if run.claim is None:
        rows.prepared = learner.prepare(rows)
    else:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            rows.prepared = learner.prepare(rows)
    run.charge(public, solved.cost, plan.times)

    def progress(rounds, what, most):
        """Return the rounds with a progress bar, if wanted, that call the callbacks.

        The bar shows the number of rows and the bytes that parts answered only if the number of rows is public, since
        these bytes tell an empty part from a part with one row.
        """
        known = {"rows": public.n_rows, "parts": parts} if learner.neighbors == "replace" else {}
        return call_back(learner, progress_bar(rounds, what, learner.verbose, most, **known), what, most)

    learning = Run(run, plan, solved, progress)
    learning.model = learner.learn(rows, plan, learning)
    return told


def _settle(learner, reader, run):
    """Replace the fitted attributes of a learner by those of what was released, and its claim."""
    facts = run.charges.facts(run.public)
    made = reader.attributes(run.public, facts)
    if run.label is not None:
        facts["label"] = run.label
    if run.learns:
        made["privacy_"] = run.claim_so_far()
        made |= run.attributes
        for model in run.released:
            made |= attributes_of(model())
    publish(learner, made, facts)
    learner.notes_ = [visible(note) for note in (*notes_of(learner, run.charges.rows_per_unit), *run.notes)]
