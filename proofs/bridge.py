"""The bridge from claims to proofs: to each claim its theorem, the code that uses it, and the test that compares them.

python proofs/bridge.py             prints the table of docs/privacy_checks.md
python proofs/bridge.py --check     says what does not exist: a theorem, a line of code, a test, the printed table
"""

import re
import sys
from pathlib import Path

from check import sources, stated

TOP = Path(__file__).resolve().parents[1]
PAGE = TOP / "docs" / "privacy_checks.md"

# claim; theorems; code, as a file below dpfast/ and words of the line; test, as a file below tests/ and its name
ROWS = (
    (
        "a list, replace",
        "Cover.cover_replace Cover.cover_replace_any Cover.cover_replace_pure",
        ("accounting/curves.py", "return (((1 + g) * t, (1 + g) * t),)"),
        ("accounting/test_curves.py", "test_no_pair_of_neighbours_exceeds_the_curve_of_its_rounds"),
    ),
    (
        "a list, add-remove",
        "Cover.cover_add_remove Cover.cover_add_remove_any Cover.cover_add_remove_pure",
        ("accounting/curves.py", "return ((g * t, t), (t, g * t))"),
        ("accounting/test_curves.py", "test_weights_that_differ_from_draw_to_draw_cost_no_more_than_the_largest"),
    ),
    (
        "the potential of one round",
        "Cover.one_round Cover.potential",
        ("accounting/curves.py", "def _log_divergence("),
        ("accounting/test_curves.py", "test_one_round_never_raises_the_potential"),
    ),
    (
        "the curve is attained at weight 0, add-remove",
        "Sharp.cover_curve_is_attained",
        ("accounting/curves.py", "under add-remove and E >= t no smaller function holds"),
        ("accounting/test_curves.py", "test_add_remove_at_weight_zero_is_nearly_attained_with_few_rounds_too"),
    ),
    (
        "the exponential mechanism, pure",
        "Exponential.exponential_replace Exponential.exponential_add_remove Exponential.exponential_draws",
        ("mechanisms/exponential.py", "is ``exponent * R``-DP"),
        (
            "mechanisms/test_exponential.py",
            "test_the_log_ratio_of_neighbours_lies_in_an_interval_of_length_exponent_times_range",
        ),
    ),
    (
        "the exponential mechanism, concentrated; experts",
        "Concentrated.exponential_zcdp Concentrated.exponential_draws_private",
        ("accounting/zcdp.py", "def draws_rho("),
        ("accounting/test_experts.py", "test_a_draw_has_log_ratios_in_an_interval_of_eta_times_the_range"),
    ),
    (
        "rho-zCDP as (epsilon, delta)",
        "Concentrated.zcdp_conversion Concentrated.zcdp_rounds",
        ("accounting/zcdp.py", "b * (divergence - epsilon) - tail"),
        ("accounting/test_zcdp.py", "test_the_curve_has_one_parameter"),
    ),
    (
        "costs that depend on the past: budgets, Winnow's draws and windows",
        "Concentrated.zcdp_filter",
        ("accounting/winnow.py", "def winnow_rho("),
        ("accounting/test_winnow.py", "test_weights_and_windows_keep_the_claim_of_so_many_releases"),
    ),
    (
        "AboveThreshold: any, monotone, running counts",
        "Threshold.above_threshold_any Threshold.above_threshold_monotone Threshold.above_threshold_running",
        ("mechanisms/above_threshold.py", "class AboveThreshold(_Tests):"),
        ("mechanisms/test_above_threshold.py", "test_no_neighbours_exceed_the_claim"),
    ),
    (
        "Winnow's tests of intervals, paid once",
        "Threshold.threshold_paid_once",
        ("accounting/winnow.py", "threshold_runs"),
        (
            "mechanisms/test_above_threshold.py",
            "test_intervals_between_releases_share_one_epsilon_when_a_row_counts_in_one_only",
        ),
    ),
    (
        "SparseSample, one draw",
        "SparseSample.sparse_sample_lists",
        ("accounting/sparse_sample.py", "def sparse_sample_delta("),
        (
            "mechanisms/test_sparse_sample.py",
            "test_the_claim_holds_for_all_pairs_of_neighbours_of_a_small_universe",
        ),
    ),
    (
        "integers below a bound, uniform and exact",
        "Draws.words_of_a_draw Draws.words_of_a_draw_are_words Draws.threshold_of_the_kernel",
        ("kernels/draw.pyx", "dpf_draw_below_each(bits"),
        ("kernels/test_draw.py", "test_large_bounds_are_not_biased_towards_small_numbers"),
    ),
    (
        "discrete Laplace noise",
        "Noise.laplace_is_a_law Noise.laplace_pure",
        ("mechanisms/draws.py", "def discrete_laplace("),
        ("mechanisms/test_laplace.py", "test_neighbouring_counts_are_within_the_claimed_ratio_everywhere"),
    ),
    (
        "noise of AboveThreshold",
        "Noise.geometric_threshold Noise.geometric_test Noise.laplace_threshold Noise.laplace_test",
        ("mechanisms/above_threshold.py", 'noise : {"geometric", "paper"}'),
        ("mechanisms/test_above_threshold.py", "test_single_tests_stop_by_the_law_too"),
    ),
    (
        "discrete Gaussian noise, concentrated",
        "Gaussian.discrete_gaussian_zcdp Gaussian.claim_at_a_distance",
        ("accounting/costs.py", "from .zcdp import"),
        ("accounting/test_discrete_gaussian.py", "test_no_neighbours_in_one_dimension_exceed_the_claim"),
    ),
    (
        "private_search, one pure claim",
        "Selection.selection_pure Selection.selection_at_most_3",
        ("accounting/selection.py", "def selection_cost("),
        ("accounting/test_selection.py", "test_one_pure_claim_has_a_closed_form_below_three_times_epsilon"),
    ),
    (
        "private_search, many claims, Gaussian runs",
        "Selection.selection_of_claims Selection.between_corners Gaussian.selection_of_concentrated_runs",
        ("accounting/selection.py", "def selection_epsilon("),
        ("accounting/test_selection.py", "test_neighbours_are_no_further_apart_than_claimed_at_any_of_the_claims"),
    ),
    (
        "the law of the best run",
        "Selection.best_is_the_law Selection.best_of_is_the_law",
        ("model_selection/search.py", "def private_search("),
        (
            "accounting/test_selection.py",
            "test_the_law_of_the_best_is_that_of_all_sequences_of_runs_the_first_among_equals",
        ),
    ),
    (
        "sums of rows times capped residuals, two and k classes; the sum of scores",
        "Sensitivity.logistic_sum_of_two Sensitivity.logistic_sum_of_classes Sensitivity.residual_square "
        "Sensitivity.held_within_limit",
        ("learners/halfspaces/model.py", "(1 if classes == 2 else 2) * (changed_rows(neighbors) * reach) ** 2"),
        ("learners/halfspaces/test_images.py", "test_one_row_moves_a_sum_by_the_sensitivity_at_most"),
    ),
    (
        "the opening: counts of codes and of classes; counts by class and score level",
        "Sensitivity.opening_replace Sensitivity.opening_add_remove",
        ("learners/halfspaces/images.py", "return changes * (self.columns + self._weight**2)"),
        ("learners/halfspaces/test_images.py", "test_one_row_moves_a_sum_by_the_sensitivity_at_most"),
    ),
    (
        "a survey and what follows: d + (1 - d) G, with d of words and of labels",
        "Survey.words_and_labels Survey.survey_curve Survey.survey_and_learner",
        ("accounting/opening.py", "d + (1 - d) G_M(epsilon) = delta"),
        ("mechanisms/test_opening.py", "test_a_survey_costs_what_its_words_and_its_labels_cost_together"),
    ),
    (
        "a survey: how far rows move both looks, and what both cost",
        "Survey.survey_moves Survey.words_in_groups_too Survey.two_looks",
        ("learners/discovery.py", "opening_moves(2 * columns + weight**2, neighbors, rows_per_unit)"),
        ("learners/test_discovery.py", "test_a_row_moves_both_looks_by_no_more_than_was_planned"),
    ),
    (
        "boosting: 2 max(mu, mu') / (kappa n)",
        "Sensitivity.boosting_sensitivity Sensitivity.boosting_sensitivity_of_the_mean",
        ("learners/halfspaces/weak.py", "This is 2 CAP, or 2 / (kappa n) for the mean"),
        ("learners/halfspaces/test_measure.py", "test_one_row_moves_a_sum_of_vectors_by_at_most_two_and_does"),
    ),
    (
        "histograms, confusion matrices, ROC curves, areas",
        "Noise.histogram_replace Noise.histogram_add",
        ("metrics/ranking.py", "Each row is in one cell of a histogram"),
        ("metrics/test_figures.py", "test_one_row_moves_the_cells_by_at_most_two_in_sum"),
    ),
    (
        "units of k rows: sums",
        "Sensitivity.sum_units_replace Sensitivity.sum_units_add",
        ("learners/units.py", "k times sigma"),
        ("learners/test_units.py", "test_a_sum_moves_by_no_more_than_a_person_is_counted_for"),
    ),
    (
        "units of k rows: lists",
        "Cover.cover_units Privacy.group_privacy",
        ("learners/units.py", "exponent / k: `dpfast.accounting.curves`"),
        ("learners/test_units.py", "test_a_list_is_private_for_persons_by_its_own_curve"),
    ),
    (
        "training and test part of one split",
        "Privacy.parallel_composition",
        ("model_selection/split.py", "def private_split("),
        (
            "model_selection/test_split.py",
            "test_tables_of_a_row_replaced_diverge_by_the_larger_claim_and_not_by_the_sum",
        ),
    ),
    (
        "fits one after another on the same rows",
        "Privacy.adaptive_composition Privacy.rounds_composition Privacy.post_processing",
        ("accounting/claims.py", "def compose("),
        ("accounting/test_budget.py", "test_epsilon_and_delta_are_both_kept"),
    ),
    (
        "a list on one bill: its curve as a pair of laws, from changes of slope",
        "Dominating.mirror Dominating.curve_is_a_pair Dominating.change_on_the_grid Dominating.chord_across_1",
        ("accounting/dominating.py", "rise[self.first + 1 :] - math.exp(self.step) * rise[self.first : -1]"),
        ("accounting/test_dominating.py", "test_the_law_is_that_of_another_implementation_of_the_construction"),
    ),
    (
        "lists and other releases on one bill: pairs compose",
        "Dominating.curve_dominates Dominating.pairs_compose Dominating.pair_beside",
        ("accounting/dominating.py", "Return the law of both, which are on one grid."),
        ("accounting/test_dominating.py", "test_lists_chosen_by_what_was_released_before_are_within_their_law"),
    ),
    (
        "random trees, drawn from what was released",
        "Privacy.post_processing",
        ("learners/halfspaces/trees.py", "Trees are drawn from these alone, so drawing them is"),
        ("learners/halfspaces/test_trees.py", "test_drawing_reads_releases_only"),
    ),
)


