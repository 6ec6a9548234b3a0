"""The learner of the gallery, a stranger's: what it inherits reads every kind of table and keeps every promise."""

import ast
import doctest
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from people import SCHEMA, people
from sklearn.utils.estimator_checks import check_estimator

import dpfast
from dpfast.audit import replay
from dpfast.files import FileParts

EXAMPLE = Path(__file__).parents[2] / "docs/examples/plot_14_own_learner.py"


@pytest.fixture(scope="module")
def bayes():
    """The class, of a module that other processes could import."""
    source, module = EXAMPLE.read_text(encoding="utf-8").split("\n# %%\n")[0], types.ModuleType("own_learner")
    sys.modules["own_learner"] = module
    exec(compile(source.replace("import matplotlib.pyplot as plt\n", ""), EXAMPLE, "exec"), vars(module))
    yield module.PrivateNaiveBayes
    del sys.modules["own_learner"]


@pytest.fixture(scope="module")
def frame():
    return people(400)


def parted(frame):
    return frame.drop(columns="buys"), frame["buys"]


def test_its_class_and_model_have_at_most_45_lines_and_no_underscore_name():
    source = EXAMPLE.read_text(encoding="utf-8")
    body = source[source.index("@dataclass") : source.index("\n# %%\n")].strip()
    assert len(body.splitlines()) <= 45
    names = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(ast.parse(body))}
    assert not [name for name in names if name.startswith("_")]


def test_it_reads_a_frame_a_file_and_a_cluster_alike(bayes, frame, tmp_path):
    distributed, dataframe = pytest.importorskip("distributed"), pytest.importorskip("dask.dataframe")
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        tables = [parted(frame), (FileParts(tmp_path / "t.csv"),), (dataframe.from_pandas(frame, npartitions=3),)]
        models = [bayes(random_state=0, schema=SCHEMA).fit(*table) for table in tables]
    assert all(np.array_equal(model.counts_, models[0].counts_) for model in models)
    assert models[0].score(*parted(frame)) > 0.7


def test_it_needs_no_schema_and_names_what_it_found(bayes, frame):
    model = bayes(random_state=0).fit(*parted(frame), classes=["no", "yes"])
    assert [*model.encoder_.schema_.names] == ["age", "pay", "job", "smokes"]
    assert str(model.privacy_).startswith("(1.0, 1e-06)-DP, replace one row; 2 of 2 releases used")


def test_it_counts_persons_and_charges_a_budget_once(bayes, frame):
    budget = dpfast.accounting.Budget(2.0, 1e-5, unit="person")
    units = np.arange(len(frame)) // 2
    model = bayes(random_state=0, schema=SCHEMA, budget=budget).fit(*parted(frame), units=units, rows_per_unit=2)
    assert model.privacy_.unit == "person"
    assert budget.charges == ((1.0, 1e-6),)
    with pytest.raises(dpfast.accounting.BudgetExceeded):
        model.set_params(epsilon=2.5).fit(*parted(frame), units=units, rows_per_unit=2)
    assert len(budget.charges) == 1


def test_it_comes_back_from_a_file(bayes, frame, tmp_path):
    model = bayes(random_state=0, schema=SCHEMA).fit(*parted(frame))
    model.save(tmp_path / "bayes.json")
    again = dpfast.load(tmp_path / "bayes.json")
    assert type(again) is bayes
    assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert again.privacy_ == model.privacy_


def test_scikit_learn_finds_nothing_wrong_with_it(bayes):
    check_estimator(bayes(random_state=0), on_skip=None)


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("schema", [SCHEMA, None])
def test_a_row_moves_its_histogram_by_nearly_what_was_charged_and_no_more(bayes, schema, relation):
    frame = people(12)
    other = frame.iloc[:-1] if relation == "add-remove" else frame.copy()
    if relation == "replace":
        changed = [120 - frame["age"].iloc[-1], 100.0, "clerk" if frame["job"].iloc[-1] != "clerk" else "smith"]
        other.iloc[-1] = [*changed, not frame["smokes"].iloc[-1], "no" if frame["buys"].iloc[-1] == "yes" else "yes"]
    model = bayes(neighbors=relation, schema=schema)
    found = replay(model, parted(frame), parted(other), classes=["no", "yes"], seed=0)
    assert not found.refusal
    assert (0.9 if schema else 0.8) <= found.ratio <= 1 + 1e-6
    assert not found.differences


# ---- the page --------------------------------------------------------------------------------------------------------

PAGES = [EXAMPLE.parents[1] / f"guides/{name}.md" for name in ("own_learner", "own_learner_rounds")]


@pytest.mark.parametrize("name", ["MostFrequent", "AveragedPerceptron"])
def test_the_learners_of_the_page_pass_their_checks(name):
    """They are of a module, whose classes can be pickled. The page itself shows the check of the first."""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    examples = doctest.DocTestParser().get_examples(text)
    module = sys.modules["page"] = types.ModuleType("page")
    for example in examples:
        if example.source.startswith(("from ", "import ", "def ", "class ", "@")):
            exec(example.source, vars(module))
    if name == "AveragedPerceptron":
        dpfast.testing.check_private_estimator(module.AveragedPerceptron())
    check_estimator(getattr(module, name)(random_state=0), on_skip=None)
    del sys.modules["page"]


def test_the_naive_bayes_of_the_gallery_passes_its_checks(bayes):
    dpfast.testing.check_private_estimator(bayes())
