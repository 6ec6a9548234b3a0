"""Randomness: a cryptographic generator keyed from the operating system, unless a seed is asked for.

A seed makes results reproducible and therefore not private: anyone who knows it can remove the noise. Seeds are for
tests and experiments, and a model that was fitted with one states it.
"""

import os
from numbers import Integral
from typing import Any
from weakref import WeakSet

import numpy as np
from randomgen import AESCounter, ChaCha

from dpfast.kernels.rng import AESWatch, Watch


class SystemKeyed:
    """A cipher in counter mode under a key from the operating system.

    Each process has its own key: every draw compares the process, and a forked process gets a new key before its first
    word. Its locks are free there, also those that a thread of its parent held. A copy or an unpickled generator has a
    new key, too, so no two generators share a stream and no stream is stored. A generator that was seeded, set to a
    state or advanced is no longer secret, and `known` is True.
    """

    _watch: Any = None  # none until the cipher has its first key

    def __init__(self, key_bytes: int, watch: type[Watch] = Watch, **options: Any) -> None:
        self._key_bytes, self._options = key_bytes, options
        cipher: Any = super()
        cipher.__init__(key=self._new_key(), **options)
        self.known = False
        self._watch = watch(self)  # type: ignore[arg-type]
        self._watch.keyed(self._cipher.state.__get__(self))
        _living.add(self)

    def rekey(self) -> None:
        """Forget the key and the stream, and start another."""
        own, new = self._cipher.state, self._cipher(key=self._new_key(), **self._options)
        own.__set__(self, new.state | {"bit_generator": own.__get__(self)["bit_generator"]})
        self._watch.keyed(own.__get__(self))

    @property
    def state(self) -> Any:
        """Return the state of the cipher, which holds the key."""
        self._watch.check()
        return self._watch.state(self._cipher.state.__get__(self))

    @state.setter
    def state(self, state: Any) -> None:
        self.known = True
        self._cipher.state.__set__(self, state)
        self._watch.use(self._cipher.state.__get__(self))

    def seed(self, *args: Any, **kwargs: Any) -> None:
        """Use a seed instead of the key: the stream is known from then on."""
        self.known = True
        cipher: Any = super()
        cipher.seed(*args, **kwargs)
        if self._watch is not None:
            self._watch.use(self._cipher.state.__get__(self))

    def advance(self, *args: Any, **kwargs: Any) -> Any:
        """Move along the stream, to words that may have been drawn before: it is known from then on."""
        self._cipher.state.__set__(self, self.state)
        cipher: Any = super()
        moved = cipher.advance(*args, **kwargs)
        self.state = self._cipher.state.__get__(self)
        return moved

    @property
    def _cipher(self) -> Any:
        """Return the class of the cipher itself."""
        classes = type(self).__mro__
        return classes[classes.index(SystemKeyed) + 1]

    def _new_key(self) -> int:
        return int.from_bytes(os.urandom(self._key_bytes), "little")

    def __reduce__(self):
        return _another, (type(self).__name__,), None  # as numpy 1.26 wants it, with a name and a state


class SystemKeyedAES(SystemKeyed, AESCounter):
    """AES-128, all ten rounds, in counter mode; for processors with instructions for it.

    A cipher repeats no block, unlike true randomness. With an ideal cipher, q blocks of 16 bytes can therefore be
    distinguished from true randomness with advantage at most q**2 / 2**129, which is 2**-49 after 16 TB.
    """

    def __init__(self) -> None:
        super().__init__(16, AESWatch if AESWatch.possible() else Watch)


class SystemKeyedChaCha(SystemKeyed, ChaCha):
    """ChaCha20 under a 256-bit key: as sound everywhere, and slower than AES in hardware.

    AES in software is slower still, and its table look-ups leak the key to whoever shares the cache.
    """

    def __init__(self) -> None:
        super().__init__(32, rounds=20)


def system_keyed() -> Any:
    """Return the bit generator that suits this machine, with a new key."""
    return _cipher()


def _another(name: str) -> Any:
    return system_keyed()


def default_rng() -> np.random.Generator:
    """Return a numpy.random.Generator whose stream is cryptographic, with a key from the operating system."""
    return np.random.Generator(system_keyed())


def generator(random_state: int | np.random.Generator | None = None) -> np.random.Generator:
    """Return the generator for an argument `random_state` or `rng`.

    Parameters
    ----------
    random_state : None, int or numpy.random.Generator
        None means `default_rng()`; an int seeds numpy's default generator, for tests; a Generator is used as it is.

    Returns
    -------
    numpy.random.Generator

    Raises
    ------
    TypeError, ValueError
        For anything else, or a negative seed.
    """
    if random_state is None:
        return default_rng()
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"a seed must be at least 0, got {random_state}")
        return np.random.default_rng(int(random_state))
    raise TypeError(f"random_state must be None, an int or a numpy.random.Generator, got {type(random_state).__name__}")


def is_reproducible(rng: np.random.Generator) -> bool:
    """Return whether others may know the stream: not if the key is of the operating system and was never replaced."""
    return not isinstance(rng.bit_generator, SystemKeyed) or rng.bit_generator.known


def by_instructions() -> bool:
    """Return whether this machine has instructions for AES."""
    return bool(AESCounter(key=0).use_aesni)


def _free_locks() -> None:
    """Free the locks of all generators in a forked child, where no other thread is left that could."""
    for each in list(_living):
        each.lock._at_fork_reinit()


_living: WeakSet[Any] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_locks)
_cipher = SystemKeyedAES if by_instructions() else SystemKeyedChaCha
