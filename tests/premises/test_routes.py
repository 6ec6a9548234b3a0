"""A few neighbours of every way in; `python tests/premises/routes.py --neighbors 100000` replays as many as wanted."""

import numpy as np
import pytest
from premises.routes import ROUTES, STREAMS, TABULAR, Route, run
from premises.test_replays import held


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