def lines(path, words):
    """Numbers of the lines of a file that hold the words."""
    return [i for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if words in line]


def table():
    """The table of docs/privacy_checks.md."""
    rows = ["| claim | theorem in `proofs/` | code in `dpfast/` | test in `tests/` |", "|---|---|---|---|"]
    for claim, theorems, (code, _), (test, name) in ROWS:
        proved = ", ".join(f"`{theorem}`" for theorem in theorems.split())
        rows.append(f"| {claim} | {proved} | `{code}` | `{test}::{name}` |")
    return "\n".join(rows) + "\n"


def faults():
    """What does not exist, in words."""
    proved = {f"{file}.{name}" for file, text in sources().items() for name in stated(text)}
    for claim, theorems, (code, words), (test, name) in ROWS:
        yield from (f"{claim}: proofs/ has no {theorem}" for theorem in theorems.split() if theorem not in proved)
        if not lines(TOP / "dpfast" / code, words):
            yield f"{claim}: dpfast/{code} does not say {words!r}"
        text = (TOP / "tests" / test).read_text(encoding="utf-8")
        if not re.search(rf"^def {name}\(", text, re.MULTILINE):
            yield f"{claim}: tests/{test} has no {name}"
    if table() not in PAGE.read_text(encoding="utf-8"):
        yield "docs/privacy_checks.md does not print the table as it is"


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit("\n".join(faults()) or None)
    print(table(), end="")
