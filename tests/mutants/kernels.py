# ruff: noqa: E501
"""Mutants of C and Cython; each is built."""

from mutant import Mutant


def _m(name, file, old, new, tests):
    return Mutant(name, file, old, new, tests)


MUTANTS = [
    _m("draw: rejection of Lemire dropped", "csrc/draw.c", "    if (low < n) {", "    if (0) {", "kernels/test_draw.py"),
    _m("draw: exp(-x) ends a step early", "csrc/draw.c", "return k & 1;", "return !(k & 1);", "kernels"),
    _m("noise: magnitude rounds down", "csrc/noise.c", "return (z + ((uint64_t)1 << (law->cells - 1))) >> law->cells;", "return z >> law->cells;", "kernels/test_noise.py"),
    _m("noise: one sign only", "csrc/noise.c", "out[i] = with_sign(magnitude(law, s->start + offset), u >> 63);", "out[i] = with_sign(magnitude(law, s->start + offset), 0);", "kernels/test_noise.py"),
    _m("noise: a guard of one side", "csrc/noise.c", "if (level > guard && h < level - guard) return KEPT;", "if (h < level) return KEPT;", "kernels/test_noise.py"),
    _m("sparse vector: a guard of one side", "csrc/sparse_vector.c", "const double low = floor(fmax(0, least / hazard * (1 - slack)));", "const double low = floor(most / hazard * (1 + slack));", "kernels/test_sparse_vector.py"),
    _m("sparse vector: a count that moved keeps its wait", "csrc/sparse_vector.c", "            tests->failing = 0;\n            tests->passing = false;\n", "", "kernels/test_sparse_vector.py mechanisms/test_above_threshold.py"),
    _m("cover: a guard of one side", "csrc/cover.c", "target - before > guard;", "target - before > 0;", "kernels/test_cover.py"),
    _m("cover: negated candidates forget the rows left", "csrc/cover.c", "negated[k] = whole - plain[k];", "negated[k] = -plain[k];", "kernels/test_cover.py"),
    _m("unit rows: rows are not shrunk for rounding", "csrc/unit_rows.c", "ldexp(1 - 0x1p-20, (int)bits)", "ldexp(1, (int)bits)", "kernels/test_unit_rows.py premises"),
    _m("unit rows: rows outside the ball stay", "csrc/unit_rows.c", "if (inside && root <= shrink) return radius;", "if (inside) return radius;", "kernels/test_unit_rows.py"),
    _m("unit rows: the intercept not in the norm", "csrc/unit_rows.c", "sqrt((double)ones + constant * constant)", "sqrt((double)ones)", "kernels/test_unit_rows.py premises"),
    _m("unit rows: the intercept of packed rows rounded up", "csrc/unit_rows.c", "(int32_t)(constant * scale[end]);", "(int32_t)(constant * scale[end] + 1);", "kernels/test_unit_rows.py"),
    _m("unit rows: the intercept of dense rows rounded up", "csrc/unit_rows_real.h", "total[d] += (int64_t)weight[i] * (int32_t)(constant * scale[i]);", "total[d] += (int64_t)weight[i] * (int32_t)(constant * scale[i] + 1);", "kernels/test_unit_rows.py"),
    _m("unit rows: distances from half the centre", "csrc/unit_rows.c", "- 2 * (int64_t)c)", "- (int64_t)c)", "kernels/test_unit_rows.py"),
    _m("unit rows: the intercept is not in the distance", "csrc/unit_rows_real.h", "*row = x + i * d, s = (REAL)scale[i];\n        int64_t sum = far_by((int32_t)(constant * scale[i]), centre[d]);",
       "*row = x + i * d, s = (REAL)scale[i];\n        int64_t sum = 0;", "kernels/test_unit_rows.py"),
    _m("unit rows: the intercept of sparse rows is not in the distance", "csrc/unit_rows_real.h", "const REAL s = (REAL)scale[i];\n        int64_t sum = far_by((int32_t)(constant * scale[i]), centre[d]);",
       "const REAL s = (REAL)scale[i];\n        int64_t sum = 0;", "kernels/test_unit_rows.py"),
    _m("unit rows: any scale is added", "dpfast/kernels/unit_rows.pyx", "if not 0 <= np.min(scale) <= np.max(scale) < most:", "if not np.max(scale) < most:", "kernels/test_unit_rows.py"),
    _m("cpu: a level without all of its instructions", "csrc/dpf_cpu.c", "(sets & AVX2_SETS) == AVX2_SETS", "(sets & AVX2_SETS)", "kernels/test_cpu.py platforms/test_processors.py"),
    _m("random: a fork is not seen", "dpfast/kernels/rng.pyx", "    if watched.process != dpf_process_number():\n        _rekey(watched)\n", "", "test_random.py"),
    _m("arrays: tables of codes begin anywhere", "dpfast/kernels/codes.pyx", "    aligned(<const void *><size_t>array.ctypes.data, sizeof(int32_t))\n", "", "kernels/test_arrays.py"),
    _m("codes: planes count rows with more bits too", "csrc/codes_planes.h", "f[s] -= s & b ? 0 : f[s + b];", "f[s] -= 0;", "kernels/test_codes.py"),
    _m("logistic: residuals are not capped", "csrc/logistic.c", "(ahead > 0 ? half : 1.0f)", "half", "kernels/test_logistic.py"),
    _m("logistic: residuals by margin are not capped", "csrc/logistic.c", "(share < 1.0f ? share : 1.0f)", "share", "kernels/test_logistic.py"),
    _m("logistic: other classes may have more than the limit", "csrc/logistic.c", "held = size < left[i] ? size : left[i]", "held = size + 1", "kernels/test_logistic.py"),
    _m("code rows: limits are not checked", "dpfast/tables/codes.py", "np.minimum(1.0, allowed / np.maximum(square, 1))", "np.ones(len(square))", "tables/test_code_rows.py"),
    _m("levels: mirrored scores as they are", "csrc/levels.c", "return levels->lowest ? above : 0 - above;", "return above;", "kernels/test_levels.py"),
]  # fmt: skip
