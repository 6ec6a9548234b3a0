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
    paid = Fit(Charge(learner), rng)
    with publishing(learner, reader, paid):
        told = _learn(learner, reader, reader.read(paid, classes, units, rows_per_unit), paid)
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
    return TableReader(learner, schema, source, units), checked.rng


def publishing(learner: Any, reader: TableReader, paid: Fit) -> AbstractContextManager[None]:
    """Return a context; once its block has charged, everything released is published, also after an interruption."""
    return settling(paid, _settle, learner, reader, paid)


def _learn(learner, reader, table, paid):
    """Plan, charge, and set the model of a fit; return the warnings that are left to issue.

    After the charge for a discovery, a warning waits for the model, as the caller may have made errors of warnings.
    """
    parts, form, public = reader.open_parts(table)
    classes = tuple(public.classes.tolist())
    task = reader.task(form, public.n_rows, classes, len(classes))
    plan = reader.plan(task)
    solved = plan.solve(task)
    rows = Rows(parts, form, task, public.classes, public.n_features, paid.attributes.get("class_sizes_"))
    told: list[Any] = []
    if paid.claim is None:
        rows.prepared = learner.prepare(rows)
    else:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            rows.prepared = learner.prepare(rows)
    paid.charge(public, solved.cost, plan.times)

    def progress(rounds, what, most):
        """Return the rounds with a progress bar, if wanted, that call the callbacks.

        The bar shows the number of rows and the bytes that parts answered only if the number of rows is public, since
        these bytes tell an empty part from a part with one row.
        """
        known = {} if paid.charges.known(0) is None else {"rows": public.n_rows, "parts": parts}
        return call_back(learner, progress_bar(rounds, what, learner.verbose, most, **known), what, most)

    run = Run(paid, plan, solved, progress)
    run.model = learner.learn(rows, plan, run)
    return told


def _settle(learner, reader, paid):
    """Replace the fitted attributes of a learner by those of what was released, and its claim."""
    facts = paid.charges.facts(paid.public)
    made = reader.attributes(paid.public, facts)
    if paid.label is not None:
        facts["label"] = paid.label
    if paid.learns:
        made["privacy_"] = paid.claim_so_far()
        made |= paid.attributes
        for model in paid.released:
            made |= attributes_of(model())
        reader.tell_others(paid.counted)
    publish(learner, made, facts)
    learner.notes_ = [visible(note) for note in (*notes_of(learner, paid.charges.rows_per_unit), *paid.notes)]
