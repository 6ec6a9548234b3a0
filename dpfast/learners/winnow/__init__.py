"""Winnow, private and not [BF, section 4]; its private state, streams and checkpoints."""

from .classifier import DPWinnowClassifier
from .confident import WinnowClassifier
from .point_stream import make_point_stream

__all__ = ["DPWinnowClassifier", "WinnowClassifier", "make_point_stream"]
