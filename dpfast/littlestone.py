"""Littlestone classes: dimension, decomposition, and private learning [Lyu]; see `dpfast.learners.littlestone`."""

from dpfast.learners.littlestone import *  # noqa: F403
from dpfast.learners.littlestone import __all__ as __all__  # type: ignore[attr-defined]
