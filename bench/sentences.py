"""The figures in sentences of README.md and docs/*.md, from the records, for pages.py.

A line of `SENTENCES` has a page, words with {} in the place of each figure, and a function that takes the records and
returns these figures. Words stand on their page exactly once, with any breaks of lines. A function raises an
AssertionError where a sentence would say something that is no longer so: who is ahead, or on which table.
"""

import math
import re
from functools import cached_property

import earlier
import results

RECORDS = results.ROOT / "docs" / "records"
OWN, LISTS = "HalfspaceClassifier", "DecisionListClassifier"
UNDECLARED, ADDED = f"{OWN}, nothing declared", f"{OWN}, add-remove"
BOOSTED, PROJECTED = "BoostedHalfspaceClassifier", "ProjectedHalfspaceClassifier"
TREES, GRADIENT = "HistGradientBoosting, not private", "noisy gradient, tuned"
ELSEWHERE = "noisy gradient, tuned elsewhere"
BUDGETS = "0.1", "0.3", "1", "3"
OF_TREES = "tuning.md", "table", "the default"
FIGURE = r"[-+]?[\d,]*\.?\d+%?|[A-Za-z]\w*"  # what may stand in the place of a figure: a number, or the name of a table


class Records:
    """The tables of docs/records."""

    def table(self, page, *header):
        """The rows of the first table of a page whose header begins so."""
        for head, rows in earlier.printed((RECORDS / page).read_text(encoding="utf-8")):
            if head[: len(header)] == list(header):
                return rows
        raise ValueError(f"{page} has no table that begins with {header}")

    def lines(self, page, *header):
        """The numbers of such a table, of four budgets: name -> line -> budget -> numbers of the cell."""
        found = {}
        for name, line, *cells in self.table(page, *header):
            told = {budget: numbers(cell) for budget, cell in zip(BUDGETS, cells, strict=False)}
            found.setdefault(name, {})[line] = told | {"rest": cells[len(BUDGETS) :]}
        return found

    @cached_property
    def raw(self):
        return self.lines("accuracy.md", "table", "model", "epsilon 0.1", "epsilon 0.3", "epsilon 1", "epsilon 3")

    @cached_property
    def prepared(self):
        return self.lines("accuracy.md", "data", "method")

    @cached_property
    def flaws(self):
        return self.lines("accuracy.md", "data", "rows")

    @cached_property
    def apart(self):
        return self.lines("accuracy.md", "table", "method")

    @cached_property
    def times(self):
        return results.read(RECORDS, "times")["tables"]

    def lost(self, table, budget, of=OWN, to=TREES):
        """Accuracy and area that a model loses to another one on a raw table; with less than 0, it is ahead."""
        other, own = self.raw[table][to][budget], self.raw[table][of][budget]
        return tuple(round(b - a, 3) for a, b in zip(own, other, strict=True))

    def cells(self):
        """All cells of prepared tables: name, budget, and the accuracy of each method of that kind there."""
        for name, methods in self.prepared.items():
            for budget in BUDGETS:
                yield name, budget, {method: told[budget][0] for method, told in methods.items()}


def numbers(text):
    return tuple(float(number) for number in re.findall(r"[-+]?\d*\.?\d+", text))


def short(number, digits=3):
    """A number without its leading zero: .137."""
    return f"{number:.{digits}f}".replace("0.", ".", 1)


def shorts(*each):
    return tuple(map(short, each))


def behind_most(records):
    most = sorted(records.raw, key=lambda name: -records.lost(name, "0.1")[1])[:3]
    assert most == ["stroke_records", "covertype_sub", "bank_marketing"], most
    first, *others = (short(records.lost(name, "0.1")[1]) for name in most)
    return first, f"{100 * records.times['stroke_records']['smallest']:.1f}%", *others


def behind_at_three(records):
    most, *next_three = sorted(records.raw, key=lambda name: -records.lost(name, "3")[0])[:4]
    assert (most, {*next_three}) == ("covertype_sub", {"hotel_bookings", "adult", "weather_aus"})
    each = [records.lost(name, "3")[0] for name in next_three]
    return shorts(records.lost(most, "3")[0], min(each), max(each))


def near_trees(records):
    near = [name for name in records.raw if records.lost(name, "1")[1] <= 0.005]
    assert {*near} == {"give_me_credit", "telco_churn", "stroke_records"}, near
    return (short(max(records.lost(name, "1")[1] for name in near)),)


