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
    with pytest.raises(ValueError, match="one of adult, mushroom, got 'iris'"):
        dpfast.load_dataset("iris")


def test_adult_is_a_table_with_its_schema():
    adult = dpfast.load_dataset("adult")
    assert adult.data.shape == (48_842, 14)
    assert adult.data.column_names == adult.feature_names == adult.schema.names
    assert np.unique(adult.target, return_counts=True)[1].tolist() == [37_155, 11_687]
    assert (
        adult.schema.check({**{name: adult.data[name] for name in adult.feature_names}, "income": adult.target}) == []
    )
    assert "CC BY 4.0" in adult.DESCR
