"""The bridge from mechanisms to what was checked of each: paper, proof, Coq, values, law test, replay, mutant.

python proofs/bridge.py             prints the tables of docs/records/checks.md and docs/privacy_checks.md
python proofs/bridge.py --check     says what is not so: a theorem, a value, a test, a mutant, the printed tables

A row names what exists; what does not exist stays empty, and `open` says what Coq has not proved. Values are groups of
values.py and grid.py: in each, a definition of Coq and a function of dpfast are evaluated on a grid of rationals, and
Coq proves that what the function returned is safe. `--check` evaluates the functions anew.
"""

import importlib
import re
import sys
from typing import NamedTuple

import grid
import values
from check import HERE, read, sources

TOP = HERE.parent
PAGES = {"table": TOP / "docs" / "records" / "checks.md", "gaps": TOP / "docs" / "privacy_checks.md"}
BEGIN, END = "<!-- bridge.py: {} -->\n", "<!-- end -->\n"
FUNCTIONS = {  # of the groups of grid.py
    "cover_exponent": "accounting.cover_exponent",
    "cover_epsilon": "accounting.cover_epsilon",
    "cover_delta": "accounting.cover_delta",
    "cover_curve": "accounting.curves.dominating.CoverCurve.delta",
    "printed": "accounting.cover_exponent",
    "zcdp_epsilon": "accounting.zcdp_epsilon",
    "zcdp_rho": "accounting.zcdp_rho",
    "experts_learning_rate": "accounting.experts_learning_rate",
    "sparse_sample": "accounting.sparse_sample_bottom_score",
    "sparse_sample_plan": "accounting.sparse_sample_plan",
    "laplace_scale": "accounting.laplace_scale",
    "selection_base": "accounting.selection_base",
    "gaussian_sigma": "accounting.gaussian_sigma",
    "discrete_gaussian_sigma": "accounting.discrete_gaussian_sigma",
    "bill_mu": "accounting.bill_noise",
    "bill_noise": "accounting.bill_noise",
    "survey_mu": "accounting.curves.opening.survey_noise",
    "survey_rho": "accounting.curves.opening.survey_noise",
    "survey_noise": "accounting.curves.opening.survey_noise",
    "opening_threshold": "accounting.curves.opening.opening_threshold",
}


class Row(NamedTuple):
    """What was checked of one mechanism or claim."""

    name: str
    code: str  # a module of dpfast
    proof: str  # a page of docs/ and a heading on it
    paper: str = ""
    coq: str = ""  # theorems in proofs/
    values: str = ""  # groups of values
    law: str = ""  # a test below tests/ that compares laws, or enumerates
    replay: str = ""  # a test below tests/ in which one row moves questions by no more than was charged
    mutant: str = ""  # one of tests/mutants that tests kill
    open: str = ""  # what is not proved in Coq


_REPLAYS, _COSTS = "premises/test_replays.py", "accounting/test_costs.py"
_OF_NUMBERS = f"{_REPLAYS}::test_one_row_of_numbers_moves_no_more_than_was_charged"
_MOST = f"{_REPLAYS}::test_the_most_that_one_row_can_move_is_nearly_what_was_charged"
_DISCOVERED = f"{_REPLAYS}::test_one_row_of_a_table_of_which_nothing_is_declared_moves_no_more_than_was_charged"
_SUMS = "premises/test_sensitivity.py::test_sums_move_by_no_more_than_their_noise_is_made_for"
_SCORES = "premises/test_sensitivity.py::test_scores_move_within_their_range"
_DOMINATING = "accounting/test_dominating.py"