def of_nothing_declared(records):
    def lost(name, budget):
        return records.lost(name, budget, UNDECLARED, OWN)

    others = [name for name in records.raw if name != "covertype_sub"]
    told = list(shorts(lost("covertype_sub", "0.1")[1], lost("covertype_sub", "0.3")[1]))
    for budget, place, names in (("0.1", 1, others), ("0.3", 1, others), ("1", 0, records.raw), ("1", 1, records.raw)):
        most = max(names, key=lambda name, budget=budget, place=place: lost(name, budget)[place])
        told += [short(lost(most, budget)[place]), most]
    return told


def of_maddock(records):
    rows = {row[0]: numbers(row[5]) for row in records.table("accuracy.md", "model", "what must be declared")}
    by = [
        next(told for name, told in rows.items() if name.startswith(start))
        for start in ("trees", f"`{OWN}`, s", f"`{OWN}`, n")
    ]
    return shorts(*by[0], *by[1], *by[2])


def private(methods):
    """Methods of a cell that are private and not another form of the default."""
    return {name: told for name, told in methods.items() if "not private" not in name and name != ADDED}


def behind_prepared(records):
    cells = list(records.cells())
    behind = [
        (name, budget) for name, budget, methods in cells if max(private(methods).values()) - methods[OWN] > 0.0049
    ]
    assert behind == [("farm_ads", "3"), ("mushroom", "0.1"), ("usps 0/1", "0.3")], behind
    return f"{len(behind)}", f"{len(cells)}"


def lags(records, name, budget, *methods):
    told = records.prepared[name]
    return shorts(*(told[method][budget][0] - told[OWN][budget][0] for method in methods))


def on_mushroom(records):
    own = short(records.prepared["mushroom"][OWN]["0.1"][0])
    return own, *lags(records, "mushroom", "0.1", "Frank-Wolfe, tuned", GRADIENT, PROJECTED)


def before_gradient(records):
    cells = [methods[OWN] - methods[GRADIENT] for _, _, methods in records.cells()]
    return f"{sum(ahead > 0.0049 for ahead in cells)}", f"{len(cells)}"


def behind_raw(records):
    behind, area = [], []
    for name, models in records.raw.items():
        for model, told in private(models).items():
            if not model.startswith(OWN):
                behind += [(name, model, budget, told[budget][0] - models[OWN][budget][0]) for budget in BUDGETS]
                area += [(name, model, budget, told[budget][1] - models[OWN][budget][1]) for budget in BUDGETS]
    behind = sorted((each for each in behind if each[3] > 0.0005), key=lambda each: -each[3])
    ahead = [("telco_churn", model, "0.1") for model in (GRADIENT, "DPEBM", LISTS)] + [
        ("noshow_appointments", LISTS, "0.1")
    ]
    assert [each[:3] for each in behind] == ahead, behind
    assert max(each[3] for each in area) < 0, area
    return shorts(*(each[3] for each in behind))


def larger_classes(records):
    return shorts(*(records.times[name]["largest"] for name in ("bank_marketing", "give_me_credit", "stroke_records")))


def of_added_rows(records):
    ahead = {(name, budget): methods[ADDED] - methods[OWN] for name, budget, methods in records.cells()}
    told = []
    for budget, name in (("0.1", "mushroom"), ("0.3", "farm_ads")):
        each = {table: gain for (table, at), gain in ahead.items() if at == budget}
        assert max(each, key=each.get) == name, each
        told.append(each[name])
    assert all(gain > 0 for (_, budget), gain in ahead.items() if budget == "0.1")
    at_one = {table: gain for (table, at), gain in ahead.items() if at == "1"}
    three = [at_one.pop(name) for name in ("clickbait", "farm_ads", "mushroom")]
    return shorts(*told, min(three), max(three), max(at_one.values()))


