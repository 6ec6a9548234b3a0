"""Fitted models in other forms: ONNX graphs, for programs that have no Python (the extra `onnx`)."""

import importlib
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpfast.kernels.reals import norm
from dpfast.learners.halfspaces.halfspace import HalfspaceClassifier
from dpfast.learners.halfspaces.linear import LinearModel
from dpfast.learners.halfspaces.net import NetModel
from dpfast.learners.lists.decision_list import DecisionListClassifier
from dpfast.learners.winnow.classifier import DPWinnowClassifier
from dpfast.tables.code_bits import CodeBits
from dpfast.tables.codes import CodeRows, CodeTable

_OPSET = 17
_LANES = 16  # of sums of `dpfast.kernels.reals`
_SHORTER = 1 - 2.0**-20  # the length of rows of `dpfast.kernels.unit_rows`
_INFINITE = 0x7F800000  # the bits of the infinity of float32
_LEAST = 1e-300  # shorter rows of float64 count as rows of zeros, as in training


def to_onnx(model: Any) -> Any:
    """Return a fitted model as an ONNX graph.

    For a table of codes, the graph computes the scores of `predict` with the same operations in the same order, so that
    every label is the same. Plain rows are computed in double precision, where dpfast computes the scores of
    `HalfspaceClassifier` in single precision: labels of rows with scores near 0 may differ. The graph holds only what
    was released, so it costs no privacy.

    Parameters
    ----------
    model : HalfspaceClassifier, DecisionListClassifier or another halfspace
        A fitted model; a halfspace other than `HalfspaceClassifier` must not have a `probability_share`. A
        DPWinnowClassifier must be one of a table with a schema, or of a table that was surveyed.

    Returns
    -------
    onnx.ModelProto
        It has one input. For a model of plain rows this is "X", float64 of shape (n, d); for a model of a table with a
        schema, or of a table that was surveyed, "codes", int64 of shape (n, p), which is
        ``model.encoder_.transform(table).toarray()``. The outputs are
        "label" and, if the model has them, "probabilities", float64 of shape (n, k). A batch of plain rows with NaN or
        infinity is an error of the program that runs the graph, an index out of bounds, as `predict` refuses it.

    Raises
    ------
    ImportError
        If onnx is not installed.
    ValueError
        For a model of another kind.
    """
    check_is_fitted(model)
    try:
        onnx = importlib.import_module("onnx")
    except ImportError:
        raise ImportError("ONNX graphs need onnx: pip install 'dpfast[onnx]'") from None
    graph = _Graph(onnx)
    if isinstance(model, HalfspaceClassifier):
        place, probabilities = _halfspace(graph, model)
    elif isinstance(model, DecisionListClassifier):
        place, probabilities = _rules(graph, model)
    elif isinstance(getattr(model, "model_", None), LinearModel | NetModel) and not hasattr(model, "class_counts_"):
        of_codes = isinstance(model.model_, NetModel) and hasattr(model, "encoder_")
        place, probabilities = (_net if of_codes else _linear)(graph, model), None
    elif isinstance(model, DPWinnowClassifier) and hasattr(model, "encoder_") and not hasattr(model, "class_counts_"):
        place, probabilities = _winnow(graph, model), None
    else:
        raise ValueError(
            "an ONNX graph is of a HalfspaceClassifier, a DecisionListClassifier, a halfspace without "
            "probability_share, or a DPWinnowClassifier without it of a table that was declared or surveyed; got a "
            f"{type(model).__name__}"
        )
    if not hasattr(model, "encoder_"):
        place = graph("Where", _odd(graph), len(model.classes_), place)  # no label has this place
    return graph.model(model, graph("Gather", _labels(model.classes_), place), probabilities)


def _linear(graph, model):
    """Return the place of the class of each row by the scores of a linear classifier."""
    released = model.model_
    if hasattr(model, "encoder_"):
        columns = zip(released.coef, released.intercept.tolist(), released.shift.tolist(), strict=True)
        bits = _bits(graph, model)
        scores = graph("Concat", *(_score_of_bits(graph, released, bits, *each) for each in columns), axis=1)
    else:
        products = _products(graph, model, model.coef_.T, model.intercept_, getattr(released, "only_clips", False))
        scores = graph("Add", products, np.atleast_1d(model.shift_))
    return _best(graph, model, scores)


