import copy
import multiprocessing
import os
import pickle

import numpy as np
import pytest
from randomgen import AESCounter
from sklearn.base import clone

from dpfast import DecisionListClassifier, random

CIPHERS = [random.SystemKeyedAES, random.SystemKeyedChaCha]


@pytest.fixture(params=CIPHERS)
def cipher(request, monkeypatch):
    """Each of the two that a machine may choose, chosen here."""
    monkeypatch.setattr(random, "_cipher", request.param)
    return request.param


def key(bit_generator):
    """The words of a generator's key."""
    state = bit_generator.state
    if isinstance(bit_generator, random.SystemKeyedAES):
        return state["s"]["seed"][:2]  # then come the round keys
    return state["state"]["keysetup"]


def test_default_generators_differ_and_are_cryptographic(cipher):
    a, b = random.default_rng(), random.default_rng()
    assert type(a.bit_generator) is cipher
    assert a.integers(2**63) != b.integers(2**63)
    assert not np.array_equal(key(a.bit_generator), key(b.bit_generator))


def test_aes_is_chosen_where_the_processor_has_it():
    assert random._cipher is CIPHERS[not AESCounter(key=0).use_aesni]


@pytest.mark.parametrize("in_hardware", [False, True])
def test_aes_is_that_of_the_standard(in_hardware):
    secret, block = bytes(range(16)), bytes(17 * i for i in range(16))  # FIPS 197, appendix C.1
    bit_generator = AESCounter(key=int.from_bytes(secret, "little"), counter=int.from_bytes(block, "little"))
    if in_hardware and not bit_generator.use_aesni:
        pytest.skip("not on this machine")
    bit_generator.use_aesni = in_hardware
    assert bit_generator.random_raw(2).astype("<u8").tobytes().hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"


def test_chacha_has_20_rounds():
    assert random.SystemKeyedChaCha().state["state"]["rounds"] == 20


@pytest.mark.parametrize(("cipher", "words"), [(random.SystemKeyedAES, 2), (random.SystemKeyedChaCha, 8)])
def test_every_word_of_a_key_is_from_the_operating_system(cipher, words):
    keys = np.array([key(cipher()) for _ in range(8)])
    assert keys.shape == (8, words)
    assert len(np.unique(keys)) == keys.size  # no word is left at zero


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_does_not_share_the_stream_and_forgets_the_key(cipher):
    rng = random.default_rng()
    rng.random()
    before = rng.bit_generator.state
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()

    def child():
        bit_generator = rng.bit_generator
        held = any(part in pickle.dumps(bit_generator.state) for part in secrets_of(before))
        queue.put((held, rng.integers(2**63, size=4).tolist()))

    children = [context.Process(target=child) for _ in range(2)]
    for process in children:
        process.start()
    held, streams = zip(*(queue.get() for _ in children), strict=True)
    for process in children:
        process.join()
    assert not any(held)
    assert len({tuple(stream) for stream in [*streams, rng.integers(2**63, size=4).tolist()]}) == 3


def secrets_of(state):
    """The bytes of a state that nobody else may know: keys and what is drawn ahead."""
    parts = state.get("s") or state["state"]
    return [parts[name].tobytes() for name in ("seed", "state", "keysetup", "block") if name in parts]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda rng: pickle.loads(pickle.dumps(rng))])
def test_a_copy_is_keyed_anew_and_writes_no_key_down(cipher, duplicate):
    rng = random.default_rng()
    rng.random()
    other = duplicate(rng.bit_generator)
    assert type(other) is cipher
    assert not np.array_equal(key(other), key(rng.bit_generator))
    written = pickle.dumps(rng) + repr(rng).encode() + repr(rng.bit_generator).encode()
    assert not any(part in written for part in secrets_of(rng.bit_generator.state))


def test_a_pickle_becomes_what_suits_the_machine_that_reads_it(monkeypatch):
    written = pickle.dumps(random.SystemKeyedAES())
    monkeypatch.setattr(random, "_cipher", random.SystemKeyedChaCha)
    assert type(pickle.loads(written)) is random.SystemKeyedChaCha


def test_clones_of_an_estimator_do_not_share_a_stream():
    clf = DecisionListClassifier(random_state=random.default_rng())
    assert clone(clf).random_state.integers(2**63) != clf.random_state.integers(2**63)


def test_seeds_and_generators_are_accepted():
    assert random.generator(5).random() == np.random.default_rng(5).random()
    rng = np.random.default_rng(1)
    assert random.generator(rng) is rng
    assert random.is_reproducible(rng)
    assert not random.is_reproducible(random.generator())


def test_no_generator_of_the_operating_system_is_called_reproducible(cipher):
    assert not random.is_reproducible(random.default_rng())


@pytest.mark.parametrize("bad", ["seed", 1.5, True, np.random.RandomState(0)])
def test_anything_else_is_refused_by_type(bad):
    with pytest.raises(TypeError, match=f"got {type(bad).__name__}"):
        random.generator(bad)


def test_a_negative_seed_is_refused():
    with pytest.raises(ValueError, match="at least 0, got -1"):
        random.generator(-1)