ROWS = (
    Row(
        "a decision list, one row replaced",
        "accounting.curves.cover",
        "proofs_privacy.md#Greedy cover",
        "[BF] Lemma A.1, improved",
        "Cover.cover_replace Cover.cover_replace_any Cover.cover_replace_pure Cover.one_round Cover.potential",
        "cover_exponent cover_epsilon cover_delta printed",
        "accounting/test_curves.py::test_no_pair_of_neighbours_exceeds_the_curve_of_its_rounds",
        _MOST,
        "curve: replace, second (1 + g) t is t",
    ),
    Row(
        "a decision list, one row added or removed",
        "accounting.curves.cover",
        "proofs_privacy.md#Greedy cover",
        "",
        "Cover.cover_add_remove Cover.cover_add_remove_any Cover.cover_add_remove_pure Sharp.cover_curve_is_attained",
        "cover_exponent cover_epsilon cover_delta printed",
        "accounting/test_curves.py::test_add_remove_at_weight_zero_is_nearly_attained_with_few_rounds_too",
        _MOST,
        "curve: add-remove, one start dropped",
    ),
    Row(
        "a decision list, by the constants of its paper",
        "accounting.curves.cover",
        "privacy_theorems.md#Beside the paper's constants",
        "[BF] Lemma A.1",
        "Paper.paper_replace Paper.paper_add_remove",
        "paper",
        "accounting/test_curves.py::*",
        "",
        "paper: factor 4 of replace is 2",
    ),
    Row(
        "the parts of a list: counts of rules, sizes of classes, scores of weighted rows",
        "learners.lists.plan",
        "proofs_privacy.md#The bill of a fit",
        "",
        "Plans.counts_square_of_units Cover.cover_of_weighted_rows",
        "list",
        "learners/lists/test_counts.py::*",
        _OF_NUMBERS,
        "list: sizes and counts of one row for units",
    ),
    Row(
        "cover of any set of elements",
        "mechanisms.cover",
        "proofs_privacy.md#Greedy cover",
        "[BF] section 3",
        "Cover.run_curve Cover.cover_curve",
        "",
        "mechanisms/test_cover.py::test_whole_sequences_follow_the_enumerated_law",
        "",
        "cover of any kind: an element stays",
    ),
    Row(
        "a list on a bill: its curve as a pair of laws",
        "accounting.curves.dominating",
        "proofs_privacy.md#Curves as pairs of laws",
        "Zhu, Dong, Wang, 2022",
        "Convex.cover_profile_is_a_bound Convex.cover_is_dominated_replace Convex.cover_is_dominated_add_remove "
        "Convex.bounds_at_points_dominate Convex.mirrored_slopes_rise Dominating.mirror Dominating.curve_is_a_pair "
        "Dominating.change_on_the_grid Dominating.chord_across_1",
        "cover_curve",
        f"{_DOMINATING}::test_the_law_is_that_of_another_implementation_of_the_construction",
        "",
        "law: slope from the left without e^h",
        open="that the points of the code, which join the curve to its mirror image by a chord, are a list of rising "
        "slopes; proved are its parts, and the pair of the curve alone; nor is it proved that a list is as private as "
        "Gaussian noise of the mu that is found for it, or has the Renyi divergences that are",
    ),
    Row(
        "lists and other releases on one bill: pairs compose",
        "accounting.curves.dominating",
        "proofs_privacy.md#Curves as pairs of laws",
        "Zhu, Dong, Wang, 2022",
        "Dominating.curve_dominates Dominating.pairs_compose Dominating.pair_beside",
        "",
        f"{_DOMINATING}::test_lists_chosen_by_what_was_released_before_are_within_their_law",
        "",
        "law: rest of two not added",
        open="composition with the law of continuous Gaussian noise, which is infinite",
    ),
    Row(
        "the bill of a fit: sums, draws and words, one number for all noise",
        "accounting.claims.bill",
        "proofs_privacy.md#The bill of a fit",
        "",
        "Bill.bill_zcdp Bill.bill_claim Bill.bill_with_words",
        "bill_mu bill_noise sums",
        "accounting/test_bill.py::test_enumerated_releases_are_within_the_claim",
        _OF_NUMBERS,
        "bill: what is away from Gaussian dropped beside a cover",
        open="the Gaussian claim: that the exact curve at mu bounds what adaptive Gaussian releases cost together",
    ),
    Row(
        "draws of a bounded range as Gaussian ones: mu = r sqrt(2 pi) / 4",
        "accounting.claims.costs",
        "proofs_privacy.md#Costs of mechanisms, and discrete Gaussian noise",
        "",
        "Bounded.odds_move",
        "bounded",
        f"{_COSTS}::test_bounded_ranges_are_gaussian_and_concentrated_as_claimed",
        "",
        "cost: a bounded range half as wide",
        open="of Theorem 1 of `dpfast.accounting.claims.costs` the second half, from log odds to normal quantiles",
    ),
    Row(
        "pure epsilon as Gaussian: the curve through its corner",
        "accounting.claims.costs",
        "proofs_privacy.md#Costs of mechanisms, and discrete Gaussian noise",
        "Dong, Roth, Su, 2022",
        "",
        "",
        f"{_COSTS}::test_the_gaussian_curve_of_a_pure_cost_touches_its_corner",
        "",
        "cost: the corner of pure epsilon missed",
        open="Theorem 2 of `dpfast.accounting.claims.costs`",
    ),
    Row(
        "pairs (epsilon, delta) on top of other costs",
        "accounting.claims.composition",
        "proofs_privacy.md#Budgets",
        "Kairouz, Oh, Viswanath, 2015",
        "Privacy.adaptive_composition",
        "",
        f"{_COSTS}::test_a_mix_costs_no_more_than_its_parts_alone",
        "",
        "composition: pairs tell nothing",
        open="that randomized response dominates (epsilon, delta), and so the exact composition of pairs with curves; "
        "proved is that epsilons and deltas add up",
    ),
    Row(
        "budgets: costs that depend on the past",
        "accounting.budgets.filters",
        "proofs_privacy.md#Budgets",
        "Rogers, Roth, Ullman, Vadhan, 2016",
        "Concentrated.zcdp_filter",
        "",
        "accounting/test_filters.py::test_no_adaptive_rule_gets_more_than_the_budget",
        "",
        "filter: half the divergence",
        open="filters by Gaussian curves and by curves of lists",
    ),
    Row(
        "fits one after another on the same rows",
        "accounting.claims.spend",
        "proofs_privacy.md#Budgets",
        "[DR11] chapter 3",
        "Privacy.adaptive_composition Privacy.rounds_composition Privacy.post_processing",
        "pure_plan",
        "accounting/test_budget.py::test_epsilon_and_delta_are_both_kept",
        "",
        "budget: delta not looked at",
    ),
    Row(
        "exponential mechanism, pure",
        "mechanisms.exponential",
        "privacy_theorems.md#The other theorems",
        "McSherry, Talwar, 2007",
        "Exponential.exponential_replace Exponential.exponential_add_remove Exponential.exponential_draws "
        "Plans.draw_epsilon_of_scores",
        "pure_plan",
        "mechanisms/test_exponential.py::"
        "test_the_log_ratio_of_neighbours_lies_in_an_interval_of_length_exponent_times_range",
        _OF_NUMBERS,
        "finite: replace moves by 1",
    ),
    Row(
        "exponential mechanism, concentrated: draws of a bounded range",
        "accounting.curves.zcdp",
        "proofs_privacy.md#Costs of mechanisms, and discrete Gaussian noise",
        "Cesar, Rogers, 2021",
        "Concentrated.exponential_zcdp Concentrated.exponential_draws_private Plans.draws_rho_of_rounds",
        "draws divergences zcdp_epsilon zcdp_rho",
        f"{_COSTS}::test_bounded_ranges_are_gaussian_and_concentrated_as_claimed",
        _OF_NUMBERS,
        "draws_rho halved",
    ),
    Row(
        "experts",
        "accounting.papers.experts",
        "proofs_privacy.md#Experts",
        "[DR11] chapter 11",
        "Plans.experts_width_of_losses Concentrated.exponential_draws_private",
        "experts experts_learning_rate",
        "accounting/test_experts.py::test_a_draw_has_log_ratios_in_an_interval_of_eta_times_the_range",
        f"{_REPLAYS}::test_one_round_moves_the_actions_of_experts_by_what_was_charged",
        "experts range: factor 2 of replace dropped",
    ),
    Row(
        "finite classes",
        "learners.experts.finite_class",
        "privacy_theorems.md#The other theorems",
        "Kasiviswanathan et al., 2011",
        "Exponential.exponential_replace Exponential.exponential_add_remove",
        "changed pure_plan",
        "learners/experts/test_finite_class.py::*",
        _OF_NUMBERS,
        "finite: relation swapped",
    ),
    Row(
        "rho-zCDP as (epsilon, delta)",
        "accounting.curves.zcdp",
        "proofs_privacy.md#Costs of mechanisms, and discrete Gaussian noise",
        "Bun, Steinke, 2016",
        "Concentrated.zcdp_conversion Concentrated.zcdp_composition Concentrated.zcdp_rounds",
        "zcdp_epsilon zcdp_rho",
        "accounting/test_zcdp.py::test_the_curve_has_one_parameter",
        "",
        "zcdp: divergence (1 + b) rho is rho",
    ),
    Row(
        "discrete Laplace noise on counts",
        "mechanisms.draws",
        "privacy_theorems.md#The other theorems",
        "Ghosh, Roughgarden, Sundararajan, 2012",
        "Noise.laplace_is_a_law Noise.laplace_pure Plans.laplace_epsilon_of_counts",
        "laplace laplace_scale",
        "mechanisms/test_laplace.py::test_neighbouring_counts_are_within_the_claimed_ratio_everywhere",
        f"{_REPLAYS}::test_one_row_moves_the_answers_of_an_oracle_by_what_was_charged",
        "laplace: composition dropped",
    ),
    Row(
        "discrete Gaussian noise, concentrated",
        "mechanisms.draws",
        "proofs_privacy.md#Costs of mechanisms, and discrete Gaussian noise",
        "Canonne, Kamath, Steinke, 2020",
        "Gaussian.discrete_gaussian_zcdp",
        "sums",
        "accounting/test_discrete_gaussian.py::test_no_neighbours_in_one_dimension_exceed_the_claim",
        _OF_NUMBERS,
        "discrete gaussian: sensitivity not squared",
        open="Poisson's summation formula, the one axiom",
    ),
    Row(
        "Gaussian noise by its exact curve, and discrete noise at a distance from it",
        "accounting.claims.costs",
        "proofs_privacy.md#Costs of mechanisms, and discrete Gaussian noise",
        "Balle, Wang, 2018",
        "Gaussian.claim_at_a_distance Normal.gaussian_fits",
        "gaussian_sigma discrete_gaussian_sigma",
        "accounting/test_discrete_gaussian.py::*",
        "",
        "discrete gaussian: tail 24 is 48",
        open="that the curve is that of continuous Gaussian noise, and that the total variation is at most "
        "1 / (24 sigma^2); compared are numbers with the curve",
    ),
    Row(
        "integers below a bound, uniform and exact",
        "kernels.draw",
        "privacy_theorems.md#The other theorems",
        "Lemire, 2019",
        "Draws.words_of_a_draw Draws.words_of_a_draw_are_words Draws.threshold_of_the_kernel",
        "",
        "kernels/test_draw.py::test_large_bounds_are_not_biased_towards_small_numbers",
        "",
        "draw: rejection of Lemire dropped",
    ),
    Row(
        "AboveThreshold: any, monotone and running counts",
        "mechanisms.above_threshold",
        "proofs_privacy.md#AboveThreshold",
        "[DR11] section 3.6; Lyu, Su, Li, 2017",
        "Threshold.above_threshold_any Threshold.above_threshold_monotone Threshold.above_threshold_running "
        "Plans.tests_epsilon_of_any Plans.tests_epsilon_of_monotone Plans.tests_epsilon_of_running",
        "tests",
        "mechanisms/test_above_threshold.py::test_no_neighbours_exceed_the_claim",
        _OF_NUMBERS,
        "above threshold: any queries, test scale halved",
    ),
    Row(
        "noise of AboveThreshold",
        "mechanisms.above_threshold",
        "proofs_privacy.md#AboveThreshold",
        "",
        "Noise.geometric_threshold Noise.geometric_test Noise.laplace_threshold Noise.laplace_test",
        "tests",
        "mechanisms/test_above_threshold.py::test_single_tests_stop_by_the_law_too",
        "",
        "above threshold: running 1, 1 is 1/2, 1",
    ),
    Row(
        "tests without threshold noise",
        "accounting.curves.repeated_threshold",
        "proofs_privacy.md#Tests without threshold noise",
        "",
        "",
        "",
        "mechanisms/test_above_threshold.py::*",
        "",
        "repeated threshold: a positive too few",
        open="`repeated_epsilon`",
    ),
    Row(
        "Winnow: what one row changes, also with weights that fade",
        "accounting.papers.winnow",
        "proofs_privacy.md#Winnow",
        "[BF] section 4, improved",
        "Plans.winnow_width_of_features Plans.winnow_width_of_negated",
        "winnow_width",
        _SCORES,
        _OF_NUMBERS,
        "winnow range: factor 2 of replace dropped",
    ),
    Row(
        "Winnow: draws, windows and rising weights",
        "accounting.papers.winnow",
        "proofs_privacy.md#Winnow",
        "[BF] Theorem 4.5, improved",
        "Winnow.winnow_zcdp Winnow.winnow_private Winnow.equal_weights_pay Winnow.rising_weights_pay "
        "Winnow.a_window_pays Plans.draws_rho_of_rounds",
        "winnow winnow_weight draws",
        "accounting/test_winnow.py::test_weights_and_windows_keep_the_claim_of_so_many_releases",
        _OF_NUMBERS,
        "winnow: draws not composed",
        open="that tests count by their exact divergence of each order, as `winnow_epsilon` has it; proved is the "
        "whole run with e^2 / 2 for them, as `winnow_rho` has it",
    ),
    Row(
        "Winnow: tests of intervals, paid once",
        "accounting.papers.winnow",
        "proofs_privacy.md#Winnow",
        "[BF] Theorem 4.5, improved",
        "Threshold.threshold_paid_once",
        "winnow",
        "mechanisms/test_above_threshold.py::"
        "test_intervals_between_releases_share_one_epsilon_when_a_row_counts_in_one_only",
        _OF_NUMBERS,
        "winnow: threshold's share twice",
    ),
    Row(
        "SparseSample, one draw",
        "accounting.curves.sparse_sample",
        "proofs_privacy.md#SparseSample",
        "[Lyu]",
        "SparseSample.sparse_sample_lists",
        "sparse_sample sparse_sample_plan",
        "mechanisms/test_sparse_sample.py::test_the_claim_holds_for_all_pairs_of_neighbours_of_a_small_universe",
        f"{_REPLAYS}::test_one_example_moves_teachers_by_what_was_charged",
        "sparse sample: delta / 2 is delta",
        open="the composition of k draws in `sparse_sample_epsilon`, by concentrated privacy beside delta",
    ),
    Row(
        "steps that see one random row",
        "accounting.curves.single_sample",
        "proofs_privacy.md#Steps that see one random row",
        "[NUZ]",
        "SingleSample.sampling_amplifies SingleSample.moment_by_curves SingleSample.single_sample_moment "
        "SingleSample.single_sample_private SingleSample.single_sample_claim",
        "single_sample",
        "accounting/test_single_sample.py::test_no_step_on_a_line_has_more_divergence_than_is_claimed",
        "",
        "single sample: 24 is 240",
        open="that Gaussian noise has the curve, and what lies beyond 30 standard deviations, where laws on finitely "
        "many outcomes end",
    ),
    Row(
        "private_search, one pure claim",
        "accounting.curves.selection",
        "proofs_privacy.md#The best of several runs",
        "Liu, Talwar, 2019, improved",
        "Selection.selection_pure Selection.selection_at_most_3 Plans.selection_price_of_runs",
        "selection selection_base",
        "accounting/test_selection.py::test_one_pure_claim_has_a_closed_form_below_three_times_epsilon",
        "",
        "selection: the price of one look, not two",
    ),
    Row(
        "private_search, many claims, Gaussian runs",
        "accounting.curves.selection",
        "proofs_privacy.md#The best of several runs",
        "",
        "Selection.selection_of_claims Selection.between_corners Gaussian.selection_of_concentrated_runs",
        "",
        "accounting/test_selection.py::test_neighbours_are_no_further_apart_than_claimed_at_any_of_the_claims",
        "",
        "selection: delta of one run",
        open="that the constant which the code finds satisfies the theorem's inequality at all corners of 64 claims",
    ),
    Row(
        "private_search, the law of the best run",
        "model_selection.search",
        "privacy_theorems.md#Choosing among settings",
        "",
        "Selection.best_is_the_law Selection.best_of_is_the_law",
        "",
        "accounting/test_selection.py::test_the_law_of_the_best_is_that_of_all_sequences_of_runs_the_first_among_equals",
        "",
        "search: counts rows that were fitted",
    ),
    Row(
        "halfspaces: sums of rows times capped residuals, two and k classes",
        "learners.halfspaces.model",
        "privacy_theorems.md#The other theorems",
        "",
        "Plans.logistic_square_of_two Plans.logistic_square_of_classes Sensitivity.residual_square "
        "Sensitivity.held_within_limit Centred.centred_row_within_reach Centred.limit_of_plain_rows",
        "logistic halfspace",
        _SUMS,
        _MOST,
        "halfspace: sqrt(2) of more classes dropped",
    ),
    Row(
        "halfspaces: the opening and what follows the rounds",
        "learners.halfspaces.images",
        "proofs_privacy.md#The opening histogram",
        "",
        "Sensitivity.opening_replace Sensitivity.opening_add_remove Plans.counts_square_of_units",
        "images halfspace",
        "learners/halfspaces/test_images.py::test_one_row_moves_a_sum_by_the_sensitivity_at_most",
        _MOST,
        "halfspace: the histogram moves by twice what is paid",
        open="the opening of plain rows and of projected rows (sums of the entries of rows)",
    ),
    Row(
        'pairs of columns: scores of any number of classes, and "none"',
        "learners.halfspaces.pairs",
        "privacy_theorems.md#Pairs of columns",
        "",
        "Plans.pairs_width_of_units Plans.class_score_add Sensitivity.pair_score_replace Sensitivity.pairs_with_none",
        "pairs",
        _SCORES,
        _OF_NUMBERS,
        "pairs: more classes move by as much as two",
    ),
    Row(
        "random trees, drawn from what was released",
        "learners.halfspaces.trees",
        "privacy_theorems.md#Trees",
        "",
        "Trees.drawn_trees_cost_nothing Trees.drawn_trees_cost_no_rho Centred.square_of_centred",
        "",
        "learners/halfspaces/test_trees.py::test_drawing_reads_releases_only",
        _OF_NUMBERS,
        "trees: leaves are not in the norm",
        open="that the trees are a function of releases (tested: drawing reads nothing else)",
    ),
    Row(
        "boosting: weighted sums of rows, and stumps",
        "learners.halfspaces.weak",
        "privacy_theorems.md#The other theorems",
        "[BCS] Theorem 27, improved",
        "Sensitivity.boosting_sensitivity Sensitivity.boosting_sensitivity_of_the_mean "
        "Plans.boosting_moves_of_weights Plans.stump_width_of_agreements Sensitivity.capped_scaling_moves_one_way "
        "Measure.weight_rises Measure.measure_moves Measure.measure_of_at_least_moves Measure.local_measure_moves",
        "boosting stump stump_noise",
        "learners/halfspaces/test_measure.py::test_one_row_moves_a_sum_of_vectors_by_at_most_two_and_does",
        _MOST,
        "centering: 2 CAP is CAP",
        open="that the kernels return such a measure, with the wanted mass (tested in integers)",
    ),
    Row(
        "projected halfspaces: weights that are projected",
        "learners.halfspaces.projected",
        "proofs_privacy.md#Weights that are projected",
        "[NUZ]",
        "Plans.boosting_moves_of_weights Plans.logistic_square_of_two",
        "logistic",
        _SUMS,
        _MOST,
        "projected: replace moves by 1",
        open="the page's theorem that projected weights move one way",
    ),
    Row(
        "nets of halfspaces, Littlestone classes: draws by scores and SparseSample",
        "learners.halfspaces.net",
        "proofs_privacy.md#SparseSample",
        "[NUZ], [Lyu]",
        "Exponential.exponential_replace Exponential.exponential_add_remove SparseSample.sparse_sample_lists",
        "sparse_sample pure_plan",
        "learners/halfspaces/test_net.py::*",
        f"{_REPLAYS}::test_one_round_moves_online_teachers_by_what_was_charged",
        "net: replace moves by 1",
        open="the composition of draws of SparseSample, as above",
    ),
    Row(
        "a survey and what follows: delta is d + (1 - d) G, with d of words and of labels",
        "accounting.curves.opening",
        "proofs_privacy.md#A survey and its learner",
        "",
        "Survey.words_and_labels Survey.survey_curve Survey.survey_and_learner Plans.lone_of_columns",
        "survey survey_mu survey_rho survey_noise opening_threshold",
        "mechanisms/test_opening.py::test_a_survey_costs_what_its_words_and_its_labels_cost_together",
        f"{_REPLAYS}::test_words_leave_the_other_answers_what_their_theorem_says",
        "discovery: labels at the delta of words",
        open="the tail of discrete Gaussian noise that sets thresholds of words; compared are thresholds with the tail "
        "of continuous noise",
    ),
    Row(
        "a survey: how far rows move its looks, and what all of them cost",
        "discovery.survey",
        "proofs_privacy.md#A survey and its learner",
        "",
        "Survey.survey_moves Survey.words_in_groups_too Survey.dominated_composition Survey.steered_looks "
        "Survey.shared_look Survey.later_looks Plans.looks_cost_together",
        "survey counts",
        "discovery/test_discovery.py::test_a_row_moves_both_looks_by_no_more_than_was_planned",
        _DISCOVERED,
        "discovery: a second look for nothing",
    ),
    Row(
        "frequent values",
        "mechanisms.frequent",
        "proofs_privacy.md#Frequent values",
        "Korolova et al., 2009",
        "Noise.laplace_pure Noise.laplace_tail Survey.lone_or_private",
        "frequent laplace",
        "mechanisms/test_frequent.py::test_neighbours_differ_by_epsilon_and_delta_and_no_lower_threshold_would_do",
        "",
        "frequent values: factor 2 of replace dropped",
        open='the claim itself: that delta under "replace" is that of one value, and approximate zCDP',
    ),
    Row(
        "quantiles",
        "mechanisms.quantiles",
        "privacy_theorems.md#The other theorems",
        "Smith, 2011; Kaplan, Schnapp, Stemmer, 2022",
        "Quantiles.edge_score_add Quantiles.edge_score_replace Exponential.exponential_bounded_range",
        "quantiles",
        "mechanisms/test_quantiles.py::test_neighbours_differ_by_the_cost_at_most",
        _DISCOVERED,
        "quantiles: range of replace 2 is 1",
        open="the composition over levels, in which a row may be in two intervals",
    ),
    Row(
        "statistical queries",
        "learners.experts.statistical_query",
        "privacy_theorems.md#The other theorems",
        "[DR11]",
        "Noise.laplace_pure Gaussian.discrete_gaussian_zcdp Sensitivity.sum_replace",
        "laplace sums",
        "learners/experts/test_statistical_query.py::*",
        f"{_REPLAYS}::test_one_row_moves_the_answers_of_an_oracle_by_what_was_charged",
        "queries: count of rows unpaid",
    ),
    Row(
        "probabilities of a model: counts beside it",
        "learners.probabilities",
        "privacy_theorems.md#The other theorems",
        "",
        "Noise.histogram_replace Noise.histogram_add Plans.laplace_epsilon_of_counts Privacy.adaptive_composition",
        "laplace",
        "learners/test_probabilities.py::test_model_and_counts_together_are_what_is_claimed",
        "",
        "probabilities: counts cost nothing",
    ),
    Row(
        "class counts, confusion matrices, ROC curves, areas",
        "metrics.ranking",
        "privacy_theorems.md#The other theorems",
        "",
        "Noise.histogram_replace Noise.histogram_add Plans.laplace_epsilon_of_counts",
        "laplace",
        "metrics/test_figures.py::test_one_row_moves_the_cells_by_at_most_two_in_sum",
        "",
        "figures: factor 2 of moved cells dropped",
    ),
    Row(
        "figures by the values of a column, and by classes",
        "metrics.groups",
        "privacy_theorems.md#The other theorems",
        "",
        "Noise.histogram_replace Noise.histogram_add Plans.laplace_epsilon_of_counts",
        "laplace",
        "metrics/test_groups.py::test_one_row_moves_the_cells_of_groups_and_classes_by_what_the_noise_is_for",
        "",
        "groups: a replaced row in one cell",
    ),
    Row(
        "rows without a label, which are left out",
        "base.classifier",
        "proofs_privacy.md#Rows without a label",
        "",
        "Plans.sum_moves_without_label",
        "",
        "premises/test_unlabelled.py::test_rows_without_a_label_give_the_model_of_the_others",
        "premises/test_unlabelled.py::test_a_row_that_loses_its_label_moves_no_more_than_was_charged",
        "rows without a label: intervals in an order",
        open="that releases other than sums move by no more for a removed row than for a replaced one",
    ),
    Row(
        "units of k rows: sums",
        "base.units",
        "privacy_theorems.md#The other theorems",
        "",
        "Sensitivity.sum_units_replace Sensitivity.sum_units_add Survey.counts_of_unit",
        "counts pure_plan",
        "base/test_units.py::test_a_sum_moves_by_no_more_than_a_person_is_counted_for",
        f"{_REPLAYS}::test_the_rows_of_a_person_move_no_more_than_was_charged",
        "units: noise of one row",
    ),
    Row(
        "units of k rows: lists",
        "base.units",
        "privacy_theorems.md#The other theorems",
        "",
        "Cover.cover_units Cover.cover_curve Privacy.group_privacy",
        "list",
        "base/test_units.py::test_a_list_is_private_for_persons_by_its_own_curve",
        f"{_REPLAYS}::test_the_rows_of_a_person_move_no_more_than_was_charged",
        "list: draws of one row for units",
    ),
    Row(
        "units of k rows: which rows are kept",
        "base.units",
        "privacy_theorems.md#The other theorems",
        "",
        "Privacy.private_mixture",
        "",
        "base/test_units.py::*",
        f"{_REPLAYS}::test_persons_of_more_rows_than_are_kept_move_no_more_than_was_charged",
        "units: the first rows are kept",
        open="that the choice of the rows of other units does not depend on the unit that differs",
    ),
    Row(
        "training and test part of one split",
        "model_selection.split",
        "proofs_privacy.md#A training and a test part",
        "",
        "Privacy.parallel_composition",
        "",
        "model_selection/test_split.py::test_tables_of_a_row_replaced_diverge_by_the_larger_claim_and_not_by_the_sum",
        "",
        "split: figures of rows that were fitted",
    ),
    Row(
        "one fit from its plan to its claim: the naive Bayes of the gallery",
        "base.plan",
        "guides/own_proof.md#A whole fit",
        "",
        "NaiveBayes.histogram_moves NaiveBayes.histogram_zcdp NaiveBayes.naive_bayes_private",
        "naive_bayes",
        "docs/test_own_learner.py::test_a_row_moves_its_histogram_by_nearly_what_was_charged_and_no_more",
        "docs/test_own_learner.py::test_the_naive_bayes_of_the_gallery_passes_its_checks",
        "plan: Gaussian noise of one row for units",
        open="the claim at the printed epsilon, 1, which uses the exact Gaussian curve; proved is it at 1.08",
    ),
)
# Modules of privacy that need no row: arithmetic, ledgers, and what composes the rows above.
BESIDE = {"numbers", "searches", "ledger", "budget", "opening", "__init__"}
# Modules of accounting that bound learning, not privacy.
LEARNING = {"decision_lists", "finite_class", "halfspaces", "halfspaces_paper", "littlestone", "winnow_mistakes"}
LEARNING |= {"lower_bounds", "new_rows"}


