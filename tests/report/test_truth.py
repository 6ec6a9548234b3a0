"""The sentences of a page are true: each is computed again from the model and a table."""

import re
from functools import cache
from html import unescape

import numpy as np
import pandas as pd
import pytest

import dpfast
from dpfast import report
from dpfast.cli.figures import figures, figures_to_keep
from dpfast.report.additive import COUNTED, PairTerm
from dpfast.report.effects import DrawnRows, importance_interval
from dpfast.report.panels import _held

pytestmark = pytest.mark.filterwarnings("ignore::dpfast.PrivacyWarning", "ignore::UserWarning")
LEARNERS = {
    "list": dpfast.DecisionListClassifier,
    "winnow": dpfast.DPWinnowClassifier,
    "halfspace": dpfast.HalfspaceClassifier,
    "boosted": dpfast.BoostedHalfspaceClassifier,
    "projected": dpfast.ProjectedHalfspaceClassifier,
    "net": dpfast.NetHalfspaceClassifier,
}
CASES = [
    (name, classes, epsilon)
    for k, name in enumerate(LEARNERS)
    for classes in (2, 4)
    for epsilon in ((0.3, 1.0, 8.0)[k % 3 :] + (0.3, 1.0, 8.0)[: k % 3])[: 2 if classes == 2 else 1]
    if classes == 2 or name in ("list", "halfspace", "boosted", "projected")
] + [("halfspace", 4, 0.3), ("list", 4, 8.0)]
N = 4000


@cache
def made(name, classes, epsilon):
    """A model of patients, of whom few die and two are lost, its page, its test part and the table."""
    rng = np.random.default_rng(len(name) + classes + round(10 * epsilon))
    age, gain = rng.integers(18, 95, N), np.where(rng.random(N) < 0.9, 0, np.rint(rng.lognormal(8, 1, N)))
    frame = pd.DataFrame(
        {"age": age, "gain": gain, "sex": rng.choice(["F", "M"], N), "ward": rng.choice(list("ABCD"), N)}
    )
    y = np.where((age > 60) ^ (rng.random(N) < 0.1), "rehab", "home")
    if classes == 4:
        y = np.where(frame.ward == "D", "moved", y)
    y = np.where(rng.random(N) < 0.007, "died", y).astype(object)
    y[:2] = "lost"
    person, test = rng.integers(0, 3000, N), rng.random(N) < 0.4
    test = test[person]
    model = LEARNERS[name](epsilon, random_state=0)
    if name == "net":
        model.set_params(margin=0.5, n_components=2)
    if classes == 2:
        declared, rows = ["home", "rehab"], np.isin(y, ["home", "rehab"])
    else:
        declared, rows = ["died", "home", "moved", "rehab"], np.array([each != "lost" for each in y])
    units = {"units": person[~test & rows], "rows_per_unit": 2} if epsilon == 1.0 else {}
    model.fit(frame[~test & rows], y[~test & rows].astype(str), classes=declared, **units)
    model._facts["sensitive"] = ["sex", "race"]
    shown = figures(model, frame[test], y[test].astype(str), rng)
    model.figures_ = figures_to_keep(shown, "the test part, which the model never saw")
    return model, report.page(model), frame, y.astype(str), test, rows


