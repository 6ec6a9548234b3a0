"""Tables of real columns, from the file to the predictions."""

import gc
import json
import warnings

import numpy as np
import pytest

import dpfast
from dpfast.base.fitting import Charge
from dpfast.files import readers

BOOST = ["--model", "boost", "--epsilon", "1"]
WINNOW = ["--model", "winnow", "--epsilon", "1"]
NAMES = ["age", "bmi", "dose [mg]", "smokes"]


@pytest.fixture
def rows(rng):
    """Rows of real columns, the last one of 0 and 1, and labels that depend on two of them."""
    X = np.round(np.c_[rng.uniform(-1, 1, (2500, 3)), rng.integers(0, 2, 2500)], 4)
    return X, np.where(X[:, 0] > X[:, 1], "ill", "well")


@pytest.fixture
def people(rows, tmp_path):
    X, y = rows
    lines = [",".join([*map(str, x), label]) for x, label in zip(X.tolist(), y, strict=True)]
    path = tmp_path / "people.csv"
    path.write_text("\n".join([",".join([*NAMES, "outcome"]), *lines]) + "\n")
    return path


@pytest.fixture
def uncharged(monkeypatch):
    """Fail should anything be charged."""
    monkeypatch.setattr(Charge, "pay", lambda *_: pytest.fail("the budget was charged"))


@pytest.mark.parametrize(
    "options",
    [
        [*BOOST, "--numbers"],
        ["--model", "projected", "--epsilon", 1, "--numbers"],
        ["--model", "net", "--epsilon", 1, "--components", 2],
    ],
    ids=["boost", "projected", "net"],
)
def test_real_columns_are_fitted_saved_and_predicted(run, people, rows, tmp_path, options):
    X, y = rows
    out = tmp_path / "m.json"
    result = run("fit", people, *options, "--label", "outcome", "--seed", 3, "--out", out)
    assert result.exit_code == 0
    assert result.stderr.startswith("note: The rows were read as vectors of numbers")
    assert "people.csv: 2,500 rows, 4 features of numbers, labels ill, well" in result.stdout
    assert "Each feature adds its weight times its value." in result.stdout
    assert "if above 0, speaks for" in result.stdout
    assert "test accuracy  " in result.stdout
    model = dpfast.load(out)
    assert model.feature_names_in_.tolist() == NAMES
    del model.feature_names_in_
    predicted = run("predict", out, people, "--label", "outcome")
    assert predicted.stderr == f"{people}: 2,500 rows read, 2,500 labels written\n"
    assert predicted.stdout.split() == model.predict(X.astype(np.float32)).tolist()
    if "net" not in options:
        assert np.mean(predicted.stdout.split() == y) > 0.9


@pytest.mark.parametrize("model", ["halfspace", "boost", "projected"])
def test_a_file_whose_rows_suffice_is_surveyed_for_a_model_of_numbers(run, people, rows, tmp_path, model):
    pandas = pytest.importorskip("pandas")
    pandas.read_csv(people).to_parquet(tmp_path / "people.parquet")
    few = tmp_path / "few.csv"
    few.write_text("".join(people.read_text().splitlines(keepends=True)[:41]))
    fit = ["--model", model, "--epsilon", 1, "--label", "outcome", "--seed", 3]
    for path in (people, tmp_path / "people.parquet"):
        result = run("fit", path, *fit, "--out", tmp_path / "m.json")
        assert result.exit_code == 0
        assert result.stderr.count("The table was surveyed like a frame, as its rows suffice") == 1
        assert "read as vectors" not in result.stderr
        learned = dpfast.load(tmp_path / "m.json")
        assert any("surveyed like a frame" in each for each in learned.notes_)
        assert learned.encoder_.schema_.names == NAMES
        predicted = run("predict", tmp_path / "m.json", path, "--label", "outcome").stdout.split()
        assert np.mean(np.array(predicted) == rows[1]) > 0.9
        told = json.loads(run("fit", path, *fit, "--json").stdout)
        assert any("surveyed like a frame" in each for each in told["notes"])
    for table, other in ((few, []), (people, ["--numbers"]), (people, ["--neighbors", "add-remove"])):
        assert "note: The rows were read as vectors" in run("fit", table, *fit, *other, "--classes", "ill,well").stderr


