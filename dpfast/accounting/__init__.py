"""Privacy accounting: numbers only, no data."""

from .bill import BillNoise, Draws, NoisySums, bill_delta, bill_noise
from .budget import Budget
from .claims import PrivacySpend, Release, compose
from .composition import Composed
from .costs import Cost
from .curves import cover_delta, cover_epsilon, cover_exponent
from .decision_lists import DecisionListPaper, DecisionListPlan, decision_list_paper, decision_list_plan
from .experts import (
    ExpertsPaper,
    experts_epsilon,
    experts_learning_rate,
    experts_paper,
    experts_range,
    experts_regret,
    linear_excess,
)
from .filters import BudgetExceeded
from .finite_class import FiniteClassPlan, finite_class_plan
from .gaussian import discrete_gaussian_delta, discrete_gaussian_sigma
from .halfspaces import (
    BoostPlan,
    NetPlan,
    ProjectedPlan,
    boost_plan,
    net_plan,
    projected_plan,
)
from .halfspaces_paper import BoostPaper, ProjectionPaper, boost_paper, net_paper, projected_paper
from .individual import IndividualNoise, individual_delta, individual_sigma
from .laplace import laplace_scale
from .list_margin import DecisionListHalfspace, decision_list_margin
from .littlestone import StagedLittlestonePlan, StagedOnlinePlan, staged_online_plan, staged_plan
from .lower_bounds import experts_lower_bound, halfspace_lower_bound
from .new_rows import new_row_error
from .point_functions import PointBound, point_lower_bound
from .repeated_threshold import repeated_epsilon
from .selection import selection_base, selection_cost, selection_epsilon
from .single_sample import single_sample_epsilon, single_sample_sigma
from .sparse_sample import (
    SparseSamplePlan,
    sparse_sample_bottom_score,
    sparse_sample_delta,
    sparse_sample_epsilon,
    sparse_sample_plan,
)
from .warning import PrivacyWarning
from .winnow import winnow_epsilon, winnow_learning_rate, winnow_range, winnow_rho, winnow_weight
from .winnow_mistakes import WinnowPlan, batched_plan, batched_update_bound, winnow_paper, winnow_update_bound
from .zcdp import gaussian_delta, gaussian_epsilon, gaussian_sigma, zcdp_delta, zcdp_epsilon, zcdp_rho

__all__ = [
    "BillNoise",
    "BoostPaper",
    "BoostPlan",
    "Budget",
    "BudgetExceeded",
    "Composed",
    "Cost",
    "DecisionListHalfspace",
    "DecisionListPaper",
    "DecisionListPlan",
    "Draws",
    "ExpertsPaper",
    "FiniteClassPlan",
    "IndividualNoise",
    "NetPlan",
    "NoisySums",
    "PointBound",
    "PrivacySpend",
    "PrivacyWarning",
    "ProjectedPlan",
    "ProjectionPaper",
    "Release",
    "SparseSamplePlan",
    "StagedLittlestonePlan",
    "StagedOnlinePlan",
    "WinnowPlan",
    "batched_plan",
    "batched_update_bound",
    "bill_delta",
    "bill_noise",
    "boost_paper",
    "boost_plan",
    "compose",
    "cover_delta",
    "cover_epsilon",
    "cover_exponent",
    "decision_list_margin",
    "decision_list_paper",
    "decision_list_plan",
    "discrete_gaussian_delta",
    "discrete_gaussian_sigma",
    "experts_epsilon",
    "experts_learning_rate",
    "experts_lower_bound",
    "experts_paper",
    "experts_range",
    "experts_regret",
    "finite_class_plan",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_sigma",
    "halfspace_lower_bound",
    "individual_delta",
    "individual_sigma",
    "laplace_scale",
    "linear_excess",
    "net_paper",
    "net_plan",
    "new_row_error",
    "point_lower_bound",
    "projected_paper",
    "projected_plan",
    "repeated_epsilon",
    "selection_base",
    "selection_cost",
    "selection_epsilon",
    "single_sample_epsilon",
    "single_sample_sigma",
    "sparse_sample_bottom_score",
    "sparse_sample_delta",
    "sparse_sample_epsilon",
    "sparse_sample_plan",
    "staged_online_plan",
    "staged_plan",
    "winnow_epsilon",
    "winnow_learning_rate",
    "winnow_paper",
    "winnow_range",
    "winnow_rho",
    "winnow_update_bound",
    "winnow_weight",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_rho",
]
