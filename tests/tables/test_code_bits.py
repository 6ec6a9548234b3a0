import numpy as np

from dpfast.tables import Boolean, Category, CodeTable, Numeric, Schema
from dpfast.tables.code_bits import pack_codes
from dpfast.tables.encoding import encode

SCHEMA = Schema(
    [
        Numeric("age", 0, 120, edges=[18, 37.5], nullable=True),
        Numeric("dose", edges=[1.0]),
        Category("job", ["clerk", "smith"], nullable=True),
        Boolean("ill"),
        Boolean("smokes", nullable=True),
    ]
)
TABLE = {
    "age": [10, 20, 40, None],
    "dose": [1, 2, 1, 2],
    "job": ["smith", "baker", None, "clerk"],
    "ill": [True, False, False, True],
    "smokes": [True, None, False, True],
}


def test_bits_are_thresholds_and_values_by_their_names():
    bits = pack_codes(encode(TABLE, SCHEMA))
    expected = {
        "age > 18": [0, 1, 1, 0],
        "age > 37.5": [0, 0, 1, 0],
        "age = missing": [0, 0, 0, 1],
        "dose > 1": [0, 1, 0, 1],
        "job = clerk": [0, 0, 0, 1],
        "job = smith": [1, 0, 0, 0],
        "job = other": [0, 1, 0, 0],
        "job = missing": [0, 0, 1, 0],
        "ill = true": [1, 0, 0, 1],
        "smokes = false": [0, 0, 1, 0],
        "smokes = true": [1, 0, 0, 1],
        "smokes = missing": [0, 1, 0, 0],
    }
    assert bits.feature_names == list(expected)
    np.testing.assert_array_equal(bits.toarray(), np.transpose([*expected.values()]))


def test_codes_that_nobody_explains_are_values():
    bits = pack_codes(CodeTable([[0, 2], [1, 1]], sizes=[2, 3], names=["a", "b"]))
    assert bits.feature_names == ["a = 0", "a = 1", "b = 0", "b = 1", "b = 2"]
    assert bits.toarray().astype(int).tolist() == [[1, 0, 0, 0, 1], [0, 1, 0, 1, 0]]
    assert pack_codes(CodeTable([[0]], sizes=[1])).feature_names == ["x0 = 0"]
