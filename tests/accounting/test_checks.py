import ast
import inspect
from pathlib import Path

import pytest

import dpfast
from dpfast import accounting
from dpfast.accounting import discrete_gaussian_sigma, experts_learning_rate
from dpfast.accounting.numbers import count, delta_of, epsilon_of, exact, number

ROOMS = sorted(Path(dpfast.__path__[0], "accounting").glob("*.py"))


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.stem)
def test_no_private_name_is_imported_from_a_sibling(room):
    imported = [
        name.name
        for node in ast.walk(ast.parse(room.read_text()))
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    ]
    assert not [name for name in imported if name.startswith("_")]


@pytest.mark.parametrize("name", accounting.__all__)
def test_every_calculator_says_what_it_raises_and_where_its_theorem_is(name):
    said = inspect.getdoc(getattr(accounting, name))
    sections = [said.find(f"\n{section}\n---") for section in ("Parameters", "Returns", "Raises", "Notes")]
    assert not inspect.isfunction(getattr(accounting, name)) or (sections[0] > -1 and sections == sorted(sections))


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: epsilon_of(0), "epsilon must be a finite number > 0, got 0"),
        (lambda: epsilon_of(True), "epsilon must be a finite number > 0, got True"),
        (lambda: epsilon_of(10**400), "epsilon must be a finite number > 0"),
        (lambda: epsilon_of(-1, zero=True), "epsilon must be a finite number >= 0, got -1"),
        (lambda: delta_of(1e-301), "delta must be at least 1e-300 and below 1, got 1e-301"),
        (lambda: delta_of("0.1"), "delta must be at least"),
        (lambda: count("n", 2.0), "n must be an integer >= 1, got 2.0"),
        (lambda: count("n", 10**400), r"n must be at most 10\*\*300, got a number of 1,329 bits"),
        (lambda: exact("delta", float("nan"), below=1), "delta must be a number >= 0 and below 1, got nan"),
        (lambda: number("rho", 2, "at most 1", lambda x: x <= 1), "rho must be at most 1, got 2"),
    ],
)
def test_what_a_number_may_not_be_is_said_with_its_name(check, message):
    with pytest.raises(ValueError, match=message):
        check()


def test_calibrations_are_remembered_by_value_and_type_and_refuse_as_before():
    assert experts_learning_rate(1, 1e-6, horizon=7) == experts_learning_rate(1.0, 1e-6, horizon=7)
    assert discrete_gaussian_sigma(0.75, 1e-7) == discrete_gaussian_sigma.__wrapped__(0.75, 1e-7)
    assert discrete_gaussian_sigma(1, 1e-6) > 4  # of which True is an equal
    for wrong in ([], True):
        with pytest.raises(ValueError, match="epsilon must be a finite number > 0"):
            discrete_gaussian_sigma(wrong, 1e-6)


def _described(function):
    """The lines under "Parameters" of a calculator, up to the next section."""
    return inspect.getdoc(function).partition("Parameters\n----------\n")[2].partition("\n\n")[0].split("\n")


@pytest.mark.parametrize("name", accounting.__all__)
def test_a_calculator_describes_its_own_parameters_and_no_others(name):
    function = getattr(accounting, name)
    if inspect.isfunction(function) and "documents the theorem" in (function.__doc__ or ""):
        headers = [line.partition(" : ")[0] for line in _described(function) if not line.startswith(" ")]
        assert sorted(", ".join(headers).split(", ")) == sorted(inspect.signature(function).parameters)


def test_a_calculator_describes_what_it_shares_as_the_other_one_does():
    assert _described(accounting.gaussian_sigma)[-2:] == _described(accounting.gaussian_delta)[-2:]
