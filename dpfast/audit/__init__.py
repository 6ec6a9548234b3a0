"""Audits: what a claim of privacy withstands when the code that makes it is run.

`certify` runs a mechanism many times on two neighbouring tables and bounds its epsilon from below. `replay` fits a
learner twice, gives the second fit the answers of the first, and compares all that it asked.
"""

from .certificates import Audit, certify
from .replays import Replay, replay

__all__ = ["Audit", "Replay", "certify", "replay"]
