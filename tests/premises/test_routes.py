"""A few neighbours of every way in; `python tests/premises/routes.py --neighbors 100000` replays as many as wanted."""

import numpy as np
import pytest
from people import SCHEMA
from premises.routes import FEATURES, OF_TABLES, ROUTES, STREAMS, TABULAR, Route, Rows, frame, people, run
from premises.test_replays import held, replayed

pytestmark = pytest.mark.filterwarnings("ignore::dpfast.PrivacyWarning")


@pytest.mark.parametrize("name", ROUTES)
def test_one_row_moves_no_more_than_was_charged_on_any_way_in(name, many):
    rng, replays = np.random.default_rng([*name.encode()]), 0
    for _ in range(many(6, 2000)):
        learner = TABULAR[int(rng.integers(len(TABULAR)))]
        found = run(ROUTES[name], learner, rng)
        if found is not None:
            assert held(found), (learner, found)
            replays += 1
    assert replays


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_one_row_moves_no_more_than_was_charged_where_pairs_are_joined_and_guide_trees(relation, many):
    rng, pairs = np.random.default_rng(1), 0
    for seed in range(many(6, 300)):
        rows = people(rng)
        for row in rows:  # two columns that say something together only
            row["smokes"] = bool(rng.random() < 0.5)
            row["buys"] = "yes" if row["smokes"] != (row["job"] == "smith") else "no"
        other = [*rows[:-1], rows[-1] | {"job": "baker", "smokes": not rows[-1]["smokes"], "age": 90}]
        tables = [frame(Rows(table, [*FEATURES, "buys"])) for table in (rows, other)]
        tables[1] = tables[1] if relation == "replace" else tables[0][:-1]
        model = OF_TABLES["halfspace, trees"].make(epsilon=200.0, neighbors=relation, schema=SCHEMA)
        found = replayed(model, *tables, seed=seed)
        assert held(found), found
        same = model.set_params(random_state=np.random.default_rng(seed)).fit(tables[0])
        assert same.trees_ is not None
        pairs += len(same.interactions_)
    assert pairs


@pytest.mark.parametrize("name", STREAMS)
def test_one_label_moves_no_more_than_was_charged_in_any_stream(name, many):
    rng = np.random.default_rng([*name.encode()])
    every = [run(STREAMS[name], "winnow", rng) for _ in range(many(6, 2000))]
    found = [each for each in every if each is not None]
    assert found
    assert all(map(held, found)), next(each for each in found if not held(each))


def test_a_table_that_is_typed_as_a_whole_is_found():
    typed = Route(lambda rows, folder: np.array([[row["age"], 7] for row in rows]), "any", ("discovered",), ())
    rng = np.random.default_rng(0)
    found = [run(typed, "halfspace", rng) for _ in range(40)]
    assert not all(each is None or held(each) for each in found)
