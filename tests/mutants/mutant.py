"""What a mutant is: one line of privacy-critical code made wrong, and the tests that must notice."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """`old`, which is in the file once, becomes `new`, and at least one of the tests fails."""

    name: str
    file: str  # below the root of the checkout
    old: str
    new: str
    tests: str  # arguments of pytest, below tests/
