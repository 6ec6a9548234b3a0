"""The sentences of a page are true: each is computed again from the model and a table."""

import re
from dataclasses import replace
from functools import cache
from html import unescape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import dpfast
from dpfast import report
from dpfast.base.others import share_in_words
from dpfast.cli.figures import figures, figures_to_keep
from dpfast.cli.groups import By, _of_numbers
from dpfast.report.additive import COUNTED, PairTerm
from dpfast.report.classes import hardly_predicted
from dpfast.report.drawing import Scale
from dpfast.report.effects import DrawnRows, importance_interval
from dpfast.report.panels import _codes_present, _panel
from dpfast.tables.cells import CodeColumn
from dpfast.tables.encoding import encode

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
    model = LEARNERS[name](epsilon, random_state=6)  # noise of others hides a rare value or an end in a case or two
    if name == "net":
        model.set_params(margin=0.5, n_components=2)
    if classes == 2:
        declared, rows = ["home", "rehab"], np.isin(y, ["home", "rehab"])
    else:
        declared, rows = ["died", "home", "moved", "rehab"], np.array([each != "lost" for each in y])
    units = {"units": person[~test & rows], "rows_per_unit": 2} if epsilon == 1.0 else {}
    model.fit(frame[~test & rows], y[~test & rows].astype(str), classes=declared, **units)
    model._facts["sensitive"] = ["sex", "race"]
    part = SimpleNamespace(table=lambda schema: encode(frame[test], schema))
    of_model = {name: By(name).groups(model, part) for name in ("sex", "ward", "age")}
    by = [By(name, tuple(values), cells) for name, (values, cells) in of_model.items()]
    shown = figures(model, frame[test], y[test].astype(str), rng, epsilon=2 * epsilon, by=by)
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
    rows = DrawnRows(model, model.terms() if hasattr(model, "terms") else [])
    of_drawn = (model.predict(rows.switched("sex")) != model.predict(rows.table)).mean()
    assert changed == pytest.approx(of_drawn, abs=0.0006)
    if rows.weighed:  # rows drawn by equal shares of all values are not like those of the table
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


def of_group(name, column, others):
    """Which cells are of a group, by its name on a page: "B", "44 to 62", "at most 43", "above 62" or any other."""
    if name == "any other value":
        return ~np.logical_or.reduce([np.zeros(len(column), bool), *(of_group(each, column, ()) for each in others)])
    if not pd.api.types.is_numeric_dtype(column):
        return np.array(column == name)
    words = name.split()
    low = float(words[1]) if words[0] == "above" else -np.inf if words[0] == "at" else float(words[0]) - 0.5
    return np.array((column > low) & (column <= (np.inf if words[0] == "above" else float(words[-1]))))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_figures_of_groups_hold_and_their_pictures_say_the_same(case):
    model, page, frame, y, test, _ = made(*case)
    rows, true, guess = frame[test].reset_index(drop=True), y[test], model.predict(frame[test])
    said = model.predict_proba(frame[test])[:, -1] if hasattr(model, "predict_proba") else None
    held = []
    for column in ("sex", "ward", "age"):
        table = re.search(f'aria-label="figures by {column}">(.*?)</table>', page, re.DOTALL)[1]
        head = [text_of(each).strip() for each in re.findall("<th scope=.col.>(.*?)</th>", table)]
        lines = {line[0]: dict(zip(head, line, strict=True)) for line in lines_of(page, f"figures by {column}")}
        told = {}
        for name, cells in lines.items():
            of = of_group(name, rows[column], [each for each in lines if each != name])
            number = float(re.search(r"([0-9,]+) rows", cells["rows"])[1].replace(",", ""))
            assert number == pytest.approx(of.sum(), abs=120 / case[2])
            truth = {"accuracy": (guess == true)[of].mean() if of.any() else None}
            truth |= {f"recall of {label}": _share(guess == label, of & (true == label)) for label in model.classes_}
            if said is not None and len(model.classes_) == 2:
                came = (true == model.classes_[-1])[of].mean() if of.any() else None
                truth["mean probability said"] = said[of].mean() if of.any() else None
                truth["share that came true"] = came
                truth["came true minus said"] = None if came is None else came - said[of].mean()
            for measure, text in cells.items():
                if measure not in (column, "rows") and text.endswith(")"):
                    _, low, high = interval(text)
                    assert high - low <= (1.0 if "minus" in measure else 0.5) + 0.002
                    held.append(truth[measure] is None or low - 0.001 <= truth[measure] <= high + 0.001)
            told[name] = cells["accuracy"]
        picture = unescape(re.search(f'aria-label="accuracy by {column}: (.*?)"', page)[1])
        for each in picture.split("; "):
            name, _, value = each.rpartition(": ")
            text = told.pop(name)
            assert ("too few" in value) == ("too few" in text)
            assert "too few" in value or abs(float(value[:-1]) - float(text.split("%")[0])) <= 0.55
        assert not told
    assert not held or np.mean(held) >= 0.8


def _share(of, among):
    return of[among].mean() if among.any() else None


