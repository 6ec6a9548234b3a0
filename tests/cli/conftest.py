import command_line
import pytest


@pytest.fixture
def run(monkeypatch, tmp_path_factory):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("aside")))  # where what is paid for may go

    def run(*arguments, stdin=None):
        return command_line.run([str(argument) for argument in arguments], input=stdin)

    return run


@pytest.fixture
def refused(run):
    """The line that a command says when it refuses."""

    def refused(*arguments, stdin=None):
        result = run(*arguments, stdin=stdin)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        return result.stderr

    return refused


@pytest.fixture
def trees(tmp_path, rng):
    """A CSV file in which the label is "oak" where wet = 1."""
    X = rng.integers(0, 2, (600, 3))
    lines = [f"{a},{b},{c},{'oak' if a else 'elm'}" for a, b, c in X]
    path = tmp_path / "trees.csv"
    path.write_text("\n".join(["wet,cold [C],windy,tree", *lines]) + "\n")
    return path


@pytest.fixture
def model(run, trees, tmp_path):
    path = tmp_path / "model.json"
    command = ["fit", trees, "--model", "decision-list", "--epsilon", 1, "--label", "tree", "--seed", 1, "--out", path]
    assert run(*command).exit_code == 0
    return path
