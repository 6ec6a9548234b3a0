import copy
import multiprocessing
import os
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from dpfast import DecisionListClassifier, random


def test_default_generators_differ_and_are_cryptographic():
    a, b = random.default_rng(), random.default_rng()
    assert a.integers(2**63) != b.integers(2**63)
    assert a.bit_generator.state["bit_generator"].endswith("SystemKeyed")
    assert a.bit_generator.state["state"]["rounds"] == 20


def test_its_key_has_256_bits():
    words = [word for _ in range(8) for word in random.default_rng().bit_generator.state["state"]["keysetup"].tolist()]
    assert len(words) == 64
    assert len(set(words)) == 64  # no word is left at zero


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_does_not_share_the_stream():
    rng = random.default_rng()
    rng.random()
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    children = [context.Process(target=lambda: queue.put(rng.integers(2**63, size=4).tolist())) for _ in range(2)]
    for child in children:
        child.start()
    streams = [queue.get() for _ in children] + [rng.integers(2**63, size=4).tolist()]
    for child in children:
        child.join()
    assert len({tuple(stream) for stream in streams}) == 3


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda rng: pickle.loads(pickle.dumps(rng))])
def test_a_copy_is_keyed_anew_and_writes_no_key_down(duplicate):
    rng = random.default_rng()
    if duplicate is copy.copy:
        assert copy.copy(rng.bit_generator).state["state"]["keysetup"].any()
    other = duplicate(rng.bit_generator)
    key = rng.bit_generator.state["state"]["keysetup"]
    assert not np.array_equal(other.state["state"]["keysetup"], key)
    assert key.tobytes() not in pickle.dumps(rng)


def test_clones_of_an_estimator_do_not_share_a_stream():
    clf = DecisionListClassifier(random_state=random.default_rng())
    assert clone(clf).random_state.integers(2**63) != clf.random_state.integers(2**63)


def test_seeds_and_generators_are_accepted():
    assert random.generator(5).random() == np.random.default_rng(5).random()
    rng = np.random.default_rng(1)
    assert random.generator(rng) is rng
    assert random.is_reproducible(rng)
    assert not random.is_reproducible(random.generator())


@pytest.mark.parametrize("bad", ["seed", 1.5, True, np.random.RandomState(0)])
def test_anything_else_is_refused_by_type(bad):
    with pytest.raises(TypeError, match=f"got {type(bad).__name__}"):
        random.generator(bad)


def test_a_negative_seed_is_refused():
    with pytest.raises(ValueError, match="at least 0, got -1"):
        random.generator(-1)