def _net(graph, model):
    """Return the place of the class of each row by the sign of its projection along a direction.

    The components are sums of signs, which are whole, on the scale of the kernel `dpfast.kernels.signs`.
    """
    released = model.model_
    nets, key = released.nets, released.projection_key
    direction = nets.direction(released.member)
    first = np.flatnonzero(direction)[0] // nets.components * nets.components
    own, width = slice(first, first + nets.components), len(CodeBits(_no_rows(model)).spans)
    if nets.projected:
        signs, constant, scale = nets.signs(key)
        of_bits, constant = signs[:width, own].astype(np.int64), constant[own]
        sums = graph.cast(_sums_of_bits(graph, model, of_bits), "FLOAT")
        rows = graph.cast(graph("Add", graph("Mul", sums, scale), constant), "DOUBLE")
    else:
        rows = _bits(graph, model)
        if model.fit_intercept:
            ones = graph("ReduceSum", rows, np.array([1]), keepdims=1)
            rows = graph("Concat", rows, graph("Add", graph("Mul", ones, 0.0), 1.0), axis=1)
    return _best(graph, model, _in_lanes(graph, graph("Mul", rows, direction[own]), nets.components))


def _winnow(graph, model):
    """Return the place of the class of each row by whole votes of the bits of its codes, which are signs."""
    hypothesis = model._released_model().hypothesis
    counts = np.zeros(model._reader.width + 1, np.int64)
    counts[hypothesis.index] = hypothesis.count
    sums = _sums_of_bits(graph, model, 2 * counts[:-1, np.newaxis])
    return _best(graph, model, graph.cast(graph("Add", sums, counts[-1:] - counts[:-1].sum()), "DOUBLE"))


def _sums_of_bits(graph, model, entries):
    """Return the sums of integers, of shape (bits, k), of the bits that are 1 by the codes of each row: (n, k)."""
    table = _no_rows(model)
    of_codes = np.zeros((int(table.offsets[-1]), entries.shape[1]), np.int64)
    for (column, first, last), entry in zip(CodeBits(table).spans.tolist(), entries, strict=True):
        start = table.offsets[column]
        of_codes[start + first : start + last + 1] += entry
    places = graph("Add", "codes", _offsets(model))
    return graph("ReduceSum", graph("Gather", of_codes, places), np.array([1]), keepdims=0)


def _bits(graph, model):
    """Return the bits of the codes of each row: float64, shape (n, bits)."""
    columns, first, last = CodeBits(_no_rows(model)).spans.T.copy()
    codes = graph("Gather", "codes", columns, axis=1)
    between = graph("And", graph("GreaterOrEqual", codes, first), graph("LessOrEqual", codes, last))
    return graph.cast(between, "DOUBLE")


def _score_of_bits(graph, released, bits, coef, intercept, shift):
    """Return the scores of bits for one class, shape (n, 1), by the operations of `unit_products`, in their order."""
    unit = norm(np.append(coef, intercept)) or 1.0
    products = _in_lanes(graph, graph("Mul", bits, coef / unit), len(coef))
    products = graph("Add", products, intercept / unit)
    ones = graph("ReduceSum", bits, np.array([1]), keepdims=1)  # whole
    root = graph("Sqrt", graph("Add", ones, float(released.has_constant)))
    if released.only_clips:
        scales = graph("Div", _SHORTER, graph("Max", root, 1.0))
    else:
        scales = graph("Where", graph("Greater", root, 0.0), graph("Div", _SHORTER, root), 0.0)
    return graph("Add", graph("Mul", graph("Mul", products, scales), unit), shift)


