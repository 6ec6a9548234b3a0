"""The instruction-set level that every kernel runs at.

Kernels are compiled once per level and give identical bits at each; levels differ in speed only. The best
level of the machine is chosen on import, unless the environment variable DPFAST_ISA names another.
"""
import os

LEVELS = ("scalar", "avx2", "avx512")

cdef int level_in_use = dpf_cpu_best()


cdef const int *shared_level() noexcept:
    return &level_in_use


def best():
    """Return the name of the highest level that this machine runs."""
    return LEVELS[dpf_cpu_best()]


def level():
    """Return the name of the level in use."""
    return LEVELS[level_in_use]


def _sets():
    """Return whether this machine has each instruction set that levels above "scalar" are compiled for, by name."""
    told, found, i = dpf_cpu_sets(), {}, 0
    while dpf_cpu_set_name(i) != NULL:
        found[dpf_cpu_set_name(i).decode()] = bool(told >> i & 1)
        i += 1
    return found


def _best_of(sets):
    """Return the name of the highest level that a machine with the instruction sets of `sets` runs."""
    return LEVELS[dpf_cpu_best_of(sum(bool(has) << i for i, has in enumerate(sets.values())))]


def use(name):
    """Run every kernel of this process at the level `name`; for tests and benchmarks.

    Parameters
    ----------
    name : {"scalar", "avx2", "avx512"}

    Raises
    ------
    ValueError
        If there is no such level, or this machine does not run it.
    """
    global level_in_use
    available = LEVELS[:dpf_cpu_best() + 1]
    if name not in available:
        raise ValueError(f"instruction-set level must be one of {', '.join(available)} here, got {name!r}")
    level_in_use = LEVELS.index(name)


if os.environ.get("DPFAST_ISA"):
    use(os.environ["DPFAST_ISA"])