def test_every_kind_of_file_gives_the_same_model(run, people, rows, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, y = rows
    np.savez(tmp_path / "people.npz", X=X.astype(np.float32), y=y, feature_names=np.array(NAMES))
    pandas.read_csv(people).to_parquet(tmp_path / "people.parquet", row_group_size=700)

    def released(path, *label):
        command = ["fit", path, *BOOST, "--numbers", "--seed", 3, "--test-share", 0, *label]
        command += ["--out", tmp_path / "m.json"]
        assert run(*command).exit_code == 0
        document = json.loads((tmp_path / "m.json").read_text())
        assert document["card"]["public"].pop("label", None) == (label[1] if label else None)
        return {name: entry for name, entry in document.items() if name != "digest"}

    expected = released(people, "--label", "outcome")
    assert expected["table"] == {"values": "numbers", "threshold": None}
    assert released(tmp_path / "people.npz") == expected
    assert released(tmp_path / "people.parquet", "--label", "outcome") == expected


def test_a_table_in_a_scratch_file_gives_the_same_model(run, people, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "people.parquet"
    pandas.read_csv(people).to_parquet(path, row_group_size=700)
    shown = []
    for memory in (1, 0):
        command = ["fit", path, *BOOST, "--label", "outcome", "--seed", 3, "--out", tmp_path / "m.json"]
        result = run(*command, "--show-private", "--memory", memory)
        assert result.exit_code == 0
        predicted = run("predict", tmp_path / "m.json", path, "--label", "outcome").stdout
        shown.append((result.stdout.split("time")[0], predicted, (tmp_path / "m.json").read_text()))
    assert shown[0] == shown[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('a,"b, c",y\n0.5,"1.5",u\n\n-1e-3,,v\n', "messy.csv: line 4, column 'b, c' is empty"),
        (
            'a,"b, c",y\n0.5,"1.5",u\n\n-1e-3,red,v\n',
            "messy.csv: line 4, column 'b, c' holds another value; features are finite",
        ),
        ("a,b,y\n0.5,NaN,u\n1,1,v\n", "messy.csv: line 2, column 'b' holds another value"),
        ("a,b,y\n0.5,1\n1,1,v\n", "messy.csv: line 2 has 2 cells, the header row 3"),
        ("a,b,class\n0.5,1,u\n1,1,v\n", "messy.csv: there is no column 'y' to take labels from; there is a, b, class"),
        ("a,b,y\n0.5,1,u\n1,1,u\n", "messy.csv: all rows have the label 'u'"),
    ],
)
def test_a_messy_file_of_numbers_is_refused_before_anything_is_charged(refused, uncharged, tmp_path, text, said):
    (tmp_path / "messy.csv").write_text(text)
    assert said in refused("fit", tmp_path / "messy.csv", *BOOST, "--label", "y")


def test_infinity_in_a_parquet_file_is_refused_before_anything_is_charged(refused, uncharged, people, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path, frame = tmp_path / "people.parquet", pandas.read_csv(people)
    frame.loc[2111, "bmi"] = np.inf
    frame.to_parquet(path, row_group_size=700)
    said = refused("fit", path, *BOOST, "--numbers", "--label", "outcome")
    assert "people.parquet: row 2112, column 'bmi' holds another value; features are finite numbers" in said


def test_a_table_of_bits_is_packed_if_that_is_declared(run, refused, trees, people, tmp_path):
    fit = ["fit", trees, *BOOST, "--label", "tree", "--seed", 1, "--out", tmp_path / "m.json"]

    def read_as(*options):
        shown = run(*fit, *options).stdout
        return shown.splitlines()[0], json.loads((tmp_path / "m.json").read_text())["table"]["values"]

    assert read_as("--bits")[1] == read_as("--threshold", 0.5)[1] == "bits"
    assert "600 rows, 3 features, labels elm, oak" in read_as("--bits")[0]
    assert "3 features of numbers" in read_as("--numbers")[0]
    assert read_as("--numbers")[1] == "numbers"
    assert len(run("predict", tmp_path / "m.json", trees, "--label", "tree").stdout.split()) == 600
    assert "line 2, column 'age' holds" in refused("fit", people, *BOOST, "--label", "outcome", "--bits")
    for other in (["--model", "decision-list", "--epsilon", 1], [*BOOST, "--weak-learner", "stump"], WINNOW):
        assert "it reads bits" in refused("fit", trees, *other, "--label", "tree", "--numbers")
        assert "column 'age' holds" in refused("fit", people, *other, "--label", "outcome")
    assert "--bits is not for --model winnow" in refused("fit", trees, *WINNOW, "--bits", "--feature-range", "0,1")
    assert "--numbers keeps them" in refused("fit", trees, *BOOST, "--numbers", "--threshold", 0.5)


def test_a_sparse_file_of_numbers_is_fitted_and_predicted(run, rows, tmp_path):
    X, y = rows
    path, out = tmp_path / "people.svm", tmp_path / "m.json"
    signs = np.where(y == "ill", 1, -1)
    path.write_text("".join(f"{sign} 1:{x[0]} 2:{x[1]} 4:{x[3]}\n" for x, sign in zip(X, signs, strict=True)))
    for options in (BOOST, [*WINNOW, "--feature-range", "-1,1"]):
        for columns in ([], ["--columns", 4]):
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                result = run("fit", path, *options, "--seed", 2, "--out", out, *columns)
            assert result.exit_code == 0
            assert "4 features" in result.stdout
            assert ("number of columns was read off the rows" in result.stderr) == (not columns)
        predicted = np.array(run("predict", out, path).stdout.split())
        assert np.mean(predicted == signs.astype(str)) > 0.8


def test_columns_are_declared_for_svmlight_files_only(refused, people, tmp_path):
    assert "--columns is for svmlight files" in refused("fit", people, *BOOST, "--label", "outcome", "--columns", 4)
    path = tmp_path / "t.svm"
    path.write_text("1 1:1\n-1 3:1\n" * 20)
    assert "beyond the 2 columns that were declared" in refused("fit", path, *BOOST, "--numbers", "--columns", 2)


def test_winnow_reads_real_columns_in_a_declared_range(run, refused, uncharged, people, rows, tmp_path, monkeypatch):
    X, y = rows
    fit = ["fit", people, *WINNOW, "--label", "outcome", "--out", tmp_path / "m.json"]
    said = refused(*fit, "--feature-range", "-0.5,0.5")
    assert "features are numbers declared to lie in [-0.5, 0.5]; see --clip" in said
    assert "people.csv: line " in said
    assert "must be two numbers, the lower first, as in -1,1; got '1,-1'" in refused(*fit, "--feature-range", "1,-1")
    for wrong in ("1", "0,inf", "a,b", "0,1,2"):
        assert "must be two numbers" in refused(*fit, "--feature-range", wrong)
    assert "--clip needs a --feature-range" in refused(*fit, "--clip")
    assert "give one of the two" in refused(*fit, "--feature-range", "-1,1", "--threshold", 0)
    monkeypatch.undo()
    result = run(*fit, "--feature-range", "-2,2", "--seed", 1)
    assert "Each feature, brought from [-2, 2] to [-1, 1], adds its weight times its value." in result.stdout
    assert run(*fit, "--feature-range", "-0.5,0.5", "--clip", "--seed", 1).exit_code == 0
    model = dpfast.load(tmp_path / "m.json")
    assert (model.feature_range, model.out_of_range) == ([-0.5, 0.5], "clip")
    predicted = run("predict", tmp_path / "m.json", people, "--label", "outcome").stdout.split()
    del model.feature_names_in_
    assert predicted == model.predict(X.astype(np.float32)).tolist()
    assert np.mean(predicted == y) > 0.8


def test_predict_reads_what_the_model_was_fitted_on(run, refused, trees, people, tmp_path):
    model = tmp_path / "m.json"
    ones = tmp_path / "ones.csv"
    ones.write_text(",".join(NAMES) + "\n1,0,0,1\n")
    outside = tmp_path / "outside.csv"
    outside.write_text(",".join(NAMES) + "\n1,0,0,1\n1,7.5,0,1\n")
    run("fit", people, *WINNOW, "--label", "outcome", "--feature-range", "-1,1", "--out", model)
    loaded = dpfast.load(model)
    del loaded.feature_names_in_
    assert run("predict", model, ones).stdout.split() == loaded.predict(np.array([[1.0, 0, 0, 1]])).tolist()
    assert "line 3, column 'bmi' holds another value; features are numbers declared" in refused(
        "predict", model, outside
    )
    assert "--numbers and --bits are for models that do not know it" in refused("predict", model, ones, "--bits")
    run("fit", people, *BOOST, "--label", "outcome", "--threshold", 0, "--out", model)
    by_default = run("predict", model, people, "--label", "outcome").stdout
    assert by_default == run("predict", model, people, "--label", "outcome", "--threshold", 0).stdout
    assert "m.json has 0.0" in refused("predict", model, people, "--label", "outcome", "--threshold", 1)
    run("fit", trees, *BOOST, "--label", "tree", "--bits", "--out", model)
    (tmp_path / "half.csv").write_text("wet,cold [C],windy\n1,0.5,0\n")
    assert "column 'cold [C]' holds another value; features are 0 or 1" in refused(
        "predict", model, tmp_path / "half.csv"
    )


def test_a_model_that_was_saved_in_python_is_told_what_to_read(run, refused, people, rows, tmp_path):
    X, y = rows
    model, table = tmp_path / "m.json", [people, "--label", "outcome"]
    dpfast.BoostedHalfspaceClassifier(random_state=1, schema="vectors").fit(X, y).save(model)
    assert len(run("predict", model, *table).stdout.split()) == 2500
    fitted = dpfast.DPWinnowClassifier(random_state=1, schema="vectors").fit(X, y)
    fitted.save(model)
    assert "features are 0 or 1" in refused("predict", model, *table)
    assert run("predict", model, *table, "--numbers").stdout.split() == fitted.predict(X.astype(np.float32)).tolist()
    fitted.set_params(feature_range=(-2, 2)).fit(X, y).save(model)
    ones = tmp_path / "ones.csv"
    ones.write_text("a,b,c,d\n1,0,0,1\n0,1,0,0\n")
    assert run("predict", model, ones).stdout.split() == fitted.predict([[1.0, 0, 0, 1], [0, 1, 0, 0]]).tolist()
    signs = dpfast.BitMatrix(X, threshold=0)
    fitted.fit(signs, y).save(model)
    assert run("predict", model, *table, "--threshold", 0).stdout.split() == fitted.predict(signs).tolist()


def test_a_stream_of_real_columns_goes_on_under_the_same_terms(run, refused, people, tmp_path):
    lines = people.read_text().splitlines(keepends=True)
    options = ["--label", "outcome", "--classes", "ill,well", "--epsilon", 1, "--checkpoint", tmp_path / "c"]
    ranged = [*options, "--feature-range", "-1,1"]
    first = run("stream", "-", *ranged, "--step", 500, stdin="".join(lines[:1501]))
    assert first.exit_code == 0
    assert len(first.stdout.split()) == 1500
    again = run("stream", people, *ranged, "--out", tmp_path / "m.json")
    assert len(again.stdout.split()) == 1000
    assert "adds its weight times its value" in again.stderr
    assert dpfast.load(tmp_path / "m.json").feature_names_in_.tolist() == NAMES
    assert len(run("predict", tmp_path / "m.json", people, "--label", "outcome").stdout.split()) == 2500
    begun = "begun with feature_range=[-1.0, 1.0], this command says [-2.0, 2.0]"
    gc.disable()  # a refusal must close the checkpoint by itself
    try:
        assert begun in refused("stream", people, *options, "--feature-range", "-2,2", "--new-rows")
        dpfast.DPWinnowClassifier.resume(tmp_path / "c").close()
    finally:
        gc.enable()
    other = "bmi,age,dose [mg],smokes,outcome\n0.5,0,0,1,ill\n"
    said = run("stream", "-", *ranged, "--new-rows", stdin=other)
    assert (said.exit_code, said.stdout.count("\n")) == (0, 1), said.stderr  # columns are known by their names
    said = run("stream", "-", *ranged, "--new-rows", stdin=lines[0] + "0.5,3,0,1,ill\n")
    assert (
        "standard input: row 1, column 'bmi' holds another value; features are numbers declared to lie in"
        in said.stderr
    )


def test_a_table_of_bits_gives_a_decision_list_what_it_always_did(run, trees, model, tmp_path):
    X, y, _ = readers.read_table(trees, label="tree")
    fit = ["fit", trees, "--model", "decision-list", "--epsilon", 1, "--label", "tree", "--seed", 1, "--test-share", 0]
    assert run(*fit, "--out", tmp_path / "m.json").exit_code == 0
    rng = dpfast.random.generator(1)
    rng.random(len(y))  # of the test part
    expected = dpfast.DecisionListClassifier(1.0, random_state=rng).fit(X, y)
    assert dpfast.load(tmp_path / "m.json").rules_ == expected.rules_