def _in_lanes(graph, products, d):
    """Return the sums of rows of d numbers, shape (n, 1), in the order of `dpfast.kernels.reals.products`."""
    lanes, blocks = None, [slice(k, min(k + _LANES, d)) for k in range(0, d, _LANES)]
    for block in blocks:
        part = graph("Slice", products, np.array([block.start]), np.array([block.stop]), np.array([1]))
        if block.stop - block.start < _LANES:
            part = graph("Pad", part, np.array([0, 0, 0, _LANES - (block.stop - block.start)]))
        lanes = part if lanes is None else graph("Add", lanes, part)
    half = _LANES // 2
    while half:
        low, high = (graph("Slice", lanes, np.array([k]), np.array([k + half]), np.array([1])) for k in (0, half))
        lanes, half = graph("Add", low, high), half // 2
    return lanes


def _products(graph, model, coef, intercept, only_clips=False):
    """Return (<x, coef> + intercept) over the length of each row x; with `only_clips`, the length is at least 1.

    A row is divided by its largest entry first, so that no square overflows or vanishes.
    """
    constant = float(model.fit_intercept)
    largest = graph(
        "Max", graph("ReduceMax", graph("Abs", "X"), axes=[1], keepdims=1), max(constant, float(only_clips))
    )
    unit = graph("Where", graph("Equal", largest, 0.0), 1.0, largest)
    rows, one = graph("Div", "X", unit), graph("Div", 1.0, unit)
    square = graph("ReduceSum", graph("Mul", rows, rows), np.array([1]), keepdims=1)
    length = graph("Sqrt", graph("Add", square, constant and graph("Mul", one, one)))
    products = graph("Add", graph("MatMul", rows, coef), graph("Mul", one, intercept))
    if only_clips:
        return graph("Div", products, graph("Max", length, one))
    is_long = graph("Greater", length, graph("Mul", one, _LEAST))
    return graph("Where", is_long, graph("Div", products, graph("Where", is_long, length, 1.0)), 0.0)


def _odd(graph):
    """Return for each row whether it has NaN or infinity."""
    return graph("IsNaN", graph("ReduceSum", graph("Sub", "X", "X"), np.array([1]), keepdims=0))


def _halfspace(graph, model):
    """Return the place of the most probable class of each row, and the probabilities of all classes."""
    released, coded = model.model_, hasattr(model, "encoder_")
    if coded:
        total = _scores_of_codes(graph, model)
        scores = graph.cast(total, "DOUBLE")
    else:
        scores = graph("Add", _products(graph, model, model.coef_.T, model.intercept_), model.shift_)
    weights = None if released.class_weight is None else np.log(released.class_weight)
    if len(model.classes_) == 2:
        size = graph("Abs", scores)
        grown = graph("Log", graph("Div", graph("Add", graph("Exp", graph("Neg", size)), 1.0), 2.0))
        moved = 0.0 if weights is None else float(weights[1] - weights[0])
        odds = graph("Add", graph("Mul", graph("Sign", scores), graph("Add", size, grown)), moved)
        chances = graph("Concat", graph("Sigmoid", graph("Neg", odds)), graph("Sigmoid", odds), axis=1)
        if weights is None or not coded:
            return _best(graph, model, scores if weights is None else odds), chances
        least = graph("GreaterOrEqual", total, _least_score(released))
        return graph.cast(graph("Squeeze", least, np.array([1])), "INT64"), chances
    below = graph("Sub", scores, graph("ReduceMax", scores, axes=[1], keepdims=1))
    rest = graph("Sub", 1.0, graph("Softmax", scores, axis=1))
    logs = graph("Add", below, graph("Log", graph("Max", rest, 0.5)))
    if weights is None:
        return _best(graph, model, scores), graph("Softmax", logs, axis=1)
    logs = graph("Add", logs, weights)
    return _best(graph, model, _leaders(graph, model, scores, logs)), graph("Softmax", logs, axis=1)


