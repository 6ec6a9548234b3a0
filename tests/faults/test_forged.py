"""Forged models with the right digest are loaded or refused within 2 seconds and 200 MB, and shown within them."""

import json
import resource
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from forged import run
from saved import KINDS, document

import dpfast
from dpfast.accounting import PrivacySpend
from dpfast.base import saving

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="a process does not know its size here")


@pytest.mark.parametrize("kind", KINDS)
def test_a_forged_model_is_loaded_or_refused_quickly_in_little_memory(kind, tmp_path, many):
    tally, wrong = run([kind], many(25, 2000), 20261128, tmp_path)
    assert not wrong, "\n".join(wrong)
    assert tally["refused"]


def changed(path, **entries):
    """A file of a model with other entries, and the digest that goes with them."""
    whole = json.loads(path.read_text()) | entries
    whole.pop("digest", None)
    path.write_text(json.dumps(whole | {"digest": saving._digest(whole)}))
    return path


@pytest.fixture
def linear(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document("linear with counts", tmp_path)))
    return path


@pytest.mark.parametrize(
    ("kind", "number"), [("pure", 600), ("range", 600), ("zcdp", 600), ("gaussian", 600), ("pair", 600), ("cover", 9)]
)
def test_a_cost_of_too_many_parts_counts_as_its_claim(kind, number, linear):
    claim = PrivacySpend.from_dict(json.loads(linear.read_text())["privacy"])
    parts = [[kind, 1e-6 * (k + 1), 1, 1e-12 if kind in ("gaussian", "pair") else 0.0] for k in range(number)]
    if kind == "cover":
        parts = [[*part, 0.0, 5] for part in parts]
    for made in (parts, [*parts, ["pure", 100.0, 1, 0.0]]):
        start = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(start) + 600, resource.RLIM_INFINITY))
        model = dpfast.load(changed(linear, privacy=claim.to_dict() | {"cost": made}))
        assert model.privacy_.cost == PrivacySpend(claim.epsilon, claim.delta, claim.neighbors).cost


def test_a_draw_of_a_cover_many_times_counts_as_many_covers(linear):
    claim = json.loads(linear.read_text())["privacy"]
    model = dpfast.load(changed(linear, privacy=claim | {"cost": [["cover", 0.001, 8000, 0.0, 0.001, 67]]}))
    assert [cost.kind for cost in model.privacy_.cost] == ["pair"]


@pytest.mark.parametrize("width", [(1 << 24) + 1, (1 << 31) - 1])
def test_a_linear_model_of_very_many_columns_is_shown_without_an_array_of_its_weights(width, linear, tmp_path):
    before = dpfast.load(linear)
    (coordinates, counts, draws), columns = before.released_weights_, before.n_features_in_
    released = [[j if j < columns else width for j in coordinates.tolist()], counts.tolist(), draws, "signs", 0.1]
    model = dpfast.load(changed(linear, n_features=width, released=released))
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before_limit = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + (100 << 20), before_limit[1]))
    try:
        with pytest.raises(ValueError, match="released_weights_ has those not 0"):
            model.coef_  # noqa: B018 - the property refuses
        assert model.intercept_.tolist() == before.intercept_.tolist()
        assert "x0" in model._repr_html_()
        model.report(tmp_path / "page.html")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before_limit)


def test_equal_weights_of_very_many_columns_are_refused(tmp_path):
    X = np.where(np.random.default_rng(0).random((300, 4)) < 0.5, -1.0, 1.0)
    given = {"calibration": "paper", "batch": 1, "average": False, "negations": False, "margin": 1.0, "horizon": 300}
    learner = dpfast.DPWinnowClassifier(1100.0, 1e-300, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = learner.fit(X[:2], [0, 1], classes=[0, 1])
    path = tmp_path / "model.json"
    model.save(path)
    assert dpfast.load(path).updates_ == 0
    with pytest.raises(ValueError, match=r"has at most 2\*\*20 columns, got 16,777,216"):
        dpfast.load(changed(path, n_features=1 << 24))
