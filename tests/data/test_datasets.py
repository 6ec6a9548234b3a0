import numpy as np
import pytest

import dpfast


def test_mushroom_is_what_its_description_says():
    mushroom = dpfast.load_dataset("mushroom")
    assert mushroom.data.shape == (8124, 126)
    assert mushroom.data.nnz == 178_728
    assert (mushroom.data.sum(axis=1) == 22).all()
    assert dict(zip(*np.unique(mushroom.target, return_counts=True), strict=True)) == {
        "edible": 4208,
        "poisonous": 3916,
    }
    assert mushroom.feature_names.index("odor=none") >= 0
    assert mushroom.data[:, [mushroom.feature_names.index("odor=foul")]].sum() == 2160
    assert "CC BY 4.0" in mushroom.DESCR


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="one of mushroom, got 'iris'"):
        dpfast.load_dataset("iris")