def _scores_of_codes(graph, model):
    """Return the scores of rows of codes, float32 (n, k), from whole sums, as `CodeRows.linear_scores` does."""
    released, rows = model.model_, CodeRows(_no_rows(model))
    places, start = [graph("Add", "codes", _offsets(model))], int(rows.offsets[-1])
    for pair in released.interactions:
        places.append(_cells(graph, pair, start))
        start += pair.size
    if released.interactions:
        rows = rows.with_pairs(released.interactions)
    if released.trees is not None:
        places.append(_leaves(graph, released.trees, start))
        rows = rows.with_leaves(released.trees)
    table, step = rows.round_coefficients(released.coef.T)
    at = graph("Concat", *places, axis=1) if len(places) > 1 else places[0]
    sums = graph("ReduceSum", graph("Gather", table.astype(np.int64), at), np.array([1]), keepdims=0)
    constant = (released.intercept + released.shift).astype(np.float32)
    return graph("Add", graph("Mul", graph.cast(sums, "FLOAT"), np.float32(step)), constant)


def _least_score(released):
    """Return the least score, a float32, of which the second of two classes is predicted; infinity if there is none."""
    low, high = -_INFINITE, _INFINITE  # the numbers of floats by size, those below 0 negative
    while high - low > 1:
        middle = (low + high) // 2
        score = np.copysign(np.array([[abs(middle)]], np.int32).view(np.float32), middle)
        if released.classes_of(score)[0]:
            high = middle
        else:
            low = middle
    return np.copysign(np.array(abs(high), np.int32).view(np.float32), high)


def _leaders(graph, model, scores, logs):
    """Return the logs of the classes whose score is the highest of those of the same weight; of all others, -inf.

    Of these the scores decide, which are exact, and no rounding of logarithms.
    """
    weights, order = model.model_.class_weight, _order(model)
    leaders, columns = [], []
    for weight in np.unique(weights):
        group = order[weights[order] == weight]
        first = graph("ArgMax", graph("Gather", scores, group, axis=1), axis=1, keepdims=1)
        leaders.append(graph("Equal", first, np.arange(len(group))))
        columns.append(group)
    places = np.argsort(np.concatenate(columns))
    return graph("Where", graph("Gather", graph("Concat", *leaders, axis=1), places, axis=1), logs, -np.inf)


def _cells(graph, pair, start):
    """Return the places in `coef_` of the cells of a pair of columns, shape (n, 1); they begin at `start`."""
    groups = [
        graph("Gather", np.array(group, np.int64), graph("Gather", "codes", np.array([j], np.int64), axis=1))
        for j, group in zip(pair.columns, pair.groups, strict=True)
    ]
    return graph("Add", graph("Mul", groups[0], pair.shape[1]), graph("Add", groups[1], start))


def _leaves(graph, forest, start):
    """Return the places in `coef_` of the leaves of all trees, shape (n, trees); they begin at `start`."""
    columns = [
        graph("Gather", np.array(order, np.int64), graph("Gather", "codes", np.array([j], np.int64), axis=1))
        for j, order in forest.orders
    ]
    places, below = graph("Concat", *columns, axis=1), None
    for level in reversed(range(forest.depth)):
        nodes = slice((1 << level) - 1, (2 << level) - 1)
        questions, thresholds = (np.array(each, np.int64)[:, nodes] for each in (forest.asked, forest.thresholds))
        above = graph("Greater", graph("Gather", places, questions, axis=1), thresholds)  # (n, trees, nodes)
        if below is None:
            below = graph.cast(above, "INT64")
            continue
        no, yes = (
            graph("Slice", below, np.array([k]), np.array([2 << level]), np.array([2]), np.array([2])) for k in (0, 1)
        )
        below = graph("Where", above, graph("Add", yes, 1 << (forest.depth - 1 - level)), no)
    firsts = start + np.cumsum([0, *forest.sizes[:-1]])
    return graph("Add", graph("Squeeze", below, np.array([2])), firsts)