def text_of(page):
    return unescape(re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", re.sub("<(style|svg).*?</(style|svg)>", "", page))))


def lines_of(page, name):
    """The cells of the lines of a table, by its name."""
    table = re.search(f'aria-label="{name}">(.*?)</table>', page, re.DOTALL)[1]
    rows = re.findall("<tr[^>]*>(.*?)</tr>", table, re.DOTALL)[1:]
    return [[text_of(cell).strip() for cell in re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]


def interval(text):
    """The value and the interval of a share as a page has it."""
    return [float(each) / 100 for each in re.fullmatch(r"(\S+)% \((\S+)% to (\S+)%\)", text).groups()]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_columns_are_ranked_and_the_figures_are_those_of_the_model(case):
    model, page, frame, *_ = made(*case)
    found = model.terms() if hasattr(model, "terms") else []
    rows = DrawnRows(model, found)
    lines = lines_of(page, "the columns by their effects")
    assert sorted(line[0] for line in lines) == sorted(frame.columns)
    sizes = [float(line[1].rstrip("%")) for line in lines]
    assert sizes == sorted(sizes, reverse=True)
    names = [column.name for column in model.encoder_.schema_.columns]
    before = model.predict(rows.table)
    likely = model.predict_proba(rows.table) if hasattr(model, "predict_proba") else None
    for line in lines:
        at = [
            j
            for j, name in enumerate(
                column.name for column in model.encoder_.schema_.columns for _ in column.code_columns()
            )
            if name == line[0]
        ]
        codes = [np.roll(each, 1) if j in at else each for j, each in enumerate(rows.codes)]
        table = rows._table(codes)
        changed = (model.predict(table) != before).mean()
        assert f"{changed:.1%}" in line
        if likely is not None:
            assert f"{np.abs(model.predict_proba(table) - likely).sum(axis=1).mean() / 2:.1%}" == line[1]
        own = [term for term in found if term.column.name == line[0] and not isinstance(term, PairTerm)]
        if own:
            term = max(own, key=lambda term: term.importance)
            low, high = importance_interval(term)
            assert f"{term.importance:.2f} ({low:.2f} to {high:.2f})" in line
            assert ("not clear of noise" in line) == (not any(each.clear for each in own))
    assert len(names) == len(lines)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_another_value_of_a_sensitive_column_does_is_said_and_true_of_every_row(case):
    model, page, frame, *_ = made(*case)
    told = text_of(page)
    assert "race : is no column of the model: no prediction depends on it" in told
    line = re.search(r" sex : (another value.*?) Which other", told)[1]
    switched = frame.assign(sex=np.where(frame.sex == "F", "M", "F"))
    changed = float(re.search(r"predicted class of (\S+)% of", line)[1]) / 100
    assert changed == pytest.approx((model.predict(frame) != model.predict(switched)).mean(), abs=0.15)
    if moved := re.search(r"moves their probabilities by (\S+)% in the mean, and .* of them by ([0-9.]+)%", line):
        chances = [model.predict_proba(each) for each in (frame, switched)]
        apart = np.abs(chances[1] - chances[0]).sum(axis=1) / 2
        assert float(moved[1]) / 100 == pytest.approx(apart.mean(), abs=0.1)  # rows are drawn by noisy shares
        assert float(moved[1]) <= float(moved[2])
    if most := re.search(r"moves the score by more than ([0-9.]+)\.", line):
        scores = [model.model_.row_scores(model._read_rows(each)) for each in (frame, switched)]
        assert np.abs(scores[1] - scores[0]).max() <= float(most[1]) + 1e-6


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_table_by_class_has_every_row_and_its_intervals_hold(case):
    model, page, frame, y, test, _ = made(*case)
    guess, true = model.predict(frame[test]), y[test]
    lines = lines_of(page, "the classes")
    assert [line[0] for line in lines] == [*model.classes_.tolist(), "any other label"]
    shares, held = [], []
    for line in lines:
        of = true == line[0] if line[0] != "any other label" else ~np.isin(true, model.classes_)
        said = guess == line[0]
        wanted = [of.mean(), said.mean(), (said & of).sum() / max(1, of.sum()), (said & of).sum() / max(1, said.sum())]
        for text, truth in zip(line[2:], wanted, strict=True):
            if text.endswith(")"):
                value, low, high = interval(text)
                held.append(low - 0.001 <= truth <= high + 0.001)
                if text is line[2]:
                    shares.append(value)
            else:
                assert text in ("never", "-", "too few rows to say")
    assert np.mean(held) >= 0.8
    if len(shares) == len(lines):
        assert sum(shares) == pytest.approx(1, abs=0.35 if case[2] < 1 else 0.1)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_class_that_is_never_predicted_is_said_first_and_no_other_is(case):
    model, page, frame, _, test, _ = made(*case)
    first = text_of(page.split("</p>")[0])
    guess = model.predict(frame[test])
    for label in model.classes_.tolist():
        said = np.count_nonzero(guess == label)
        if not said:
            assert label in first.split("This page was written")[1]
    if most := re.search(r"for ([0-9,]+) at most", first):
        names = re.search(r"\. ([^.]*?) may never be predicted", first.replace(dpfast.__version__, ""))[1]
        for label in re.split(", | or ", names):
            assert np.count_nonzero(guess == label) <= int(most[1].replace(",", "")) + 30 / case[2]
    for label in re.findall(r"No rule predicts (\S+):", first):
        assert label not in model.predict(frame).tolist()


@pytest.mark.parametrize("case", [case for case in CASES if case[0] == "list"], ids=str)
def test_a_rule_that_is_not_grey_decides_rows_and_a_bold_count_is_no_noise(case):
    model, page, frame, _, test, rows = made(*case)
    part = model._read_rows(frame[~test & rows])
    from dpfast.kernels import bits
    from dpfast.learners.lists.rule import decided

    decides = [len(bits.nonzero(mask)) for mask in decided(model.model_.rules, part)]
    told = re.findall(r"<tr( class=pale)?><td>(?:if|else if|else)</td>.*?</tr>", page)
    assert len(told) == len(decides)
    assert all(pale or count for pale, count in zip(told, decides, strict=True))
    assert "on rows that it learned from" not in page or "Whether its probabilities come true, on" in page


@pytest.mark.parametrize("case", [case for case in CASES if case[0] == "halfspace"], ids=str)
def test_what_is_said_of_a_run_of_values_holds_over_all_of_it_and_axes_end_where_rows_end(case):
    model, _, frame, *_ = made(*case)
    codes = np.asarray(model.encoder_.transform(frame)).astype(int)
    columns = [*model.encoder_.get_feature_names_out()]
    for term in model.terms():
        if isinstance(term, PairTerm):
            continue
        runs = {}
        for first in range(term.column.size):
            for last in range(first, term.column.size):
                runs.setdefault(term._run(first, last), (first, last))
        for sign, end in zip((1, -1), term.ends(), strict=True):
            if end == "-":
                continue
            name, _, told = end.rpartition(" (")
            ends = sorted(float(each) for each in told.rstrip(")").split(" to "))
            weights = term.weights[term.groups] if name == "rarer values" else None
            first, last = runs[name]
            weights = term.weights[first : last + 1] if weights is None else weights
            assert (sign * weights > 0).all()
            assert ends[0] - 0.006 <= weights.min() <= weights.max() <= ends[-1] + 0.006
        held = np.bincount(codes[:, columns.index(term.column.name)], minlength=term.column.size)
        if term.column.ordered and term.clear:
            first, last = _held(term)
            hidden = held[:first], held[last + 1 : term.column.bins]
            for rows in hidden:  # few rows, or what noise and a threshold of as many deviations hide
                noise = 2 * COUNTED * term.count_noise * N * np.sqrt(len(rows))
                assert rows.sum() <= max(N / 20 / case[2], noise)
            if term.count_noise < 0.01:
                assert last - np.flatnonzero(held[: term.column.bins])[-1] <= 1


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_rest_of_a_page_is_what_the_fit_was_given(case):
    epsilon = case[2]
    model, page, frame, y, test, rows = made(*case)
    told = text_of(page)
    learned = f"{np.count_nonzero(~test & rows):,} rows of"
    if model.privacy_.unit == "person":
        assert model._facts["rows"] is None
        assert "The number of rows is private." in told
        learned = f"{model._facts['persons']:,} persons and"
    assert f"Learned from {learned} 4 columns by {type(model).__name__}." in told
    accuracy = (model.predict(frame[test]) == y[test]).mean()
    value, low, high = re.search(r"right predictions (\S+)% (\S+)% to (\S+)%", told).groups()
    assert float(low) - 2 <= 100 * accuracy <= float(high) + 2
    assert float(low) <= float(value) <= float(high)
    assert "Protects nobody." in told  # of a seed
    assert ("of one person" in str(model.privacy_) or "person" in str(model.privacy_)) == (epsilon == 1.0)
    for share in re.findall(r"other cells: about (\S+)% of the rows", told):
        assert float(share) > 0
    assert "for this model alone" in told
    assert "Nobody has stated: purpose, users" in told


def test_an_interval_of_an_importance_holds_what_it_is_without_noise(rng):
    """Of a column of noise alone, and of one with an effect."""
    from dpfast.tables.cells import CodeColumn

    column, shares = CodeColumn("x", values=tuple("abcdef")), np.array([0.3, 0.3, 0.2, 0.1, 0.05, 0.05])
    for effect in (0.0, 0.3, 2.0):
        truth = effect * np.array([1, -1, 0.5, -1, 2, -2])
        truth -= truth @ shares
        held = 0
        for _ in range(400):
            weights = truth + rng.normal(size=6) * 0.4
            low, high = importance_interval(report.Term(column, "yes", weights, np.full(6, 0.4), shares))
            held += low <= shares @ np.abs(truth) <= high
        assert held >= 380


def test_labels_that_were_not_found_are_a_line_and_the_pairs_that_trees_ask_are_counted(rng):
    frame = pd.DataFrame({"a": rng.normal(size=N), "b": rng.choice(list("xyz"), N), "c": rng.normal(size=N)})
    y = np.where(frame.a > 0, "p", "q").astype(object)
    y[:600] = [f"rare {k % 200}" for k in range(600)]
    model = dpfast.HalfspaceClassifier(2.0, trees=20, random_state=0).fit(frame, y)
    page = report.page(model)
    assert model.classes_.tolist() == ["p", "q"]
    (line,) = [each for each in lines_of(page, "the classes") if each[0] == "any other label"]
    _, low, high = interval(line[2].split(", learned as ")[0])
    assert low <= 600 / N <= high
    asked = [{model.trees_.orders[order][0] for order in tree} for tree in model.trees_.asked]
    for first, second, trees in re.findall(r"(\w) and (\w) \(in (\d+)\)", text_of(page)):
        assert sum({"abc".index(first), "abc".index(second)} <= each for each in asked) == int(trees)
    assert "Most trees ask together: " in page


def test_shares_of_classes_that_were_not_measured_are_those_of_the_rows_that_a_model_learned_from(rng):
    y = rng.choice(3, 4000, p=[0.7, 0.2, 0.1])
    frame = pd.DataFrame({"x": y + rng.normal(size=4000)})
    page = text_of(report.page(dpfast.HalfspaceClassifier(5.0).fit(frame, y, classes=[0, 1, 2])))
    told = [float(each) for each in re.findall(r"declared about (\S+)%", page)]
    assert told == pytest.approx(np.bincount(y) / 40, abs=1.5)
    assert "A share with about is of the rows that it learned from, with noise." in page
