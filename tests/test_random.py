import copy
import multiprocessing
import os
import pickle
import signal
import sys
import threading

import numpy as np
import pytest
from randomgen import AESCounter
from sklearn.base import clone

from dpfast import DecisionListClassifier, StatisticalQueryOracle, random
from dpfast.kernels import draw
from dpfast.kernels import rng as kernel
from dpfast.mechanisms import discrete_laplace
from tests.forks import in_a_child, in_a_child_that_c_forks

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


def drawn(bit_generator, seed, calls=60):
    """Words, halves of words and doubles, in an order of `seed`, with the state after some of them."""
    rng, order, told = np.random.Generator(bit_generator), np.random.default_rng(seed), []
    for _ in range(calls):
        size = int(order.integers(1, 40))
        told.append(
            [
                lambda: bit_generator.random_raw(size),  # noqa: B023
                lambda: rng.integers(2**32, size=size, dtype=np.uint32),  # noqa: B023
                lambda: rng.random(size),  # noqa: B023
                lambda: np.array([bit_generator.state["has_uint32"], bit_generator.state["uinteger"]]),
                lambda: bit_generator.state["s"]["state"],
            ][order.integers(5)]().tolist()
        )
    return told


COUNTERS = [0, 5, 2**64 - 3, 2**64 - 16, 2**128 - 7, 2**128 - 2**64 - 1]


@pytest.mark.parametrize("counter", COUNTERS, ids=hex)
def test_the_words_of_a_generator_of_the_system_are_those_of_its_cipher_at_every_level(counter, isa):
    own, its = random.SystemKeyedAES(), AESCounter(key=2**127 + 99, counter=counter)
    for seed in range(8):
        name = {"bit_generator": own.state["bit_generator"]}
        own.state = its.state | name  # in the midst of words that the cipher has ahead, too
        assert drawn(own, seed) == drawn(its, seed)
        assert own.state["s"]["counter"].tolist() == its.state["s"]["counter"].tolist()
        its.state = own.state | {"bit_generator": its.state["bit_generator"]}
        assert drawn(own, seed) == drawn(its, seed)


@pytest.mark.parametrize("steps", [1, 2, 7, 8, 63, 64, 10**6, 2**64 + 5, 2**127])
def test_a_generator_of_the_system_moves_along_its_stream_as_its_cipher_does(steps):
    own, its = random.SystemKeyedAES(), AESCounter(key=4)
    own.state = its.state | {"bit_generator": own.state["bit_generator"]}
    for seed in range(3):
        assert own.advance(steps) is own
        its.advance(steps)
        assert own.random_raw(100 + seed).tolist() == its.random_raw(100 + seed).tolist()
    own.seed(5)
    assert own.random_raw(40).tolist() == AESCounter(5).random_raw(40).tolist()


@pytest.mark.skipif(not kernel.AESWatch.possible(), reason="there are no instructions for AES")
def test_words_drawn_before_a_watch_has_a_key_are_of_a_new_one():
    class Keyed(AESCounter):
        def rekey(self):
            self.watch.keyed(AESCounter(key=77).state)

    keyed = Keyed(key=1)
    keyed.watch = kernel.AESWatch(keyed)
    assert keyed.random_raw(5).tolist() == AESCounter(key=77).random_raw(5).tolist()


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


DRAWS = {
    "a kernel": lambda rng: draw.below(np.full(8, 2**63 - 1), rng),
    "words": lambda rng: rng.integers(2**63, size=8),
    "halves of words": lambda rng: rng.integers(2**32, size=8, dtype=np.uint32),
    "doubles": lambda rng: rng.random(8),
    "raw words": lambda rng: rng.bit_generator.random_raw(8),
}


@pytest.mark.skipif(sys.platform != "linux", reason="needs the fork of the C library by name")
@pytest.mark.parametrize("name", DRAWS)
def test_a_fork_that_python_does_not_hear_of_does_not_share_the_stream(cipher, name):
    rng, take = random.default_rng(), DRAWS[name]
    take(rng)
    theirs = [in_a_child_that_c_forks(lambda: take(rng).tobytes()) for _ in range(2)]
    assert len({*theirs, take(rng).tobytes()}) == 3
    grandchild = in_a_child_that_c_forks(
        lambda: take(rng).tobytes() + in_a_child_that_c_forks(lambda: take(rng).tobytes())
    )
    assert len(grandchild) == 2 * len(theirs[0])
    assert grandchild[: len(theirs[0])] != grandchild[len(theirs[0]) :]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_an_interrupt_while_a_fork_is_keyed_is_put_off_and_the_stream_is_not_shared(cipher, monkeypatch):
    rng, keyed = random.default_rng(), random.SystemKeyed.rekey
    tries = []

    def rekey(self):
        tries.append(1)
        if len(tries) < 3:
            raise KeyboardInterrupt
        keyed(self)

    monkeypatch.setattr(random.SystemKeyed, "rekey", rekey)

    def child():
        drawn = []
        try:
            drawn.append(rng.random(4).tobytes())
            for _ in range(1000):  # the interrupt comes soon
                drawn.append(b"")
        except KeyboardInterrupt:
            drawn = drawn or [b"interrupted before it was kept"]
            return drawn[0] + bytes([len(tries)])
        return b"not interrupted"

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        told = in_a_child_that_c_forks(child)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert told[-1:] == b"\x03"
    assert told[:-1] != rng.random(4).tobytes()
    assert not tries


def test_the_number_of_a_process_is_not_that_of_its_parent():
    number = kernel.process()
    assert kernel.process() == number
    assert int(in_a_child_that_c_forks(lambda: str(kernel.process()).encode())) > number


def test_a_forked_child_draws_while_a_thread_of_its_parent_holds_the_generator():
    rng, held, done = random.default_rng(), threading.Event(), threading.Event()

    def hold():
        with rng.bit_generator.lock:
            held.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    try:
        assert in_a_child(lambda: (signal.alarm(20), discrete_laplace([0], 5, rng=rng), rng.random())) == "none"
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize(
    "reveal",
    [
        lambda bit_generator: bit_generator.seed(5),
        lambda bit_generator: setattr(bit_generator, "state", bit_generator.state),
        lambda bit_generator: bit_generator.advance(-4),
    ],
)
def test_a_generator_of_the_system_that_is_seeded_set_or_moved_is_called_reproducible(reveal):
    rng = np.random.Generator(random.SystemKeyedAES())
    assert not random.is_reproducible(rng)
    reveal(rng.bit_generator)
    assert random.is_reproducible(rng)
    assert "reproducible, not private" in str(
        StatisticalQueryOracle([0], 1.0, 1e-6, n_queries=1, random_state=rng).privacy_
    )


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