def groups():
    """{name of each group: (its function, the number of its values)}."""
    texts = [(HERE / name).read_text(encoding="utf-8") for name in ("Values.v", "Calibrations.v", "GaussianNumbers.v")]
    lemmas = re.findall(r"^Lemma (\w+) :", "\n".join(texts), re.MULTILINE)
    functions = {name: group.function.removeprefix("dpfast.") for name, group in values.GROUPS.items()} | FUNCTIONS
    return {name: (function, sum(_of(each, name) for each in lemmas)) for name, function in functions.items()}


def _of(lemma, group):
    return re.fullmatch(rf"{group}_\d+", lemma) is not None or (group == "printed" and lemma.startswith("printed_"))


def table():
    """The table of what was checked of each mechanism."""
    found = groups()
    rows = [
        "| mechanism | paper | proof | Coq, in `proofs/` | values compared | law test | replay | mutant |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        page, heading = row.proof.split("#")
        compared = [f"{found[name][1]} of `{found[name][0]}`" for name in row.values.split()]
        cells = (
            row.name,
            row.paper,
            f"[{heading}](../{page}#{_slug(heading)})",
            ", ".join(f"`{each}`" for each in row.coq.split()) + (" *in part*" if row.coq and row.open else ""),
            ", ".join(compared),
            _test(row.law),
            _test(row.replay),
            row.mutant,
        )
        rows.append(f"| {' | '.join(cell or '-' for cell in cells)} |")
    return "\n".join(rows) + "\n"


def gaps():
    """The list of what is not proved in Coq."""
    return "".join(f"- {row.name} (`dpfast.{row.code}`): {row.open}.\n" for row in ROWS if row.open)


def _slug(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _test(name):
    return f"`{name.removesuffix('::*')}`" if name else ""


def pages():
    """The pages of both tables, with the text that they should have."""
    for name, made in (("table", table()), ("gaps", gaps())):
        text, begin = PAGES[name].read_text(encoding="utf-8"), BEGIN.format(name)
        between = re.escape(begin) + r".*?" + re.escape(END)
        yield PAGES[name], re.sub(between, lambda _, b=begin, m=made: f"{b}\n{m}\n{END}", text, flags=re.S)


def faults():
    """What is not so, in words."""
    texts = sources()
    proved = {f"{name}.{each}" for name, text in texts.items() for each in read(name, text, texts).stated}
    found = groups()
    mutants = "\n".join(path.read_text(encoding="utf-8") for path in (TOP / "tests" / "mutants").glob("*.py"))
    for row in ROWS:
        yield from (f"{row.name}: proofs/ has no {each}" for each in row.coq.split() if each not in proved)
        for each in row.values.split():
            if each not in found or not found[each][1]:
                yield f"{row.name}: there are no values {each}"
        if not row.coq and not row.open:
            yield f"{row.name}: neither proved in Coq nor said to be open"
        if (
            not (TOP / "dpfast" / row.code.replace(".", "/")).with_suffix(".py").exists()
            and not (TOP / "dpfast" / row.code.replace(".", "/")).with_suffix(".pyx").exists()
        ):
            yield f"{row.name}: there is no module dpfast.{row.code}"
        name, heading = row.proof.split("#")
        if not re.search(rf"^#+ {re.escape(heading)}$", (TOP / "docs" / name).read_text(encoding="utf-8"), re.M):
            yield f"{row.name}: docs/{name} has no heading {heading}"
        for test in filter(None, (row.law, row.replay)):
            file, name = test.split("::")
            path = TOP / "tests" / file
            if not path.exists() or (
                name != "*" and not re.search(rf"^def {name}\(", path.read_text(encoding="utf-8"), re.M)
            ):
                yield f"{row.name}: there is no tests/{test}"
        if row.mutant and f'"{row.mutant}"' not in mutants:
            yield f"{row.name}: tests/mutants has no {row.mutant!r}"
    yield from missing()
    for name, function in {**FUNCTIONS, **{key: each.function for key, each in values.GROUPS.items()}}.items():
        if not _exists(function if function.startswith("dpfast.") else f"dpfast.{function}"):
            yield f"values {name}: there is no {function}"
    if unused := set(found) - {each for row in ROWS for each in row.values.split()}:
        yield f"no row has the values {', '.join(sorted(unused))}"
    for path, text in pages():
        if text != path.read_text(encoding="utf-8"):
            yield f"{path.relative_to(TOP)} does not print its table as it is: python proofs/bridge.py --write"


def missing():
    """Modules of mechanisms and accounts, and proofs on paper, that no row names."""
    named = {row.code for row in ROWS}
    for folder, beside in (("mechanisms", {"__init__", "opening", "sparse_sample"}), ("accounting", BESIDE | LEARNING)):
        for path in sorted((TOP / "dpfast" / folder).glob("*.py")):
            if path.stem not in beside and f"{folder}.{path.stem}" not in named:
                yield f"no row has dpfast.{folder}.{path.stem}"
    pages = {row.proof for row in ROWS}
    for heading in re.findall(r"^## (.*)$", (TOP / "docs" / "proofs_privacy.md").read_text(encoding="utf-8"), re.M):
        if f"proofs_privacy.md#{heading}" not in pages:
            yield f"no row has the proof of docs/proofs_privacy.md, {heading}"


def _exists(name):
    """Whether a dotted name is a module, or something in one."""
    head, rest = name.split("."), []
    while head:
        try:
            found = importlib.import_module(".".join(head))
        except ModuleNotFoundError:
            rest.insert(0, head.pop())
            continue
        for each in rest:
            found = getattr(found, each, None)
        return found is not None
    return False


def not_as_written():
    """Files of values that the functions of dpfast no longer give."""
    made = {"Values.v": values.text(), **grid.files()}
    return [f"{name} is not as written" for name, text in made.items() if (HERE / name).read_text("utf-8") != text]


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        for path, text in pages():
            path.write_text(text, encoding="utf-8")
    if {"--write", "--check"} & set(sys.argv[1:]):
        sys.exit("\n".join([*not_as_written(), *faults()]) or None)
    print(table(), gaps(), sep="\n")