def of_wrong_labels(records):
    def fall(name, share, place, budgets=BUDGETS):
        before, after = (records.flaws[name][f"{each}% of labels wrong"] for each in (0, share))
        return max(before[budget][place] - after[budget][place] for budget in budgets)

    def of_others(name, share):
        before, after = (records.flaws[name][f"{each}% of labels wrong"]["rest"][0] for each in (0, share))
        return numbers(before)[0] - numbers(after)[0]

    areas = [max(fall(name, share, 1) for name in records.flaws) for share in (20, 30)]
    most = [fall("adult_a9a", share, 0) for share in (20, 30)]
    others = [max(fall(name, share, 0) for name in ("mushroom", "phishing")) for share in (20, 30)]
    assert most > others
    return shorts(*areas, *most, *(of_others("adult_a9a", share) for share in (20, 30)), *others)


def of_rare_classes(records):
    rows = [records.flaws[name] for name in ("adult_a9a", "mushroom", "phishing")]
    assert all(each["2% of class +1"][budget][0] == 0.5 for each in rows for budget in BUDGETS[:3])
    areas = [each["2% of class +1"]["1"][1] for each in rows]
    balanced = [each["2% of class +1, balanced"]["1"][0] for each in rows]
    apart = [
        abs(each[f"{share}% of class +1, weighted"][budget][0] - each[f"{share}% of class +1, balanced"][budget][0])
        for each in rows
        for share in (10, 5, 2)
        for budget in ("1", "3")
    ]
    return shorts(0.5, min(areas), max(areas), *balanced, max(apart))


def of_phishing(records):
    told = records.flaws["phishing"]["2% of class +1"]
    return tuple(short(told[budget][1], 2) for budget in ("0.1", "0.3", "1"))


def of_rare_balanced(records):
    rows = [records.flaws[name] for name in ("adult_a9a", "mushroom", "phishing")]
    before = {each["2% of class +1"]["1"][0] for each in rows}
    return shorts(*before, *(each["2% of class +1, balanced"]["1"][0] for each in rows))


def ahead_of_us(records, line):
    """Cells of tables kept apart: by how much a line of the gradient is ahead of the default."""
    return {
        (name, budget): round(lines[line][budget][0] - lines[OWN][budget][0], 3)
        for name, lines in records.apart.items()
        if line in lines
        for budget in BUDGETS
    }


def of_gradient_elsewhere(records):
    ahead = ahead_of_us(records, ELSEWHERE)
    cells, mean = len(ahead), -sum(ahead.values()) / len(ahead)
    two = [ahead.pop(cell) for cell in (("ten categories of 200", "3"), ("text, 1,500 rows", "0.1"))]
    return *shorts(*two, max(ahead.values())), f"{cells - 2}", short(mean)


def of_gradient_tuned(records):
    ahead = ahead_of_us(records, GRADIENT)
    many = {cell: told for cell, told in ahead.items() if told > 0.0201}
    cells = [("digits, odd", "0.1"), ("300 rows", "0.1"), ("300 rows", "0.3"), ("text, 1,500 rows", "0.1")]
    cells += [("ten categories of 200", "3"), ("600 rows, 5,000 columns", "0.1")]
    assert {*cells} == many.keys(), many
    assert (many[cells[1]], many[cells[3]]) == (many[cells[2]], many[cells[4]])
    told = shorts(many[cells[0]], many[cells[1]], many[cells[3]], many[cells[5]])
    return f"{len(many)}", f"{len(ahead)}", *told, short(-sum(ahead.values()) / len(ahead))


def slower(records):
    ratios = {}  # peers before which a line of speed.md is slower
    for row in records.table("speed.md", "work", "dpfast"):
        if row[-1] and numbers(row[-1].replace(",", ""))[0] < 1:
            ratios.setdefault(row[-3], []).extend(numbers(row[-1]))
    names = ["numpy means without noise", "sklearn gaussian projection dense", "scipy", "numpy pcg not cryptographic"]
    return tuple(short(ratio, 2) for name in (*names, "numpy read and add alone") for ratio in ratios[name])


def flipped(records):
    """The table of flipped labels in tuning.md: table -> accuracies at 0, 5, 10, 20% of boosted, .6 and projected."""
    rows = records.table("tuning.md", "labels flipped: 0, 5, 10, 20%")
    return {name: [numbers(cell) for cell in cells] for name, *cells in rows}


def of_flipped_labels(records):
    found = flipped(records)
    falls = [max(boosted[0] - boosted[at] for boosted, *_ in found.values()) for at in (1, 2)]
    usps, apart, _, _ = found["usps"]
    return shorts(*falls, usps[0], usps[3], apart[3])


