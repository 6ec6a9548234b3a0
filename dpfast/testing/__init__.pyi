from .checks import Checked as Checked
from .checks import check_private_estimator as check_private_estimator
