"""A damaged model, checkpoint or schema is refused as such, or is what it was."""

import json
from pathlib import Path

import numpy as np
import pytest
from corruption import damaged

import dpfast
from dpfast.accounting import Budget
from dpfast.files.datasets import dataset_schema
from dpfast.tables import Schema

MODELS = Path(__file__).parents[1] / "models_v1"
KINDS = sorted(path.stem for path in MODELS.glob("*.json") if path.stem != "noted")
REFUSED = (ValueError, OSError)


def said(model):
    """All that a model's file says."""
    return json.loads(
        json.dumps(model._saver.document(), default=lambda value: getattr(value, "tolist", value.__str__)())
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_model_is_refused_or_is_the_same(kind, tmp_path, rng, many):
    path = tmp_path / "model.json"
    model = dpfast.load(MODELS / f"{kind}.json")
    model.save(path)
    whole, says, refused, tried = path.read_bytes(), said(model), 0, many(30, 5000)
    for _ in range(tried):
        path.write_bytes(damaged(whole, rng))
        try:
            loaded = dpfast.load(path)
        except REFUSED:
            refused += 1
            continue
        assert said(loaded) == says  # white space, mostly
    assert refused > 0.8 * tried


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_model_without_a_digest_is_refused_or_predicts(kind, tmp_path, rng, many):
    """Those of version 1: no other error, whatever became of them."""
    path, whole = tmp_path / "model.json", (MODELS / f"{kind}.json").read_bytes()
    for _ in range(many(30, 1000)):
        path.write_bytes(damaged(whole, rng))
        try:
            loaded = dpfast.load(path)
        except REFUSED:
            continue
        str(loaded)
        str(loaded.privacy_)


@pytest.fixture
def checkpoint(tmp_path):
    return new_checkpoint(tmp_path)


def new_checkpoint(folder):
    path, rng = folder / "stream", np.random.default_rng(7)
    stream = dpfast.DPWinnowClassifier(epsilon=1.0, n_updates=20, random_state=3, checkpoint=path)
    X = rng.integers(0, 2, (2000, 10)).astype(bool)
    stream.stream(X, X[:, 0].astype(int), classes=[0, 1])
    stream.close()
    return path


def test_a_damaged_checkpoint_is_refused(checkpoint, rng, many):
    whole = checkpoint.read_bytes()
    for _ in range(many(200, 20_000)):
        checkpoint.write_bytes(damaged(whole, rng))
        with pytest.raises(REFUSED):
            dpfast.DPWinnowClassifier.resume(checkpoint)
    checkpoint.write_bytes(whole)
    dpfast.DPWinnowClassifier.resume(checkpoint).close()


def test_a_damaged_lock_lets_a_stream_go_on_or_refuses_it(checkpoint, rng, many):
    lock = checkpoint.with_name("stream.lock")
    whole = lock.read_bytes()
    for _ in range(many(50, 2000)):
        lock.write_bytes(damaged(whole, rng))
        try:
            dpfast.DPWinnowClassifier.resume(checkpoint).close()
        except REFUSED:
            continue


@pytest.mark.parametrize("ending", [".toml", ".json"])
def test_a_damaged_schema_is_refused_or_declares_something(ending, tmp_path, rng, many):
    path, refused, tried = tmp_path / f"schema{ending}", 0, many(150, 6000)
    dataset_schema("adult").to_file(path)
    whole = path.read_bytes()
    for _ in range(tried):
        path.write_bytes(damaged(whole, rng))
        try:
            schema = Schema.from_file(path)
            again = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
        except REFUSED:
            refused += 1
            continue
        assert again == schema
    assert refused > tried / 4


def test_a_damaged_ledger_is_refused_or_tells_the_same(tmp_path, rng, many):
    path, refused, tried = tmp_path / "budget", 0, many(30, 5000)
    ledger = Budget.open(path, epsilon=3.0, delta=1e-5)
    for _ in range(20):
        ledger.charge(0.1, 1e-7)
    whole, spent, charges = path.read_bytes(), ledger.spent, ledger.charges
    for _ in range(tried):
        path.write_bytes(damaged(whole, rng))
        try:
            again = Budget.open(path)
            assert (again.spent, again.charges) == (spent, charges)
            again.charge(0.1, 1e-7)
        except REFUSED:
            refused += 1
        for entry in tmp_path.glob("budget-*"):  # journals
            entry.unlink()
    assert refused > tried / 5
