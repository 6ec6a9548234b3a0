"""Audits of privacy claims, which run the code that makes the claim.

`certify` runs a mechanism many times on two neighbouring tables and bounds its epsilon from below. `replay` fits a
learner twice, gives the second fit the answers of the first, and compares all that it asked.
"""

from .certificates import Audit, certify
from .replays import Replay, replay

__all__ = ["Audit", "Replay", "certify", "replay"]
