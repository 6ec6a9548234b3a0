"""Code run in a forked child."""

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
