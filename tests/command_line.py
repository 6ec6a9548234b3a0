"""The command line in this process, or in a fork of it."""

import os
import signal
import sys
import traceback
from functools import cache

from forks import fork
from typer import testing
from typer.main import get_command

from dpfast import cli

testing._get_command = cache(get_command)  # what is typed is parsed anew, commands and options are built once


def run(arguments, **options):
    """What a command writes, and how it ends."""
    return testing.CliRunner().invoke(cli.app, arguments, **options)


def forked(arguments, stdout=None):
    """Run the command line in a forked child, as its only code; what it imports is there already.

    Returns the number of the child, and files at the other ends of its stdin, stdout and stderr; `stdout` may be
    another file descriptor.
    """
    (stdin, given), (told, out), (said, stderr) = os.pipe(), os.pipe(), os.pipe()
    child = fork()
    if child == 0:
        for end in (given, told, said):
            os.close(end)
        _end_as_command(arguments, (stdin, out if stdout is None else stdout, stderr))
    for end in (stdin, out, stderr):
        os.close(end)
    return child, open(given, "w"), open(told), open(said)


def _end_as_command(arguments, streams):
    code = 70
    try:
        for number, end in enumerate(streams):
            os.dup2(end, number)
        sys.stdin, sys.stdout, sys.stderr = map(os.fdopen, range(3), "rww")
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            cli.app([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
        sys.stdout.flush()  # as Python does at its end
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code or 0)
