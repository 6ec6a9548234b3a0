"""Winnow, private and not [BF, section 4]; its private state, streams and checkpoints."""

from .classifier import DPWinnowClassifier
from .confident import WinnowClassifier

__all__ = ["DPWinnowClassifier", "WinnowClassifier"]