def of_flipped_projected(records):
    projected = [found[2] for found in flipped(records).values()]
    return shorts(*(max(told[0] - told[at] for told in projected) for at in (2, 3)))


def of_two_learners(records):
    behind = {}
    for name, *cells in records.table("tuning.md", "epsilon 0.1, 0.3, 1", "boosted"):
        boosted, projected, gradient, objective, _ = map(numbers, cells)
        for at in (0, 1):
            lag = max(gradient[at], objective[at]) - max(boosted[at], projected[at])
            behind[name] = max(lag, behind.get(name, lag))
    assert [name for name, lag in behind.items() if lag > 0] == ["usps 0/1"], behind
    return (short(behind["usps 0/1"]),)


def of_draws(records):
    gains = {
        name: numbers(rising)[0] - numbers(equal)[0]
        for name, equal, _, rising in records.table("tuning.md", "table", "equal, 10 draws")
    }
    two = [gains.pop(name) for name in ("clickbait", "farm_ads")]
    return shorts(min(gains.values()), max(gains.values()), *two)


def of_updates(records):
    rows = records.table("tuning.md", "table", "epsilon 0.1", "0.3", "1", "3")
    cells = {name: numbers(last) for name, *_, last in rows if "/" in last}
    clickbait = cells.pop("clickbait")
    gains = [auto - fixed for fixed, auto in cells.values() if auto > fixed]
    return *shorts(*clickbait, min(gains), max(gains)), {3: "three", 4: "four", 5: "five"}[len(gains)]


def of_calibration(records):
    own, lists = (
        {name: float(models[model]["rest"][0]) for name, models in records.raw.items()} for model in (OWN, LISTS)
    )
    assert (max(own, key=own.get), max(lists, key=lists.get)) == ("covertype_sub", "telco_churn")
    return shorts(own["adult"], max(own.values()), lists["adult"], max(lists.values()))


def of_trees(records):
    """The largest change by trees or pairs on a table that halfspaces.md does not show."""
    rows = [[numbers(cell) for cell in row[1:4]] for row in records.table(*OF_TREES)[4:]]
    return (
        short(
            max(
                abs(a - b) for default, *others in rows for other in others for a, b in zip(default, other, strict=True)
            )
        ),
    )


def of_prepared(name, budget, *methods):
    return lambda records: shorts(*(records.prepared[name][method][budget][0] for method in methods))


def of_exponents(records):
    """How much larger the exponents of shorter lists are, and how much smaller those of pure ones."""
    from dpfast.accounting import cover_exponent

    def exponent(rounds, delta=1e-6):
        return cover_exponent(1.0, delta, max_rounds=rounds)

    longer = [exponent(rounds) / exponent(10**6) for rounds in (10, 25)]
    pure = [exponent(rounds, 0) / exponent(rounds) for rounds in (10, 3)]
    return f"{longer[0]:.1f}", f"{longer[1]:.2f}", *(short(each, 2) for each in pure)


def of_odds(records):
    """How often the guess between two neighbours is right at most, at epsilon 1 and 0.1 with delta 1e-6."""
    return tuple(f"{math.ceil(100 * (1e-6 + math.exp(e)) / (1 + math.exp(e)))}%" for e in (1, 0.1))


