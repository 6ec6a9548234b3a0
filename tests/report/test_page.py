import re
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import dpfast
from dpfast import report
from dpfast.learners.halfspaces.steepness import log_odds
from dpfast.report.additive import beside_each_other, constants, lost_in_noise
from dpfast.report.drawing import Axis, Scale, steps
from dpfast.report.text import summary
from dpfast.tables import Boolean, Category, CodeTable, Label, Numeric, Schema
from dpfast.tables.cells import CodeColumn

SCHEMA = Schema(
    [
        Numeric("age <years>", 0, 80, edges=8, nullable=True),
        Category("job", ["clerk", "smith & sons"]),
        Boolean("member"),
    ],
    label="buys",
)


class Elements(HTMLParser):
    """Whether elements close in order, and the text between them."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def additive(rng):
    columns = SCHEMA.code_columns
    codes = np.stack([rng.integers(column.size, size=800) for column in columns], axis=1)
    table = CodeTable(codes, [column.size for column in columns], names=SCHEMA.names, columns=columns)
    model = dpfast.HalfspaceClassifier(epsilon=4, schema=SCHEMA, random_state=0)
    return model.fit(table, codes[:, 0] > 4, classes=[False, True])


def test_terms_are_the_weights_of_the_codes_but_for_a_constant(additive):
    found = additive.terms()
    age = found[0]
    assert age.column.name == "age <years>"
    assert age.weights @ age.shares == pytest.approx(0)
    assert age.importance == pytest.approx(np.abs(age.weights) @ additive.code_shares_[:9])
    assert np.diff(age.weights) == pytest.approx(np.diff(additive.coef_[0, :9]))
    assert age.weights[7] > age.weights[0]
    assert "missing" in str(age)
    assert [term.importance for term in found] == sorted((term.importance for term in found), reverse=True)


def test_a_column_of_one_value_moves_no_score(rng):
    schema = Schema([Numeric("x", -3, 3, edges=8), Category("site", ["A", "B", "C"])], label=Label("y", [0, 1]))
    x = rng.normal(size=2000)
    columns = {"x": x, "site": ["A"] * 2000, "y": (x + rng.normal(size=2000) > 0).astype(int)}
    model = dpfast.HalfspaceClassifier(1.0, schema=schema, random_state=0).fit(columns)
    x, site = model.terms()
    assert (x.column.name, site.column.name, site.importance, site.clear) == ("x", "site", 0.0, False)
    assert np.ptp(site.weights) > 0  # noise of the values that no row has
    assert site.extremes() == (0, 0)
    assert "The model also uses these columns, whose effects are not clear of noise: site." in report.page(model)


@pytest.mark.parametrize("size", [2, 20, 200])
def test_a_column_of_noise_alone_is_rarely_clear_however_many_codes_it_has(rng, size):
    """Numbers of hundreds of bins were clear once, as some bin is beyond two deviations of its noise nearly always."""
    column, noise = CodeColumn("x", values=tuple(map(str, range(size)))), np.ones(size)

    def drawn():
        return report.Term(column, "yes", rng.normal(size=size), noise, np.full(size, 1 / size))

    assert sum(drawn().clear for _ in range(1000)) < stats.binom.isf(1e-6, 1000, 0.1)
    weights = np.linspace(-1, 1, size) * 0.1
    weights[0] = 5.0
    term = report.Term(column, "yes", weights, noise, np.full(size, 1 / size))
    assert term.clear
    assert term.extremes() == (0, 1)


def test_columns_of_chance_alone_are_rarely_clear_however_many_there_are(rng):
    """Of 1,500 columns of noise, 90 were named as clear of it; with many rows for their epsilon nearly all were."""
    for epsilon in (1.0, 30.0):
        found = 0
        for seed in range(3):
            table = {f"x{j}": rng.choice([*"abcdefgh"], 1500) for j in range(20)} | {"z": rng.normal(size=1500)}
            model = dpfast.HalfspaceClassifier(epsilon, random_state=seed).fit(table, rng.integers(0, 2, 1500))
            found += len({*table} - {*lost_in_noise(model.terms())})
        assert found <= 2


def test_of_columns_that_are_clear_few_are_noise_and_of_noise_alone_rarely_any_is_clear(rng):
    columns, noise, shares = (
        [CodeColumn(f"x{j}", values=tuple("abc")) for j in range(12)],
        np.ones(3),
        np.full(3, 1 / 3),
    )

    def clear(weights):
        each = zip(columns, weights, strict=True)
        all_terms = beside_each_other([report.Term(column, 1, row, noise, shares) for column, row in each])
        return np.array([term.clear for term in all_terms])

    alone = [rng.normal(size=(12, 3)) for _ in range(100)]
    assert sum(clear(weights).any() for weights in alone) < stats.binom.isf(1e-6, 100, 0.1)
    found = sum(clear(weights + np.outer(np.arange(12) < 6, [5.0, -5.0, 0.0])) for weights in alone)
    assert found[:6].sum() > 550
    assert found[6:].sum() < 0.1 * found.sum()


def test_a_page_says_what_a_step_of_the_score_does_to_probabilities(additive):
    """It told odds, of which nobody knew what they do to a probability."""
    told = {0.5: "57%", 1.0: "65%", 2.0: "81%", -1.0: "35%"}
    for step, chance in told.items():
        assert f"{special.expit(log_odds(np.array(step))):.0%}" == chance
        assert f"{step:+g} means about {chance}".replace("-", "\N{MINUS SIGN}") in report.page(additive)
    at = np.array([0.01, 9.0])
    slopes = (log_odds(at + 0.001) - log_odds(at)) / 0.001
    assert slopes == pytest.approx([0.5, 1.0], abs=0.01)
    assert "a bent function of it: near a score of 0 they move half as much" in report.page(additive)
    assert "bent function" in dpfast.HalfspaceClassifier.terms.__doc__


def test_a_step_from_even_odds_is_that_of_the_predictions_with_weights_of_classes_too(rng):
    schema = Schema([Numeric("x", 0, 1, edges=4)], label=Label("y", [0, 1]))
    columns = {"x": rng.random(800), "y": (rng.random(800) < 0.3).astype(int)}
    model = dpfast.HalfspaceClassifier(4.0, class_weight={0: 0.3, 1: 0.7}, schema=schema, random_state=0).fit(columns)
    cells = {"x": np.array([0.1, 0.4, 0.6, 0.9])}
    before = model.decision_function(cells)[0]
    low, high = -9.0, 9.0
    for _ in range(60):  # the constant that makes the first row one of even odds
        model.model_ = replace(model.model_, shift=np.array([(low + high) / 2]))
        low, high = (low, *model.model_.shift) if model.decision_function(cells)[0] > 0 else (*model.model_.shift, high)
    model.model_ = replace(model.model_, shift=model.model_.shift + 0.5)
    assert before != 0
    assert model.predict_proba(cells)[0, 1] == pytest.approx(model.model_.chance_from_even(0.5))


@pytest.mark.parametrize("kept", [True, False], ids=["shares", "no shares"])
@pytest.mark.parametrize("interactions", [0, 1])
def test_terms_and_their_constant_make_the_score_of_which_log_odds_are_a_bent_function(rng, kept, interactions):
    model, columns = paired(rng, interactions), SCHEMA.code_columns
    if not kept:
        del model.code_shares_
    codes = np.stack([rng.integers(column.size, size=50) for column in columns], axis=1)
    table = CodeTable(codes, [column.size for column in columns], names=SCHEMA.names, columns=columns)
    score = np.full(50, constants(model)[0])
    for term in model.terms():
        if isinstance(term, report.PairTerm):
            (pair,) = model.interactions_
            places = [np.array(of)[codes[:, j]] for j, of in zip(pair.columns, pair.groups, strict=True)]
            score += term.map[places[0], places[1]]
        else:
            score += term.weights[codes[:, SCHEMA.names.index(term.column.name)]]
    rounded = len(model.terms()) / 2 * max(np.ptp(term.weights) for term in model.terms()) / 2**24
    rounded += np.abs(score).max() / 2**23  # of floats of 32 bits
    assert model.decision_function(table) == pytest.approx(log_odds(score), abs=rounded)
    chance = f"{special.expit(log_odds(constants(model)[0])):.0%}"
    assert f"by itself about {chance} for <strong>True</strong>" in report.page(model)
    assert "bent function" in str(model)


def test_a_page_of_three_classes_says_what_a_step_means(rng):
    job, label = rng.choice(["clerk", "smith"], 3000), rng.integers(0, 3, 3000)
    label[job == "clerk"] = 2
    model = dpfast.HalfspaceClassifier(4.0, random_state=0).fit(pd.DataFrame({"job": job}), label, classes=[0, 1, 2])
    assert "Where all classes are equally likely (33%), +0.5 means about " in report.page(model)
    table = pd.DataFrame({"job": ["clerk"]})
    level = {"coef": 0 * model.coef_, "intercept": 0 * model.intercept_}
    model.model_ = replace(model.model_, shift=np.array([0.0, 1.0, 0.0]), **level)
    chance = model.predict_proba(table)[0, 1]
    assert chance == pytest.approx(model.model_.chance_from_even(1.0))
    assert f"+1 means about {chance:.0%}" in report.page(model)


def test_a_page_shows_where_the_rows_lie_and_names_its_axes(additive):
    additive.coef_noise_ = 0 * additive.coef_noise_
    page = report.page(additive)
    assert page.count('class="rows"') == 1
    assert page.count(">adds to the score</text>") == 3
    assert "privacy noise and the choice of the rows" in page
    assert re.search(r">clerk, \d+%<", page)
    heights = re.search(r'<path d="([^"]+)" class="rows"', page)[1]
    up = np.array([114 - float(each) for each in re.findall(r"V([0-9.]+)h", heights)]).reshape(8, 6)
    shares = additive.terms()[0].shares if additive.terms()[0].column.ordered else additive.terms()[1].shares
    assert up.max() == pytest.approx(16, abs=0.1)
    assert up.mean(axis=1) / up.sum() * 6 == pytest.approx(shares[:8] / shares[:8].sum(), abs=0.01)
    del additive.code_shares_
    page = report.page(additive)
    assert 'class="rows"' not in page
    assert "where the rows lie" not in page


def test_rows_in_a_bin_of_a_single_number_are_drawn():
    """Most amounts are 0, whose bin has no width on the axis: they were drawn nowhere."""
    axis = Axis(np.array([0.0, 0.0, 0.5, 1.0, 1.0]), [], "gain")
    shares = np.array([0.7, 0.1, 0.1, 0.1])
    drawn = steps(axis, np.zeros(4), None, None, (), Scale.of([np.ones(1)]), "", shares)
    heights = re.search(r'<path d="([^"]+)" class="rows"', drawn)[1]
    up = np.array([114 - float(each) for each in re.findall(r"V([0-9.]+)h", heights)])
    assert up[0] == 16
    assert up[-1] == pytest.approx(16 * (0.1 + 0.1 / 24) / (0.7 + 0.1 / 24), abs=0.1)
    assert up[1:-1] == pytest.approx(16 * 0.1 / 24 / (0.7 + 0.1 / 24), abs=0.1)


def test_a_page_ranks_all_columns_also_those_that_are_not_clear_of_noise(additive):
    """Columns that were "too noisy to draw" were in no ranking, though the model used them."""
    page = report.page(additive)
    told = re.search('aria-label="the columns by their effects">.*?</table>', page)[0]
    names = re.findall(r'<th scope="row">(.*?)</th>', told)
    assert {each.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") for each in names} == {*SCHEMA.names}
    importance = {term.column.name: f"{term.importance:.2f} (" for term in additive.terms()}
    assert all(each in told for each in importance.values())
    assert told.count("not clear of noise") == len(lost_in_noise(additive.terms())) == 2
    additive.coef_noise_ = 0 * additive.coef_noise_
    assert "not clear of noise" not in report.page(additive)


def test_a_column_of_words_and_numbers_is_explained(rng):
    mixed = np.where(rng.random(4000) < 0.4, "trace", rng.normal(50, 9, 4000).round(1).astype(str))
    y = np.where(mixed == "trace", "yes", "no")
    model = dpfast.HalfspaceClassifier(8.0, random_state=0).fit(pd.DataFrame({"dose": mixed}), y, classes=["no", "yes"])
    page = report.page(model)
    assert "dose (text)" in page
    assert "The cells of <strong>dose</strong> are of more than one kind" in page


def test_a_weight_that_is_clear_of_noise_is_named_before_a_larger_one_that_is_not():
    column = CodeColumn("x", values=("a", "b", "c", "d"))
    weights, noise = np.array([2.0, 1.0, -2.0, -1.0]), np.array([2.0, 0.1, 2.0, 0.1])
    assert report.Term(column, "yes", weights, noise, np.full(4, 0.25)).extremes() == (1, 3)
    assert report.Term(column, "yes", weights, None, np.full(4, 0.25)).extremes() == (0, 2)


def test_extremes_are_codes_with_enough_rows():
    column = CodeColumn("x", edges=(1.0, 2.0, 3.0), low=0.0, high=4.0)
    shares, weights = np.array([0.5, 0.488, 0.01, 0.002]), np.array([1.0, -1.0, 5.0, -5.0])
    assert report.Term(column, "yes", weights, None, shares, count_noise=0.01).extremes() == (0, 1)
    assert report.Term(column, "yes", weights, None, shares).extremes() == (2, 3)


def test_a_model_of_noise_alone_says_so(rng):
    schema = Schema([Numeric("x", 0, 1)], label=Label("y", [0, 1]))
    columns = {"x": rng.random(500), "y": rng.integers(0, 2, 500)}
    model = dpfast.HalfspaceClassifier(0.1, schema=schema, random_state=0).fit(columns)
    assert "no column is clear of noise; noise alone may have made these:" in str(model)
    assert ">The model uses these columns, whose effects are not clear of noise: " in report.page(model)


def test_groups_of_rare_values_share_a_line_and_count_together(rng):
    town, y = rng.choice(["Graz", "Wien"], 2000), rng.integers(0, 2, 2000)
    town = np.where(np.arange(2000) < 300, np.char.add("village ", np.arange(2000).astype(str)), town)
    frame = pd.DataFrame({"town": town, "code": [f"c{k}" for k in range(2000)]})
    model = dpfast.HalfspaceClassifier(2.0, random_state=0).fit(frame, np.where(town == "Wien", 1, y), classes=[0, 1])
    town, code = sorted(model.terms(), key=lambda term: -len(term.told))
    names = {town.column.meaning(k) for k in town.told}
    assert {"Graz", "Wien"} <= names <= {"Graz", "Wien", "missing"}
    assert "group" not in "".join(town.column.meaning(k) for k in town.extremes())
    assert (town.clear, code.clear) == (True, False)
    page = report.page(model)
    assert re.search(r"Values that too few rows have to be named, if there are any, share 64 groups", page)
    assert not re.search("group [0-9]+ of 64", page + summary(model))


@pytest.mark.parametrize("learner", [dpfast.BoostedHalfspaceClassifier, dpfast.DPWinnowClassifier])
def test_weights_whose_noise_is_not_known_are_no_findings(rng, learner):
    """A page of labels by chance listed the largest weights, and said nowhere that they may be noise."""
    frame = pd.DataFrame({"age": rng.integers(18, 90, 500), "town": rng.choice(["Graz", "Wien"], 500)})
    page = report.page(learner(random_state=0).fit(frame, rng.integers(0, 2, 500), classes=[0, 1]))
    assert "chance alone may have made any of them, even the largest." in page


def test_shares_of_rows_are_saved_and_wrong_ones_refused(additive, tmp_path):
    additive.save(tmp_path / "model.json")
    restored = dpfast.load(tmp_path / "model.json")
    assert [term.importance for term in restored.terms()] == [term.importance for term in additive.terms()]
    additive.code_shares_ = -additive.code_shares_
    additive.save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="shares of rows"):
        dpfast.load(tmp_path / "model.json")
    del additive.code_shares_  # files of earlier versions have none
    assert additive.terms()[0].shares == pytest.approx(1 / 9)


def test_a_page_is_whole_and_needs_nothing_else(additive, tmp_path):
    additive.report(tmp_path / "model.html")
    text = (tmp_path / "model.html").read_text(encoding="utf-8")
    page = Elements(text)
    assert page.open == []
    words = " ".join(page.text)
    for word in ("age <years>", "smith & sons", "(4.0, 1e-06)-DP, replace one row", "does not cover", "seed"):
        assert word in words
    assert not re.search(r'(src|href)="', text)
    assert "nan" not in text.lower()
    assert len(text) < 200_000


def test_a_page_shows_the_parameters_of_its_claim_whatever_became_of_them(additive):
    before = report.page(additive)
    epsilon = additive.epsilon
    try:
        assert report.page(additive.set_params(epsilon=0.001)) == before
    finally:
        additive.set_params(epsilon=epsilon)


def test_the_claim_is_said_in_words():
    claim, said = dpfast.accounting.PrivacySpend, report.claim_in_words
    assert said(claim(1, 1e-6, "replace")) == (
        "If any one row had been different, every possible result would have been at most 2.72 times as likely (plus a "
        "chance of 0.000001). So somebody who knows all other rows and two equally likely candidates for this one "
        "guesses right from the model with a chance of at most 73.2%; a coin has 50%."
    )
    assert said(claim(0.5, 0, "add-remove")) == (
        "If any one row had been added or left out, every possible result would have been at most 1.65 times as likely."
        " So somebody who knows all other rows, and to whom this one is as likely in the table as not, guesses right "
        "from the model with a chance of at most 62.3%; a coin has 50%."
    )
    assert "If any one person had had different rows" in said(claim(1, 0, "replace", unit="person", rows_per_unit=3))
    assert "at most 2,990 times as likely. " in said(claim(8, 0, "replace"))
    assert "chance of at most 99.9665%;" in said(claim(8, 0, "replace"))
    assert "chance of at most 100%;" in said(claim(20, 0, "replace"))
    assert "times as likely" in said(claim(1000, 0, "replace"))
    assert "can undo the noise" in said(claim(1, 0, "replace", reproducible=True))


def test_a_page_says_first_what_is_protected(rng):
    schema = Schema([Numeric("x", 0, 1, edges=4)], label=Label("y", [0, 1]))
    columns = {"x": rng.random(60), "y": rng.integers(0, 2, 60)}

    def told(**more):
        model = dpfast.HalfspaceClassifier(1.0, schema=schema, **more)
        return report.page(model.fit(columns))

    assert "<strong>Protects single rows, not persons who have several.</strong>" in told()
    assert "<strong>Protects nobody.</strong>" in told(random_state=0)
    model = dpfast.HalfspaceClassifier(1.0, schema=schema).fit(columns)
    model.privacy_ = replace(model.privacy_, unit="person", rows_per_unit=5)
    assert "<strong>Protects persons (at most 5 rows each).</strong>" in report.page(model)


def test_a_page_has_a_date_and_a_version(additive):
    days = {datetime.now(UTC).date()}
    page = report.page(additive)
    days.add(datetime.now(UTC).date())
    assert any(f"written on {day} by dpfast {dpfast.__version__}." in page for day in days)


@pytest.mark.parametrize("delta", [1.0000004e-6, 1e-6, 3.3333333e-7, 1e-300, 0.1 + 0.2])
def test_the_claim_in_words_is_never_less_than_the_claim(delta, rng):
    for epsilon in [
        1e-9,
        0.001,
        0.004,
        0.1 + 0.2,
        0.7,
        2.0,
        4.60517,
        5.0,
        300.0,
        699.9,
        700.1,
        1e300,
        *rng.uniform(0, 9, 50),
    ]:
        words = report.claim_in_words(dpfast.accounting.PrivacySpend(float(epsilon), delta, "replace"))
        told = re.fullmatch(r".*at most (\S+) times as likely \(plus a chance of (\S+)\)\..*at most (\S+)%;.*", words)
        factor, more, guess = told.groups()
        odds = Decimal(epsilon).exp() if epsilon < 700 else Decimal(10) ** 300
        assert Decimal(guess) >= min(Decimal(100), 100 * (odds + Decimal(delta)) / (odds + 1) - Decimal("1e-20"))
        assert Decimal(guess) <= 100 * (odds + Decimal(delta)) / (odds + 1) + Decimal("0.1001")
        assert Fraction(more) >= max(Fraction(delta), Fraction(repr(delta)))
        assert float(more) <= delta * (1 + 1e-5)
        if factor.startswith("e^"):
            assert Fraction(factor[2:]) >= Fraction(epsilon)
        else:
            factor = factor.replace(",", "")
            assert Decimal(factor) >= Decimal(epsilon).exp()
            assert Decimal(factor) <= Decimal(epsilon).exp() * Decimal("1.011")


def test_facts_that_were_found_are_not_called_declared(rng, tmp_path):
    schema = Schema([Numeric("x", nullable=True), Category("c"), Numeric("z", 0, 1)], label=Label("y", [0, 1]))
    table = {"x": rng.lognormal(3, 1, 3000), "c": rng.choice(["u", "v"], 3000), "z": rng.random(3000)}
    model = dpfast.HalfspaceClassifier(4.0, schema=schema, random_state=0).fit(table | {"y": rng.integers(0, 2, 3000)})
    assert model.encoder_.found_ == {"x": ["low", "high", "edges"], "c": ["values"]}
    model.save(tmp_path / "m.json")
    for each in (model, dpfast.load(tmp_path / "m.json")):
        page = report.page(each)
        assert "What was declared or discovered about the table" in page
        assert "discovered: low, high, edges" in page
        assert page.count("discovered: ") == 2


def test_lists_and_plain_halfspaces_have_pages_too():
    mushroom = dpfast.load_dataset("mushroom")
    for model in (dpfast.DecisionListClassifier(random_state=0), dpfast.BoostedHalfspaceClassifier(random_state=0)):
        assert "sk-top-container" in model._repr_html_()  # as scikit-learn shows what is not fitted
        model.fit(mushroom.data, mushroom.target)
        page = Elements(model._repr_html_())
        assert page.open == []
        assert "edible" in " ".join(page.text)
        assert set(model._repr_mimebundle_()) == {"text/plain", "text/html"}


def paired(rng, interactions=1):
    """A model of a table whose label depends on two columns together."""
    columns = SCHEMA.code_columns
    codes = np.stack([rng.integers(column.size, size=3000) for column in columns], axis=1)
    table = CodeTable(codes, [column.size for column in columns], names=SCHEMA.names, columns=columns)
    model = dpfast.HalfspaceClassifier(4.0, schema=SCHEMA, interactions=interactions, random_state=0)
    return model.fit(table, (codes[:, 0] > 3) ^ (codes[:, 1] > 0), classes=[False, True])


def test_pairs_of_columns_have_terms_maps_and_lines(rng):
    model = paired(rng)
    (pair,) = [term for term in model.terms() if isinstance(term, report.PairTerm)]
    assert pair.column.name == "age <years> and job"
    assert pair.map.shape == (8, 3)
    assert pair.column.meaning(1 + 3 * 7) == "missing; smith & sons"
    assert pair.sides[0].meaning(0) == "at most 10"
    assert pair.map[0, 0] < 0 < pair.map[0, 1]
    text = model.privacy_ and report.page(model)
    Elements(text)
    assert "age &lt;years&gt; and job" in text
    assert text.count('fill-opacity="') == 24
    assert "age <years> and job" in summary(model)


def test_a_pair_of_columns_is_drawn_as_a_map(rng):
    pytest.importorskip("matplotlib").use("agg")
    figure = dpfast.plot.terms(paired(rng))
    assert [len(axes.images) for axes in figure.axes].count(1) == 1


def test_a_model_without_a_schema_has_no_terms():
    mushroom = dpfast.load_dataset("mushroom")
    model = dpfast.BoostedHalfspaceClassifier(random_state=0).fit(mushroom.data, mushroom.target)
    with pytest.raises(ValueError, match="schema"):
        report.terms(model)


def test_pictures_are_drawn(additive):
    pytest.importorskip("matplotlib").use("agg")
    from dpfast import metrics, plot

    figure = plot.terms(additive)
    titles = [axes.get_title() or axes.get_title("left") for axes in figure.axes]
    assert titles[:3] == [term.column.name for term in report.terms(additive)]
    assert {axes.get_ylabel() or axes.get_xlabel() for axes in figure.axes[:3]} == {"adds to the score"}
    mushroom = dpfast.load_dataset("mushroom")
    model = dpfast.DecisionListClassifier(random_state=0).fit(mushroom.data, mushroom.target)
    assert len(plot.rules(model).axes[0].get_yticklabels()) == len(model.rules_)
    y, score = np.arange(400) % 2 == 0, np.linspace(0, 1, 400)
    assert plot.roc(metrics.roc(y, score, epsilon=1, random_state=0)).axes
    assert plot.privacy(model.privacy_).axes
    assert plot.calibration(metrics.calibration(y, score, epsilon=1, random_state=0)).axes


def test_a_page_shows_how_often_what_a_model_says_came_true(rng):
    X = rng.random((4000, 6)) < 0.5
    y = np.where(rng.random(4000) < 0.2 + 0.6 * X[:, 2], "yes", "no")
    models = {
        "levels": dpfast.BoostedHalfspaceClassifier(4.0, n_rounds=10, probability_share=0.2, random_state=0),
        "labels": dpfast.FiniteClassLearner(4.0, hypotheses="features", probability_share=0.2, random_state=0),
        "rules": dpfast.DecisionListClassifier(4.0, random_state=0),
    }
    for name, model in models.items():
        found = model.fit(X, y)._reporter.reliability()
        assert found
        for each in found:
            assert 0 <= each.share <= 1
            assert each.low - 0.15 < each.chance < each.high + 0.15
            if name != "levels":
                assert each.what in ("yes", "no")
        page = model._repr_html_()
        assert "Whether its probabilities come true" in page
        assert page.count("<circle") == len(found)
    plain = dpfast.BoostedHalfspaceClassifier(4.0, n_rounds=10, random_state=0).fit(X, y)
    assert plain._reporter.reliability() == []
    assert "come true" not in plain._repr_html_()


def test_a_page_says_what_is_predicted_how_well_and_from_how_many_rows(additive, tmp_path):
    page = report.page(additive)
    assert "Predicts buys: False or True" in page
    assert "Learned from 800 rows of 3 columns" in page
    assert "was not measured" in page
    share = {"value": 0.75, "low": 0.7, "high": 0.8}
    additive.figures_ = {
        "test": {"of": "the test part"},
        "accuracy": share,
        "largest class": share | {"value": 0.6, "label": "<no>"},
        "AUC": share,
        "reliability": [
            {"said": 0.1, "value": 0.2, "low": 0.05, "high": 0.3},
            {"said": 0.9, "value": 0.5, "low": 0.0, "high": 1.0},
        ],
        "rows": {"value": 1234, "low": 1234, "high": 1234},
        "confusion": [
            {"label": label, "of": of, "value": 10 * (label == of) - 1, "low": 0.0, "high": 12.4}
            for of in ("False", "True")
            for label in ("False", "True")
        ],
    }
    additive.save(tmp_path / "model.json")
    for model in (additive, dpfast.load(tmp_path / "model.json")):
        words = " ".join(Elements(report.page(model)).text)
        for told in ("75.0% 70.0% to 80.0%", "always saying <no> would be right for 60.0%", "rows that it never saw"):
            assert told in words
        assert "Measured with noise on 1,234 rows, the test part." in words
        assert "class of the row predicted False predicted True False 9 (0 to 12) 0 (0 to 12) True 0 (0 to 12)" in words
        assert report.page(model).count('class="mark vague"') == 1
        assert "the dot is hollow" in words
    additive.figures_["rows"] |= {"high": 1300.0}
    assert "on about 1,234 rows" in report.page(additive)
    hidden = dpfast.HalfspaceClassifier(neighbors="add-remove", schema=SCHEMA, n_rounds=2, random_state=0)
    table = {"age <years>": [1.0, 2.0] * 50, "job": ["clerk"] * 100, "member": [True, False] * 50, "buys": [0, 1] * 50}
    page = report.page(hidden.fit(table, classes=[0, 1]))
    assert "The number of rows is private." in page
    assert "100 rows" not in page


def test_panels_have_one_scale_and_a_band_of_noise(additive):
    page = report.page(additive)
    axes = re.findall(r'<path d="(M46 [^"]+)" class="rule"', page)
    assert len(set(axes)) == 1
    assert 'class="band"' in page
    before = additive.coef_noise_
    additive.coef_noise_ = np.full_like(before, 1e6)  # all of it may be noise
    assert ">The model uses these columns, whose effects are not clear of noise: " in report.page(additive)
    additive.coef_noise_ = before


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 1000.0])
def test_the_band_of_noise_is_that_of_models_of_labels_by_chance(rng, epsilon):
    """Where rows say nothing the weights are noise alone: their size is that of the band, or less by what is mended.

    The noise is that of the mechanism, or with a large epsilon that of the choice of rows, which no band had once.
    """
    schema = Schema([Numeric(f"x{j}", 0, 1, edges=16) for j in range(4)], label=Label("y", [0, 1]))
    squares = variances = 0.0
    for seed in range(4):
        columns = {f"x{j}": rng.random(4000) for j in range(4)} | {"y": rng.integers(0, 2, 4000)}
        given = {"schema": schema, "interactions": 0, "trees": 0, "random_state": seed}
        model = dpfast.HalfspaceClassifier(epsilon, **given).fit(columns)
        weights = model.coef_.reshape(4, 16)
        squares += np.square(weights - weights.mean(axis=1, keepdims=True)).sum()
        variances += np.square(model.coef_noise_).sum()
    assert 0.5 < squares / variances < 1.5


def test_the_noise_of_coefficients_is_saved_and_a_wrong_one_refused(additive, tmp_path):
    additive.save(tmp_path / "model.json")
    assert dpfast.load(tmp_path / "model.json").coef_noise_.tolist() == additive.coef_noise_.tolist()
    additive.coef_noise_ = -additive.coef_noise_
    additive.save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="noise of coefficients"):
        dpfast.load(tmp_path / "model.json")


@pytest.mark.parametrize(("columns", "edges"), [(40, 250), (300, 3), (90, 0)])
def test_pages_of_wide_tables_stay_small_and_need_no_network(rng, tmp_path, columns, edges):
    """Panels of a few bins were not counted once: a table of 600 columns had a page of a megabyte."""
    values = [f"a value with a long name, number {k}" for k in range(12)]
    names = [f"column {j}" for j in range(columns)]
    kinds = [Numeric(name, 0, 1, edges=edges, nullable=True) if edges else Category(name, values) for name in names]
    table = {name: rng.random(300) if edges else rng.choice(values, 300) for name in names}
    model = dpfast.HalfspaceClassifier(1.0, n_rounds=3, schema=Schema(kinds, label=Label("y", [0, 1])), random_state=0)
    model.fit(table | {"y": rng.integers(0, 2, 300)})
    model.coef_noise_ = 0.1 * np.abs(rng.normal(size=model.coef_.shape))
    model.coef_ = rng.normal(size=model.coef_.shape)  # the worst for curves: no two bins are alike
    model.report(tmp_path / "model.html")
    text = (tmp_path / "model.html").read_text()
    Elements(text)
    assert 150_000 < len(text) < 300_000
    assert "matter less than these, and are not drawn" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_a_page_of_rules_with_long_names_stays_small(rng):
    names = [f"{j} {'x' * 1200}" for j in range(4)]
    frame = pd.DataFrame(rng.random((300, 4)) < 0.5, columns=names)
    model = dpfast.DecisionListClassifier(1.0, schema=Schema([Boolean(name) for name in names]), random_state=0).fit(
        frame, rng.integers(0, 2, 300), classes=[0, 1]
    )
    first, *_, last = model.model_.rules
    model.model_ = replace(model.model_, rules=(*[first] * 300, last), counted=None)
    del model.rule_counts_
    page = report.page(model)
    assert len(page) < 300_000
    assert re.search("and [0-9]+ rules after these", page)


def test_rules_of_noise_alone_are_grey(rng):
    X, y = rng.random((300, 4)) < 0.5, rng.integers(0, 2, 300)
    page = dpfast.DecisionListClassifier(0.1, random_state=0).fit(X, y)._repr_html_()
    assert "class=pale" in page
    assert "at most " in page


def test_a_model_of_columns_prints_by_column(additive):
    assert str(additive).startswith(repr(additive))
    lines = str(additive).removeprefix(repr(additive)).splitlines()[3:]
    assert [line.split("  ")[0] for line in lines] == [
        "age <years>",
        "used, with effects that are not clear of noise: job, member",
    ]
    assert "most for True: " in lines[0]
    additive.coef_noise_ = 0 * additive.coef_noise_
    lines = str(additive).removeprefix(repr(additive)).splitlines()[3:]
    assert [line.split("  ")[0] for line in lines] == [term.column.name for term in additive.terms()]
    assert str(dpfast.HalfspaceClassifier()) == "HalfspaceClassifier()"


@pytest.mark.parametrize(
    "model",
    [
        dpfast.BoostedHalfspaceClassifier(n_rounds=5),
        dpfast.DPWinnowClassifier(),
        dpfast.FiniteClassLearner(hypotheses="features"),
        dpfast.LinearLearner(),
        dpfast.NetHalfspaceClassifier(margin=0.5, n_components=2),
        dpfast.ProjectedHalfspaceClassifier(n_rounds=5),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_classifier_of_a_table_with_a_schema_has_a_page(model, rng):
    columns = {
        "age <years>": rng.integers(0, 80, 300).astype(float),
        "job": rng.choice(["clerk", "smith & sons"], 300),
        "member": rng.random(300) < 0.5,
    }
    labels = np.where(columns["member"], "yes", "no")
    model.set_params(schema=SCHEMA, random_state=0).fit(columns, labels, classes=["no", "yes"])
    page = model._repr_html_()
    assert "What was declared about the table" in page
    assert "smith &amp; sons" in page
    assert ("The largest weights" in page) == hasattr(model, "coef_")


def test_a_column_that_is_clear_for_some_class_is_not_said_to_be_noise(rng):
    job, label = rng.choice(["clerk", "smith"], 3000), rng.integers(0, 3, 3000)
    label[job == "clerk"] = 2
    model = dpfast.HalfspaceClassifier(4.0, random_state=0).fit(
        pd.DataFrame({"job": job, "dice": rng.choice(["odd", "even"], 3000)}), label, classes=[0, 1, 2]
    )
    size = model.encoder_.schema_.code_columns[0].size
    model.coef_noise_ = np.full(model.coef_.shape, 1e6)
    model.coef_noise_[2, :size] = 0.0  # of the terms of three classes, one is clear of noise
    assert lost_in_noise(model.terms()) == ["dice"]
    assert "The model also uses these columns, whose effects are not clear of noise: dice." in report.page(model)


def test_the_tables_of_a_page_have_names_of_their_own(additive):
    names = re.findall(r'role="region" aria-label="([^"]+)"', report.page(additive))
    first = ["the classes", "the columns by their effects", "values of age &lt;years&gt;"]
    assert names == [*first, "the columns", "the parameters"]


def test_an_end_of_a_term_has_rows_and_the_right_sign(rng):
    """Of 672 entries, 121 named a bin with fewer than 5 rows, and "missing (-.22)" spoke most for both labels."""
    n, hollow, named = 3000, 0, 0
    years, k = rng.integers(1997, 2003, n), rng.choice([1, 2, 3], n)
    frame = pd.DataFrame({"age": rng.integers(18, 96, n), "year": years, "k": k, "inc": rng.lognormal(10, 1, n)})
    y = np.where((frame.age - 50) / 20 + (years - 2000) / 2 + k - 2 + rng.normal(size=n) > 0, "yes", "no")
    for seed in range(4):
        model = dpfast.HalfspaceClassifier(random_state=seed).fit(frame, y, classes=["no", "yes"])
        codes = np.asarray(model.encoder_.transform(frame))
        columns = [*model.encoder_.get_feature_names_out()]
        for term in model.terms():
            if term.column.name not in columns:
                continue
            held = np.bincount(codes[:, columns.index(term.column.name)].astype(int), minlength=term.column.size)
            runs = {}
            for first in range(term.column.size):
                for last in range(first, term.column.size):
                    runs.setdefault(term._run(first, last), held[first : last + 1].sum())
            for sign, end in zip((1, -1), term.ends(), strict=True):
                name, _, weight = end.rpartition(" (")
                if end != "-":
                    named += 1
                    hollow += runs[name] < 5
                    assert all(sign * float(each) >= 0 for each in weight.rstrip(")").split(" to "))
    assert named > 12
    assert hollow == 0


def test_rarer_values_are_an_end_together_and_nothing_is_named_without_rows():
    column = CodeColumn("x", values=("a", "b"), other=3, nullable=True)
    weights, shares = np.array([0.5, 0.1, -0.6, -0.6, -0.3, -0.2]), np.array([0.5, 0.2, 0.1, 0.1, 0.1, 0.0])
    term = report.Term(column, "yes", weights, np.full(6, 0.01), shares, 0.01)
    assert term.ends() == ["a (+0.50)", "rarer values (-0.30 to -0.60)"]
    assert report.Term(column, "yes", weights, None, shares, 0.3).ends() == ["-", "-"]
    ordered = CodeColumn("n", edges=(1.0, 2.0, 3.0, 4.0), low=0.0, high=5.0)
    shares = np.array([0.02, 0.3, 0.3, 0.36, 0.02])
    term = report.Term(ordered, "yes", np.array([-9.0, -1.0, 0.0, 1.0, 9.0]), None, shares, 0.05)
    assert term.ends() == ["above 3, at most 4 (+1.00)", "at most 2 (-1.00 to -9.00)"]
    alone = report.Term(ordered, "yes", np.array([-9.0, -1.0, 0.0, 1.0, 9.0]), None, np.full(5, 0.2), 0.14)
    assert alone.ends() == ["-", "-"]  # and not "any number"
    mixed = report.Term(ordered, "yes", np.array([-1.0, 2.0, -0.37, 3.0, 2.9]), None, np.full(5, 0.2), 0.02)
    assert mixed.ends() == ["above 3, at most 4 (+3.00)", "at most 1 (-1.00)"]


@pytest.mark.parametrize("joined", [{}, {"trees": 4}, {"interactions": 2}], ids=["columns", "trees", "pairs"])
def test_codes_without_a_schema_have_a_page_too(rng, joined):
    codes = rng.integers(0, 5, (20_000, 6))
    y = codes[:, 0] + codes[:, 1] > 4
    model = dpfast.HalfspaceClassifier(epsilon=5.0, random_state=0, **joined)
    model.fit(CodeTable(codes, [5] * 6), y, classes=[False, True])
    assert "coef_[" in model._repr_html_()
