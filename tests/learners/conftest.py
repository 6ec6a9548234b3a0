import pytest

import dpfast


@pytest.fixture(scope="module")
def mushroom():
    return dpfast.load_dataset("mushroom")