SENTENCES = (
    (
        "README.md",
        "the boosted trees of scikit-learn reach {} / {}.",
        lambda records: shorts(*records.raw["adult"][TREES]["1"]),
    ),
    (
        "docs/results.md",
        "AUC is lower by {} on stroke_records, where {} of the rows are positive, by {} on covertype_sub and by "
        "{} on bank_marketing.",
        behind_most,
    ),
    ("docs/results.md", "accuracy is lower by {}.", lambda records: shorts(records.lost("telco_churn", "0.1")[0])),
    (
        "docs/results.md",
        "at epsilon 3 by {} of accuracy on covertype_sub, by {} to {} on hotel_bookings, adult and weather_aus.",
        behind_at_three,
    ),
    ("docs/results.md", "the default is within {} of the AUC of the trees at epsilon 1", near_trees),
    (
        "docs/results.md",
        "AUC is {} and {} lower than with a schema. Other tables lose at most {} of AUC at 0.1 ({}) and {} at 0.3 "
        "({}). At epsilon 1 the largest losses are {} of accuracy on {} and {} of AUC on {}.",
        of_nothing_declared,
    ),
    (
        "docs/results_accuracy.md",
        "reach an AUC of {} at epsilon 0.1 and {} at 1 on the complete rows of give_me_credit, in their protocol; "
        "`HalfspaceClassifier` has {} and {} with a schema, {} and {} with nothing declared",
        of_maddock,
    ),
    ("docs/results.md", "behind the best other learner by .005 or more in {} of the {} cells.", behind_prepared),
    (
        "docs/results.md",
        "On mushroom at epsilon 0.1 it has {}: Frank-Wolfe, tuned, is ahead by {}, the tuned noisy gradient by {} "
        "and `ProjectedHalfspaceClassifier` by {}.",
        on_mushroom,
    ),
    (
        "docs/results.md",
        "On usps 0/1 at 0.3 it is behind `ProjectedHalfspaceClassifier` by {}",
        lambda records: lags(records, "usps 0/1", "0.3", PROJECTED),
    ),
    (
        "docs/results.md",
        "at 3 behind `BoostedHalfspaceClassifier` by {}.",
        lambda records: lags(records, "farm_ads", "3", BOOSTED),
    ),
    ("docs/results.md", "the tuned noisy gradient by .005 or more in {} of the {} cells.", before_gradient),
    (
        "docs/results_accuracy.md",
        "at epsilon 0.1 the tuned noisy gradient, by {}, DPEBM, by {}, and decision lists, by {}, on telco_churn, and "
        "decision lists by {} on noshow_appointments. Its AUC is the highest.",
        behind_raw,
    ),
    (
        "docs/results_accuracy.md",
        "the larger class has {} of the rows of bank_marketing, {} of give_me_credit and {} of stroke_records.",
        larger_classes,
    ),
    (
        "docs/results_accuracy.md",
        "by up to {} (mushroom), and at 0.3 by up to {} (farm_ads). At 1 it is ahead by {} to {} on clickbait, "
        "farm_ads and mushroom, and by {} at most elsewhere.",
        of_added_rows,
    ),
    (
        "docs/results_accuracy.md",
        "with 20% of them the AUC falls by at most {}, and with 30% by at most {}. Balanced accuracy, which also "
        "depends on the threshold, falls most on adult_a9a: by up to {} with 20% and by up to {} with 30%, where "
        "logistic regression without privacy loses {} and {}. On mushroom and phishing 20% cost at most {}, and "
        "30% at most {}.",
        of_wrong_labels,
    ),
    (
        "docs/results_accuracy.md",
        "balanced accuracy is {} up to epsilon 1 on adult_a9a, mushroom and phishing. Scores tell the classes apart "
        'earlier, with an AUC of {} to {} at epsilon 1, and `class_weight="balanced"` predicts from the same scores at '
        "no cost: then balanced accuracy is {}, {} and {}. Declared weights are within {} of it from epsilon 1 on.",
        of_rare_classes,
    ),
    ("docs/results_accuracy.md", "the AUC is {}, {} and {} at epsilon 0.1, 0.3 and 1.", of_phishing),
    (
        "docs/results_accuracy.md",
        "the gradient is ahead of the default by {} on ten categories of 200 values at epsilon 3, by {} on a text "
        "of 1,500 rows at 0.1, and by {} at most in the other {} cells; over all of them the default is ahead by "
        "{} in the mean.",
        of_gradient_elsewhere,
    ),
    (
        "docs/results_accuracy.md",
        "The tuned line is more than .02 ahead in {} of {} cells: by {} on the odd digits at epsilon 0.1, by {} "
        "on the 300 rows at 0.1 and 0.3, by {} on the text at 0.1 and on the ten categories at 3, and by {} on "
        "600 rows of 5,000 columns at 0.1, from which nobody learns anything. In the mean it is behind by {}.",
        of_gradient_tuned,
    ),
    (
        "docs/results_speed.md",
        "statistical queries beside numpy's means without noise ({} of its speed), projections of dense rows to "
        "256 components beside scikit-learn's ({}), rounds on sparse rows beside scipy's ({} and {}), and uniform "
        "doubles beside a generator of numpy that is not cryptographic ({}). A round of 10^7 experts takes longer "
        "than reading and adding their losses alone ({} and {}).",
        slower,
    ),
    ("docs/halfspaces.md", "interactions change by at most {}):", of_trees),
    (
        "docs/halfspaces.md",
        "balanced accuracy at epsilon 1 rises from {} to {} on adult_a9a, {} on mushroom and {} on phishing",
        of_rare_balanced,
    ),
    (
        "docs/boosting.md",
        "5% of wrong labels cost at most {} of accuracy and 10% up to {}; 20% break boosting on most tables: usps "
        "falls from {} to {}. `density=0.6` still works at 20% ({})",
        of_flipped_labels,
    ),
    ("docs/boosting.md", "it loses at most {} at 10% and {} at 20%.", of_flipped_projected),
    ("docs/halfspaces_margin.md", "except on usps 0/1, where it is behind by {}.", of_two_learners),
    (
        "docs/halfspaces_margin.md",
        "boosting and descent are right on {} and {} of the test rows already at epsilon 0.1.",
        of_prepared("usps 0/1", "0.1", BOOSTED, PROJECTED),
    ),
    (
        "docs/decision_lists.md",
        "the expected calibration error of `predict_proba` on adult at epsilon = 1 is {}.",
        lambda records: shorts(float(records.raw["adult"][LISTS]["rest"][0])),
    ),
    (
        "docs/decision_lists.md",
        "10 rounds allow {} times the exponent of an unlimited list, and 25 rounds allow {} times. **`delta = 0`** "
        "gives a pure, (epsilon, 0)-DP list. At epsilon = 1, ten rules then have {} times the exponent that they have "
        "at delta = 1e-6, and three rules have {} times.",
        of_exponents,
    ),
    (
        "docs/decision_lists.md",
        "beside which the rules keep {} of their exponent.",
        lambda records: (short(math.sqrt(0.95), 2),),
    ),
    (
        "docs/discovery.md",
        "A survey of .04 in all leaves the learner {} of epsilon, one of .06 leaves {}, one of .12 leaves {}, and the "
        "largest, of .24, leaves {}.",
        lambda records: tuple(short(math.sqrt(1 - share), 2) for share in (0.04, 0.06, 0.12, 0.24)),
    ),
    (
        "docs/discovery.md",
        "with {} of strokes, a model",
        lambda records: (f"{100 * records.times['stroke_records']['smallest']:.1f}%",),
    ),
    (
        "docs/faq.md",
        "With a model of epsilon = 1, the guess is right at most {} of the time; with epsilon = 0.1, at most {}.",
        of_odds,
    ),
    (
        "docs/privacy.md",
        "At epsilon = 1, no outcome becomes more than {} times as likely; at 0.1, no more than {} times.",
        lambda records: tuple(f"{math.ceil(100 * math.exp(epsilon)) / 100:.2f}" for epsilon in (1, 0.1)),
    ),
    (
        "docs/winnow.md",
        "by {} to {} on four and by {} and {} on clickbait and farm_ads, which have very many columns",
        of_draws,
    ),
    (
        "docs/winnow.md",
        "At epsilon 3 it raises accuracy from {} to {} on clickbait, and by {} to {} on {} other tables.",
        of_updates,
    ),
    (
        "docs/calibration.md",
        "The calibration error of `HalfspaceClassifier` is {} on adult and at most {}, on covertype_sub; that of "
        "decision lists is {} on adult and at most {}, on telco_churn",
        of_calibration,
    ),
)


def written(page, text, records):
    """The text of a page with the figures of its sentences from the records, and the places of these figures.

    Returns
    -------
    text : str
    places : list of (int, int)
        Begin and end of each figure in that text.
    """
    changes = []
    for of, words, figures in SENTENCES:
        if of != page:
            continue
        spaced = (r"\s+".join(map(re.escape, part.split(" "))) for part in words.split("{}"))
        found = [*re.finditer(f"({FIGURE})".join(spaced), text)]
        if len(found) != 1:
            raise ValueError(f"{page} has {len(found)} times: {words}")
        told = figures(records)
        if len(told) != len(found[0].groups()):
            raise ValueError(f"{len(told)} figures for: {words}")
        changes += [(*found[0].span(at + 1), figure) for at, figure in enumerate(told)]
    places, moved, parts, done = [], 0, [], 0
    for begin, end, figure in sorted(changes):
        parts += [text[done:begin], figure]
        places.append((begin + moved, begin + moved + len(figure)))
        moved, done = moved + len(figure) - (end - begin), end
    return "".join(parts) + text[done:], places
