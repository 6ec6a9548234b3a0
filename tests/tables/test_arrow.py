from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dpfast.tables.arrow import Fault, Frame

EVENING = datetime(2020, 1, 31, 23, tzinfo=UTC)


@pytest.mark.parametrize("held", [list, lambda values: np.array(values, object), lambda v: pd.Series(v, dtype=object)])
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([Decimal(1), Decimal("2.5")], "Decimal objects, whose scale"),
        ([EVENING, EVENING.astimezone(timezone(timedelta(hours=10)))], "times with zones"),
        ([EVENING, EVENING.replace(tzinfo=None)], "times with zones"),
    ],
)
def test_objects_whose_common_type_one_row_could_change_are_refused(held, values, words):
    with pytest.raises(Fault, match=words):
        Frame({"c": held(values)}).column("c")


def test_objects_of_plain_types_are_read():
    frame = Frame({"a": ["x", None], "b": [datetime(2020, 1, 1), None], "c": np.array([1.5, None], object)})
    assert [len(frame.column(name)) for name in "abc"] == [2, 2, 2]
