"""Writes the inventories beside it: of what the pages link to elsewhere, and no more."""

import zlib
from pathlib import Path

CLASS, FUNCTION, MODULE = "py:class", "py:function", "py:module"
LINKED = {
    "python": [("fractions.Fraction", CLASS, "library/fractions.html#$"), ("int", CLASS, "library/functions.html#$")],
    "numpy": [
        ("numpy.ndarray", CLASS, "reference/generated/numpy.ndarray.html#$"),
        ("numpy.random.Generator", CLASS, "reference/random/generator.html#$"),
    ],
    "scipy": [("scipy.sparse.csr_array", CLASS, "reference/generated/scipy.sparse.csr_array.html#$")],
    "sklearn": [
        ("sklearn.base.clone", FUNCTION, "modules/generated/$.html#$"),
        ("sklearn.pipeline.Pipeline", CLASS, "modules/generated/$.html#$"),
    ],
    "pandas": [("pandas.DataFrame", CLASS, "reference/api/pandas.DataFrame.html#$")],
}

for name, entries in LINKED.items():
    head = f"# Sphinx inventory version 2\n# Project: {name}\n# Version: \n# The remainder is compressed using zlib.\n"
    lines = "".join(f"{entry} {role} 1 {address} -\n" for entry, role, address in entries)
    Path(__file__).with_name(f"{name}.inv").write_bytes(head.encode() + zlib.compress(lines.encode(), 9))
