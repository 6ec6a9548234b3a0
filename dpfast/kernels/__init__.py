"""The loops themselves: thin, checked entry points to the C kernels.

Each module is one noun of csrc/ and knows dtypes and shapes, not epsilon. Arguments are checked here and only here: an
invalid one raises ValueError or TypeError before anything is drawn or changed. The header of a C file tells what a
function costs.

bits
    Packed 0/1 matrices: pack, transpose, count, combine.
levels
    Exact draws with probability proportional to exp(exponent * score).
cover
    Greedy cover for decision lists: counts, subtraction, exact choice.
scores
    Integer scores of a linear learner, and the votes of what it released.
weights
    Multiplicative weights of experts on fixed-point losses, and exact draws from them.
unit_rows
    Rows clipped to the unit ball on an integer grid: margins and weighted sums.
codes
    Tables of codes: counts by label, weighted sums and look-ups for every code of every column.
measure
    Dense measures of exact mass on integer scores: boosting's projection.
classes
    Finite hypothesis classes as bit sets: counts, restriction, Littlestone dimension.
signs
    Random projection by a +-1 matrix kept as bits, or made from a key, never as floats.
project
    Capped scaling: the projection of a measure onto dense ones.
sparse_vector
    Noisy tests of counts against a threshold, many rounds at a time.
net
    Nets of the unit sphere, and the mistakes of every member.
reals
    Sums, products, exponentials and logarithms of doubles: the same bits on every machine.
grid
    Real numbers on a fixed-point grid.
draw, noise
    Exact elementary draws and integer noise.
cpu
    The instruction-set level in use.
"""

from importlib.util import find_spec

if find_spec("dpfast.kernels.cpu") is None:
    raise ImportError(
        "this folder is the source of dpfast, whose kernels are not built: run `pip install -e .` in its checkout, or "
        "start Python elsewhere to get the installed package"
    )