@pytest.mark.parametrize("case", CASES, ids=str)
def test_probabilities_came_true_as_often_as_a_page_says_and_on_the_rows_that_it_names(case):
    model, page, frame, y, test, rows = made(*case)
    if "Whether its probabilities come true" not in page:
        assert not hasattr(model, "predict_proba") or case[0] in ("halfspace", "boosted", "projected")
        return
    learned = "Whether its probabilities come true, on rows that it learned from" in page
    part = ~test & rows if learned else test
    assert ("share of rows that it learned from" in page) == learned
    chances, guess, true = model.predict_proba(frame[part]), model.predict(frame[part]), y[part]
    lines = lines_of(page, "probabilities")
    picture = unescape(re.search(r'aria-label="([^"]*: said [^"]*)"', page)[1])
    assert picture == "; ".join(f"{name}: said {said}, came true {share}" for name, said, share in lines)
    points = model._reporter.reliability() if learned else model.figures_["reliability"]
    assert len(points) == len(lines)
    held = []
    for point, (label, said, share) in zip(points, lines, strict=True):
        if learned:
            of = (guess == label) & (np.abs(chances.max(axis=1) - point.chance) < 1e-9)
            chance = point.chance
        else:
            middles = [each["said"] for each in points]
            half = min(np.diff(middles), default=1.0) / 2
            chance = point["said"]
            of = np.abs(chances[:, 1] - chance) <= half
        assert said == f"{chance:.0%}"
        if share != "too few rows to say" and of.any():
            _, low, high = interval(share)
            held.append(low - 0.01 <= (true == label)[of].mean() <= high + 0.01)
    assert held.count(False) <= max(1, len(held) // 4)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_the_table_of_columns_says_is_so(case):
    model, page, frame, _, test, rows = made(*case)
    part = frame[~test & rows]
    lines = lines_of(page, "the columns")
    assert [line[0] for line in lines] == [*frame.columns]
    slack = 0.02 + 0.06 / case[2]
    for name, holds, known in lines:
        assert known.startswith("discovered")
        cells, other = part[name], re.search(r"; other cells: about (\S+)% of the rows", holds)
        lost = float(other[1]) / 100 if other else 0.0
        if numbers := re.match(r"(?:whole )?numbers from (\S+) to (\S+?)( and beyond)?, (\d+) bins", holds):
            low, high = map(float, numbers.groups()[:2])
            (column,) = [each for each in model.encoder_.schema_.code_columns if each.name == name]
            assert int(numbers[4]) == column.bins
            assert ((cells < low) | (cells > high)).mean() <= max(slack, lost + slack) or numbers[3]
        elif "around" in holds or "too few rows" in holds:
            continue
        else:
            values = [each for each in holds.split(";")[0].split(", ") if not each.startswith("other")]
            assert {*values} <= {*cells}
            assert (~cells.isin(values)).mean() == pytest.approx(lost, abs=slack)


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
            first, last = _codes_present(term)
            hidden = held[:first], held[last + 1 : term.column.bins]
            for rows in hidden:  # few rows, or what noise hides, and two thresholds of as many deviations: of counts
                noise = 3 * COUNTED * term.count_noise * N * np.sqrt(len(rows))  # that are smooth, and of their sums
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


def test_only_bins_of_the_known_range_are_drawn_where_no_rows_are_clear_and_groups_are_runs_of_these():
    column = CodeColumn("age", low=16.0, high=95.0, edges=(-64.0, -16.0, 0.0, 16.0, 50.0, 95.0, 256.0, 1024.0))
    assert column.bins_within() == range(3, 6)
    weights, shares = np.linspace(-1, 1, column.size), np.full(column.size, 1 / column.size)
    noisy = report.Term(column, "yes", weights, np.full(column.size, 0.01), shares, 0.2)
    assert _codes_present(noisy) == (3, 5)
    assert [*range(column.bins)] == [*replace(column, high=16.0).bins_within()]
    names, of_code = _of_numbers(column, None)
    assert names == ["at most 16", "above 16, at most 50", "above 50"]
    assert of_code.tolist() == [0, 0, 0, 0, 1, 2, 2, 2, 2]
    picture = _panel(noisy, Scale.of([weights]), 2, True, True)
    assert "-64" not in picture
    assert "1024" not in picture
    assert 'aria-label="age adds something, and no value that enough rows have is named"' in picture


def test_pictures_of_weights_have_tables_and_a_share_that_rounds_to_nothing_is_an_upper_end(rng):
    y = rng.integers(0, 5, 1000)
    X = np.column_stack([y == k for k in range(5)]) + rng.normal(size=(1000, 5)) / 4
    model = dpfast.BoostedHalfspaceClassifier(5.0, schema="vectors", random_state=0).fit(X, y, classes=range(5))
    page = report.page(model)
    for k in range(5):
        lines = lines_of(page, f"weights for {k}")
        order = np.argsort(-np.abs(model.coef_[k]), kind="stable")
        assert lines == [[f"x{j}", f"{model.coef_[k][j]:+.3g}"] for j in order]
        assert f'aria-label="the largest weights for {k}: x{order[0]}: {model.coef_[k][order[0]]:+.3g}, ' in page
    assert share_in_words((0.004, 0.0, 0.012)) == "at most 1% of the rows"
    assert share_in_words((0.16, 0.15, 0.17)) == "about 16% of the rows (15 to 17)"
    few = [{"label": str(k), "measure": "predicted", "value": 0, "low": 0, "high": 7 + k} for k in range(2)]
    model.figures_ = {"classes": few}
    (told,) = hardly_predicted(model, None)
    assert told.startswith("0 or 1 may never be predicted: of the measured rows each of them was for 8 at most")
