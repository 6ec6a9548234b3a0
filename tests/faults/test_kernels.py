"""Each kernel beside its twin: random shapes, strides, types, extremes; a refusal draws nothing."""

from contextlib import suppress

import pytest
import twins_packed
import twins_reals
from fuzz import Fuzz, Stop
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfast.kernels import cpu


@pytest.mark.parametrize("trial", twins_packed.TRIALS + twins_reals.TRIALS, ids=lambda trial: trial.__name__)
def test_a_kernel_agrees_with_its_twin_or_refuses(trial, many):
    before = cpu.level()

    @settings(max_examples=many(15, 5000), deadline=None, database=None, derandomize=True)
    @given(st.randoms(use_true_random=False))
    def tried(random):
        with suppress(Stop):
            trial(Fuzz(random))

    try:
        tried()
    finally:
        cpu.use(before)