def _rules(graph, model):
    """Return the place of the class of the first rule that holds, and the shares of all classes."""
    literals = sorted({literal.feature for rule in model.rules_ for literal in rule.literals})
    if hasattr(model, "encoder_"):
        spans = CodeBits(_no_rows(model)).spans[literals].reshape(-1, 3)
        codes = graph("Gather", "codes", spans[:, 0], axis=1)
        bits = graph("And", graph("GreaterOrEqual", codes, spans[:, 1]), graph("LessOrEqual", codes, spans[:, 2]))
    else:
        threshold = 0.0 if model.threshold is None else model.threshold
        edges = np.broadcast_to(np.asarray(threshold, np.float64), model.n_features_in_)[literals]
        bits = graph("Greater", graph("Gather", "X", np.array(literals, np.int64), axis=1), edges)
    signs, counts = np.zeros((len(literals), len(model.rules_))), np.zeros(len(model.rules_))
    for k, rule in enumerate(model.rules_):
        for literal in rule.literals:
            signs[literals.index(literal.feature), k] = -1.0 if literal.negated else 1.0
            counts[k] += not literal.negated
    matches = graph("MatMul", graph.cast(bits, "DOUBLE"), signs)
    first = graph.cast(graph("GreaterOrEqual", matches, counts - 0.5), "FLOAT")
    rule = graph("ArgMax", first, axis=1, keepdims=0)
    own = np.searchsorted(model.classes_, [rule.label for rule in model.rules_])
    shares = None
    if hasattr(model, "rule_counts_"):
        shares = graph("Gather", model.rule_shares_, rule)
    return graph("Gather", own, rule), shares


def _best(graph, model, scores):
    """Return the place of the class that `predict` chooses; equal scores are of the class with most released rows."""
    if len(model.classes_) == 2:
        sizes = getattr(model._released_model(), "class_sizes", None)
        equal = sizes is None or sizes[1] >= sizes[0]
        score = graph("Squeeze", scores, np.array([1]))
        return graph.cast(graph("GreaterOrEqual" if equal else "Greater", score, 0.0), "INT64")
    order = _order(model)
    return graph("Gather", order, graph("ArgMax", graph("Gather", scores, order, axis=1), axis=1, keepdims=0))


def _order(model):
    """Return the places of the classes, of those with equal scores the one that is predicted first."""
    sizes = getattr(model._released_model(), "class_sizes", None)
    return np.arange(len(model.classes_)) if sizes is None else np.argsort(-sizes, kind="stable")


def _no_rows(model):
    return CodeTable.of_columns(model.encoder_.schema_.code_columns, 0)


def _offsets(model):
    return _no_rows(model).offsets[:-1].astype(np.int64)


def _labels(classes):
    return classes.astype(object) if classes.dtype.kind in "OUS" else classes


class _Graph:
    """Nodes of an ONNX graph, each named by its number."""

    def __init__(self, onnx):
        self._onnx, self._nodes, self._constants = onnx, [], []

    def __call__(self, kind, *inputs, **attributes):
        """Add a node and return the name of its output; inputs are names, or arrays and numbers, made constants."""
        names = [each if isinstance(each, str) else self._constant(each) for each in inputs]
        name = f"{kind} {len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, names, [name], **attributes))
        return name

    def cast(self, name, kind):
        return self("Cast", name, to=getattr(self._onnx.TensorProto, kind))

    def model(self, model, label, probabilities):
        """Return the whole graph, checked."""
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        coded = hasattr(model, "encoder_")
        width = len(model.encoder_.schema_.code_columns) if coded else model.n_features_in_
        kind = kinds.INT64 if coded else kinds.DOUBLE
        inputs = [helper.make_tensor_value_info("codes" if coded else "X", kind, ["n", width])]
        self._nodes.append(helper.make_node("Identity", [label], ["label"]))
        stored = self._onnx.numpy_helper.from_array(_labels(model.classes_)).data_type
        outputs = [helper.make_tensor_value_info("label", stored, ["n"])]
        if probabilities is not None:
            self._nodes.append(helper.make_node("Identity", [probabilities], ["probabilities"]))
            shape = ["n", len(model.classes_)]
            outputs.append(helper.make_tensor_value_info("probabilities", kinds.DOUBLE, shape))
        graph = helper.make_graph(self._nodes, type(model).__name__, inputs, outputs, self._constants)
        whole = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8, producer_name="dpfast"
        )
        self._onnx.checker.check_model(whole)
        return whole

    def _constant(self, value):
        name = f"constant {len(self._constants)}"
        array = np.ascontiguousarray(value) if isinstance(value, np.ndarray) else np.array(value)
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name
