# ruff: noqa: E501
"""Mutants of what a row becomes, and of what is read."""

from mutant import Mutant

_PREMISES = "premises"


def _m(name, file, old, new, tests):
    return Mutant(name, f"dpfast/{file}.py", old, new, tests)


MUTANTS = [
    _m("unit rows: clipping forgotten", "tables/unit_rows",
       "self.scales[parts[k]] = kernel.scales(rows, self._constant, inside)",
       "self.scales[parts[k]] = kernel.scales(rows, self._constant, inside).max()", f"tables/test_unit_rows.py {_PREMISES}"),
    _m("unit rows: rows in the ball stay off the sphere", "tables/unit_rows", "inside = not normalize", "inside = True",
       "tables/test_unit_rows.py learners/halfspaces"),
    _m("unit rows: the type of the values tells the arithmetic", "tables/unit_rows",
       'exact = values.dtype.kind in "biuf" and values.dtype.itemsize <= 2', "exact = (values == values.round()).all()", _PREMISES),
    _m("signed rows: clip forgotten", "tables/signed_rows",
       "x = np.clip(x, 0 if x.dtype.kind == \"u\" else -1, 1) if integers else np.clip(x, low, high)", "pass",
       f"tables/test_signed_rows.py {_PREMISES} learners/winnow/test_classifier.py"),
    _m("signed rows: only the upper end is checked", "tables/signed_rows", "not (low <= x.min() and x.max() <= high)",
       "not x.max() <= high", f"tables/test_signed_rows.py {_PREMISES} learners/winnow/test_classifier.py"),
    _m("signed rows: zeros outside the range", "tables/signed_rows", "        if not low <= 0 <= high:\n",
       "        if False:\n", f"tables/test_signed_rows.py {_PREMISES}"),
    _m("signed rows: integers by their values", "tables/signed_rows", 'integers = x.dtype.kind in "iub" and (low, high) == (-1, 1)',
       "integers = (low, high) == (-1, 1) and bool((x == x.round()).all())", f"tables/test_signed_rows.py {_PREMISES}"),
    _m("labels: any number may be read off", "tables/labels", "if classes is None and len(seen) > MOST_READ_OFF:", "if False:",
       "tables/test_labels.py"),
    _m("labels: undeclared ones pass", "tables/labels", "    if unknown:\n", "    if False:\n", "tables learners/lists"),
    _m("labels: read off, and said to be declared", "tables/labels",
       "return Labels(_places(known, y), known, classes is not None)", "return Labels(_places(known, y), known, True)",
       "accounting/test_warning.py"),
    _m("identities: a number and its text are one cell", "tables/objects", "return NUMBER + _number(value)",
       "return _number(value)", "base/test_units.py tables/test_labels.py"),
    _m("identities: a number is its float", "tables/objects", "        return str(int(value))\n    try:",
       "        return str(int(float(value)))\n    try:", "base/test_units.py tables/test_labels.py"),
    _m("units: the first type of a column is that of all", "tables/arrow",
       "read = read if read.dtype == np.uint64 else read.astype(np.int64, copy=False)", "pass", "files/test_parquet.py"),
    _m("lists: numpy finds a type for all cells", "tables/arrays",
       "return np.asarray(values, object if isinstance(values, list | tuple) else None)", "return np.asarray(values)",
       "base/test_units.py learners/experts/test_finite_class.py"),
    _m("marks of parts: objects have none", "tables/marks", "repr(array.tolist())", 'str(array.shape)', "parts/test_engine.py"),
    _m("marks of parts: frames have none", "tables/marks", "yield from (np.asarray(table.iloc[:, j]) for j in range(table.shape[1]))",
       "pass", "parts/test_engine.py"),
    _m("marks of parts: units are left out", "tables/parted", ", *arrays_of(self.owners), ", ", ", "parts/test_units.py"),
    _m("marks of parts: labels are left out", "tables/parted", "for stores in self._all_stores() for store in stores]",
       "for stores in self._stores for store in stores]", "parts/test_units.py"),
    _m("rows without a label: their labels are as good as any", "tables/encoding", "has_label = labels[0] >= 0", "has_label = labels[0] >= -1",
       "premises/test_unlabelled.py"),
    _m("rows without a label: a mark is a class", "tables/encoding", "frame.identities(name, missing_labels(", "frame.identities(name, () and (",
       "premises/test_unlabelled.py"),
    _m("rows without a label: rounds of experts are as many as rows with one", "learners/experts/linear_learner",
       "spares_unlabelled = False  # a row is a round", "spares_unlabelled = True", "premises/test_unlabelled.py"),
    _m("rows without a label: intervals in an order", "learners/winnow/classifier", "return self.reads.in_parts", "return True",
       "premises/test_unlabelled.py"),
    _m("rows without a label: single steps", "learners/halfspaces/projected", 'return self.schedule != "paper"', "return True",
       "premises/test_unlabelled.py"),
    _m("rows without a label: learners of others", "base/classifier", "spares_unlabelled: ClassVar[Any] = False", "spares_unlabelled: ClassVar[Any] = True",
       "premises/test_unlabelled.py"),
    _m("rows without a label: figures count as if their number were public", "cli/figures", 'if may_lack and relation == "replace":', "if False:",
       "cli/test_score.py"),
    _m("parts read again: what was seen before is forgotten", "parts/engine", "            parts._seen = self._seen\n", "            pass\n",
       "parts/test_units.py"),
    _m("parts read again: sums are not compared", "parts/engine", "            self._check_mark(number, mark)\n", "            pass\n",
       "parts/test_engine.py"),
    _m("parts read again: a new state is not marked", "parts/engine", "        new.mark = mark\n", "        pass\n",
       "parts/test_engine.py parts/test_units.py"),
]  # fmt: skip
