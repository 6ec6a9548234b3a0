"""Randomness: a cryptographic generator keyed from the operating system, unless a seed is asked for.

A seed makes results reproducible and therefore not private: whoever knows it can take the noise away. It is for
tests and experiments, and a model fitted with one says so.
"""

import os
import weakref
from numbers import Integral

import numpy as np
from randomgen import ChaCha

_live = weakref.WeakSet()


class SystemKeyed(ChaCha):
    """ChaCha20 under a 256-bit key from the operating system.

    The key is this process's own: a fork is keyed anew in the child, and a copy or a pickle is a new generator, so
    that no two ever give the same stream and no stream is ever written down.
    """

    def __init__(self):
        super().__init__(key=int.from_bytes(os.urandom(32), "little"), rounds=20)
        _live.add(self)

    def rekey(self):
        """Forget the key and the stream, and start another."""
        self.state = SystemKeyed().state

    def __reduce__(self):
        return SystemKeyed, ()


def default_rng():
    """A numpy.random.Generator whose stream is cryptographic, keyed from the operating system."""
    return np.random.Generator(SystemKeyed())


def generator(random_state=None):
    """The generator that a `random_state` or `rng` argument stands for.

    Parameters
    ----------
    random_state : None, int or numpy.random.Generator
        None is `default_rng()`; an int seeds numpy's default generator, for tests; a Generator is used as it is.

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


def is_reproducible(rng):
    """Whether a generator's stream may be known to others: any but one keyed from the operating system."""
    return not isinstance(rng.bit_generator, SystemKeyed)


def _rekey_all():
    for bit_generator in list(_live):
        bit_generator.rekey()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_rekey_all)
