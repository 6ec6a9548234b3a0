"""Code run in a forked child."""

import ctypes
import multiprocessing
import os
import warnings


def fork():
    """os.fork, where threads of a test run may be about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def in_a_child(function):
    """What a call does in a forked child: "none", or the name of the exception that it raises."""
    read, write = os.pipe()
    child = fork()
    if child == 0:
        try:
            function()
            os.write(write, b"none")
        except BaseException as error:
            os.write(write, type(error).__name__.encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return told


def in_a_child_that_c_forks(function):
    """The bytes that a call gives in a child of which no hook of Python hears."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = ctypes.PyDLL(None).fork()
    if child == 0:
        try:
            os.write(write, function())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return told


def quick_start():
    """How multiprocessing is to start processes: as forks of one that has imported what models need, where it can."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return "spawn"
    from multiprocessing import forkserver

    forkserver.set_forkserver_preload(["distributed", "pandas", "dpfast.base.inputs"])
    forkserver.ensure_running()
    return "forkserver"
