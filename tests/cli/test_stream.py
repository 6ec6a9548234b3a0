import os
import signal

import command_line
import numpy as np
import pandas as pd
import pytest

import dpfast
from dpfast.cli.files import read
from dpfast.tables import Category, Label, Numeric, Schema

STREAM = ["--label", "tree", "--classes", "oak,elm", "--epsilon", "1", "--step", "500"]


@pytest.fixture
def forest(tmp_path, rng):
    """A CSV file of 6,000 rows in which the label is "oak" where two of three features are 1."""
    X = rng.integers(0, 2, (6000, 5))
    lines = [",".join(map(str, x)) + (",oak" if x[:3].sum() > 1 else ",elm") for x in X]
    path = tmp_path / "forest.csv"
    path.write_text("\n".join(["a,b,c,d,e,tree", *lines]) + "\n")
    return path


def part(path, start, stop):
    header, *lines = path.read_text().splitlines()
    return "\n".join([header, *lines[start:stop]]) + "\n"


def test_a_stream_writes_what_the_learner_predicted_before_each_label(run, forest, tmp_path):
    out = tmp_path / "model.json"
    result = run("stream", forest, *STREAM, "--seed", 3, "--out", out)
    assert result.exit_code == 0
    table = read(forest, label="tree")
    learner, expected = dpfast.DPWinnowClassifier(random_state=3), []
    for i in range(0, 6000, 500):
        expected += learner.stream(table.X[i : i + 500], table.y[i : i + 500], classes=["oak", "elm"]).tolist()
    assert result.stdout.split() == expected
    assert learner.updates_ > 0
    assert str(learner.privacy_) in result.stderr
    assert "of the model and of when it changed; each prediction is for the owner of its row" in result.stderr
    assert "6,000" in result.stderr
    assert "oak if the sum is at least 0, else elm." in result.stderr
    assert "mistakes" not in result.stderr
    assert (dpfast.load(out).predict(table.X) == learner.predict(table.X)).all()
    assert dpfast.load(out).feature_names_in_.tolist() == list("abcde")


@pytest.fixture
def people(tmp_path, rng):
    """A CSV file of 3,000 rows of a number and a category, and its schema."""
    age, job = rng.integers(18, 90, 3000), rng.choice(["clerk", "smith", ""], 3000)
    buys = np.where((age > 50) ^ (rng.random(3000) < 0.1), "yes", "no")
    lines = [",".join(map(str, row)) for row in zip(job, buys, age, strict=True)]
    path, schema = tmp_path / "people.csv", tmp_path / "people.json"
    path.write_text("\n".join(["job,buys,age", *lines]) + "\n")
    columns = [Numeric("age", 0, 100, edges=8), Category("job", ["clerk", "smith"], nullable=True)]
    Schema(columns, label=Label("buys", ["no", "yes"])).to_file(schema)
    return path, schema


def test_a_stream_reads_text_as_a_fit_does_and_its_model_keeps_how(run, people, tmp_path):
    path, schema = people
    model, plain, other = tmp_path / "model.json", tmp_path / "plain.json", tmp_path / "other.csv"
    other.write_text("Auszug über Käufe\n" + path.read_text().replace(",", ";"), encoding="cp1252")
    written = ["--separator", ";", "--decimal", ",", "--encoding", "cp1252", "--skip-lines", 1]
    command = ["--schema", schema, "--epsilon", 1, "--step", 700, "--seed", 3]
    result = run("stream", other, *command, *written, "--out", model)
    assert result.stdout == run("stream", path, *command, "--out", plain).stdout
    assert result.stdout == run("stream", "-", *command, *written, stdin=other.read_bytes()).stdout
    assert run("predict", model, other).stdout == run("predict", plain, path).stdout


