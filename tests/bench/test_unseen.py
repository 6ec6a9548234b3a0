import numpy as np
import pytest
import unseen


def test_a_setting_that_is_best_by_luck_alone_gains_nothing_elsewhere(rng):
    lucky = rng.normal(size=(24, 40))
    assert np.median(lucky, axis=1).max() > 0.2
    assert abs(unseen.tuned_elsewhere(lucky).mean()) < 0.5
    lucky[7] += 10
    assert unseen.tuned_elsewhere(lucky).mean() == pytest.approx(lucky[7].mean())


def test_the_page_tells_both_lines_of_the_noisy_gradient_and_how_many_cells_are_behind():
    lines = [[0.7, 0.7, 0.7, 0.7], [0.8, 0.7, 0.7, 0.7], [0.71, 0.7, 0.7, 0.74]]
    page = unseen.markdown(
        {
            "tables": {
                "few": {"medians": lines, "means": lines},
                "many": {"medians": lines[:1] + [None] * 2, "means": lines[:1] + [None] * 2},
            },
            "machine": {"processor": "one", "cores": 1, "level": "none", "versions": {}},
        }
    )
    assert 'Medians, ours minus "noisy gradient, tuned": -0.0250 over 4 cells, 1 of them more than 0.02 behind' in page
    assert '"noisy gradient, tuned elsewhere": -0.0125 over 4 cells, 1 of them more than 0.02 behind, by 0.040' in page
    assert [line.split(" | ")[1] for line in page.splitlines()[-4:]] == [*unseen.METHODS, unseen.METHODS[0]]