def test_a_stream_without_a_schema_reads_text_as_a_fit_does(run, refused, forest, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("made by hand\n" + forest.read_text().replace(",", "|"))
    result = run("stream", other, *STREAM, "--seed", 3, "--separator", "|", "--skip-lines", 1)
    assert result.stdout == run("stream", forest, *STREAM, "--seed", 3).stdout != ""
    assert "--dates is for tables whose columns are declared" in refused("stream", forest, *STREAM, "--dates", "dmy")


def test_a_stream_of_a_table_with_a_schema_is_that_of_its_codes(run, refused, people, tmp_path):
    path, schema = people
    command = ["stream", path, "--schema", schema, "--epsilon", 1, "--step", 700]
    model, kept = tmp_path / "model.json", tmp_path / "kept"
    result = run(*command, "--seed", 3, "--out", model)
    assert result.exit_code == 0, result.output
    declared, frame, predicted = Schema.from_file(schema), pd.read_csv(path), []
    learner = dpfast.DPWinnowClassifier(schema=declared, random_state=3)
    for i in range(0, 3000, 700):
        predicted += learner.stream(frame[i : i + 700]).tolist()
    assert result.stdout.split() == predicted
    assert "age > " in result.stderr
    assert (dpfast.load(model).predict(frame) == learner.predict(frame)).all()
    assert run("predict", model, path).stdout.split() == learner.predict(frame).tolist()

    half = tmp_path / "half.csv"
    half.write_text(part(path, 0, 1000))
    assert run("stream", half, *command[2:], "--checkpoint", kept).exit_code == 0
    went = run("stream", path, *command[2:], "--checkpoint", kept, "--show-private")
    assert "3,000, of which 2,000 now" in went.stderr
    assert "mistakes" in went.stderr
    assert "another schema, or with none" in refused("stream", path, *STREAM[:1], "buys", *STREAM[2:3], "no,yes",
                                                     *STREAM[4:], "--checkpoint", kept)  # fmt: skip

    piped = run("stream", "-", *command[2:], "--seed", 3, stdin=path.read_text())
    assert piped.stdout == result.stdout
    pq = tmp_path / "people.parquet"
    frame.to_parquet(pq)
    assert run("stream", pq, *command[2:], "--seed", 3).stdout == result.stdout


def test_a_stream_refuses_what_its_schema_does_not_declare_by_its_row(run, refused, people, tmp_path):
    path, schema = people
    command = ["--schema", schema, "--epsilon", 1, "--step", 700]
    broken = tmp_path / "broken.csv"
    for cell, told in (("clerk,maybe,30", "a label that is not declared"), ("clerk,no,old", "column 'age'")):
        lines = path.read_text().splitlines()
        lines[900] = cell
        broken.write_text("\n".join(lines) + "\n")
        result = run("stream", broken, *command)  # in the second step
        assert result.exit_code == 2
        assert told in " ".join(result.stderr.split())
        assert "row 900" in " ".join(result.stderr.split())
    broken.write_text("buys,age\nno,3\n")
    assert "the table lacks columns that the schema declares: 'job'" in refused("stream", broken, *command)
    assert "for tables without a schema" in refused("stream", path, *command, "--threshold", 0.5)
    open_facts = tmp_path / "open.json"
    Schema([Numeric("age"), Category("job")], label=Label("buys", ["no", "yes"])).to_file(open_facts)
    said = refused("stream", path, "--schema", open_facts, *command[2:])
    assert "a stream cannot find privately what its schema leaves open" in said
    assert "the values of 'job'" in said


def test_standard_input_gives_the_same_stream_as_a_file(run, forest, tmp_path):
    by_file = run("stream", forest, *STREAM, "--seed", 3)
    piped = run("stream", "-", *STREAM, "--seed", 3, stdin="\ufeff" + forest.read_text().replace("\n", "\n\n", 3))
    assert piped.exit_code == 0
    assert piped.stdout == by_file.stdout
    assert piped.stderr == by_file.stderr
    table = read(forest, label="tree")
    np.savez(tmp_path / "t.npz", X=table.X.toarray(), y=table.y)
    options = [*STREAM[2:], "--seed", 3]
    assert run("stream", tmp_path / "t.npz", *options).stdout == by_file.stdout


def test_mistakes_are_shown_only_when_asked_for_and_predictions_unless_quiet(run, forest):
    shown = run("stream", forest, *STREAM, "--seed", 3)
    result = run("stream", forest, *STREAM, "--seed", 3, "--show-private", "--quiet")
    assert result.stdout == ""
    labels = [line.split(",")[-1] for line in forest.read_text().splitlines()[1:]]
    mistakes = sum(map(str.__ne__, shown.stdout.split(), labels))
    assert f"{mistakes:,} in 6,000 rows (not private)" in result.stderr
    assert "not private)" not in shown.stderr


def test_a_stream_with_a_window_goes_on_learning(run, refused, forest, tmp_path):
    kept = [*STREAM[:-4], "--epsilon", 50, "--step", "500", "--updates", 2, "--checkpoint", tmp_path / "c", "--window"]
    result = run("stream", forest, *kept)
    assert result.exit_code == 0
    assert "all updates are made" not in result.stderr
    resumed = dpfast.DPWinnowClassifier.resume(tmp_path / "c")
    assert resumed.updates_ > 2
    resumed.close()
    assert "was begun with window=True, this command says False" in refused("stream", forest, *kept[:-1])


def test_a_stream_goes_on_where_its_checkpoint_ends(run, refused, forest, tmp_path):
    kept = ["--checkpoint", tmp_path / "c", *STREAM]
    first = run("stream", "-", *kept, stdin=part(forest, 0, 2000))
    assert "c: private, keep it from others" in first.stderr
    again = run("stream", forest, *kept)  # from the beginning: what was used is left out
    assert len(first.stdout.split()) == 2000
    assert len(again.stdout.split()) == 4000
    assert "6,000, of which 4,000 now" in again.stderr
    new = run("stream", "-", *kept, "--new-rows", stdin=part(forest, 0, 700))
    assert len(new.stdout.split()) == 700
    assert "6,700, of which 700 now" in new.stderr
    assert dpfast.DPWinnowClassifier.resume(tmp_path / "c").rounds_ == 6700
    few = run("stream", forest, *kept)
    assert few.exit_code == 2
    assert "6,700 rows should be skipped, but there are only 6,000; see --new-rows" in few.stderr
    assert "begun with epsilon=1.0, this command says 2.0" in refused("stream", forest, *kept, "--epsilon", 2)
    assert "begun with classes=" in refused("stream", forest, *kept, "--classes", "oak,ash")
    (tmp_path / "c").write_bytes((tmp_path / "c").read_bytes()[:300])
    assert "cut short" in refused("stream", forest, *kept)


def test_a_checkpoint_counts_rows_and_not_lines(run, people, tmp_path):
    path, schema = people
    declared = Schema.from_file(schema)
    wide = Schema(
        [declared.columns[0], Category("job", ["clerk", "smith", "a\nb\nc"], nullable=True)], label=declared.label
    )
    wide.to_file(schema)
    lines = path.read_text().splitlines()
    lines[3] = '"a\nb\nc",no,30'
    path.write_text("\n".join(lines[:51]) + "\n")
    command = ["stream", path, "--schema", schema, "--epsilon", 1, "--checkpoint", tmp_path / "c", "--quiet"]
    assert "50" in run(*command).stderr
    path.write_text("\n".join(lines[:61]) + "\n")
    assert "60, of which 10 now" in run(*command).stderr
    model = dpfast.DPWinnowClassifier.resume(tmp_path / "c")
    assert model.rounds_ == 60
    model.close()


def test_a_row_that_will_not_do_stops_a_stream_after_the_step_before_it(run, refused, forest, tmp_path):
    kept = ["--checkpoint", tmp_path / "c", *STREAM]
    bad = part(forest, 0, 1100) + "1,0,1,0,x,oak\n"
    result = run("stream", "-", *kept, "--out", tmp_path / "m.json", stdin=bad)
    assert result.exit_code == 2
    assert len(result.stdout.split()) == 1000
    assert "error: standard input: row 1101, column 'e' holds another value" in result.stderr
    assert dpfast.DPWinnowClassifier.resume(tmp_path / "c").rounds_ == 1000
    assert dpfast.load(tmp_path / "m.json")
    bad = part(forest, 0, 1100) + "1,0,1,0,1,ash\n"
    assert (
        "row 1101 has another label than the classes, which are oak, elm" in run("stream", "-", *kept, stdin=bad).stderr
    )
    assert "row 3 has 2 cells" in refused("stream", "-", *STREAM, stdin=part(forest, 0, 2) + "1,0\n")
    assert "there are no rows" in refused("stream", "-", *STREAM, stdin=part(forest, 0, 0))
    assert "must be two labels" in refused("stream", forest, *STREAM, "--classes", "oak")
    assert "--new-rows needs a --checkpoint" in refused("stream", forest, *STREAM, "--new-rows")
    assert "epsilon must be" in refused("stream", forest, *STREAM, "--epsilon", 0)


def test_a_stream_that_used_all_updates_says_so_and_goes_on_to_predict(run, forest, tmp_path):
    kept = ["--checkpoint", tmp_path / "c", *STREAM, "--updates", 1]
    result = run("stream", forest, *kept)
    assert result.exit_code == 0
    assert len(result.stdout.split()) == 6000
    assert "all updates are made" in result.stderr
    assert len(run("stream", forest, *kept, "--new-rows").stdout.split()) == 6000
    assert dpfast.DPWinnowClassifier.resume(tmp_path / "c").rounds_ == 12_000


def test_ctrl_c_ends_a_stream_that_waits_and_says_what_is_kept(forest, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    child, stdin, stdout, stderr = command_line.forked(["stream", "-", "--checkpoint", "c", *STREAM])
    with stdin, stdout, stderr:
        stdin.write(part(forest, 0, 1200))
        stdin.flush()
        shown = [stdout.readline() for _ in range(1000)]
        os.kill(child, signal.SIGINT)
        said = stderr.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130
    assert set(shown) <= {"oak\n", "elm\n"}
    assert "interrupted: the budget of the stream is spent; 1,000 rounds and " in said
    assert "of 20 updates are in c, and the same command continues after them" in said
    assert dpfast.DPWinnowClassifier.resume(tmp_path / "c").rounds_ == 1000


def test_an_interrupt_in_a_step_waits_until_it_is_kept_and_written(run, forest, tmp_path, monkeypatch):
    stream = dpfast.DPWinnowClassifier.stream

    def interrupted(*arguments, **options):
        signal.raise_signal(signal.SIGINT)
        return stream(*arguments, **options)

    monkeypatch.setattr(dpfast.DPWinnowClassifier, "stream", interrupted)
    result = run("stream", forest, *STREAM, "--checkpoint", tmp_path / "c", "--out", tmp_path / "m.json")
    assert result.exit_code == 130
    assert len(result.stdout.split()) == 500
    told = "the same command continues after them; the model is released and its budget spent; the complete model is in"
    assert f"{told} {tmp_path / 'm.json'}\n" in result.stderr
    assert dpfast.DPWinnowClassifier.resume(tmp_path / "c").rounds_ == 500
    result = run("stream", forest, *STREAM)
    assert (
        "interrupted: the stream ended after 500 rounds and 0 of 20 updates, and its budget is spent" in result.stderr
    )
    assert dpfast.load(result.stderr.split()[-1]).updates_ == 0
