import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial import SphericalVoronoi, cKDTree

from dpfast.kernels.net import Mistakes, Net, grid

# m, radius: from two members to a hundred thousand, rows on coarse grids and on fine ones
NETS = [(1, 0.5), (2, 1), (2, 0.01), (2, 0.001), (3, 0.3), (3, 0.02), (4, 0.9), (4, 0.11), (5, 0.4), (6, 0.9)]
THRESHOLDS = [1e-9, 0.003, 0.01, 0.1]


def directions(net, members=None):
    p = net.vectors(np.arange(net.size) if members is None else members)
    return p / np.linalg.norm(p, axis=1, keepdims=True)


def sphere(n, m, rng):
    x = rng.normal(size=(n, m))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def signs(n):
    return np.ones(n, np.int8)


def brute_force(net, rows, threshold):
    """Rows that every member gets wrong, from the definition, in integers: <p, z> < tau / 2 * abs(p)."""
    tau = 2 * math.floor(Fraction(threshold) * 2**net.grid_bits) + 1
    p = net.vectors(np.arange(net.size))
    product = p @ rows.T.astype(np.int64)
    right = (product > 0) & (4 * product**2 >= tau**2 * (p**2).sum(axis=1)[:, np.newaxis])
    return (~right).sum(axis=1)


# ---- the net -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "radius"), NETS)
def test_the_size_is_that_of_the_enumeration_and_members_differ(m, radius):
    net = Net(m, radius)
    p = net.vectors(np.arange(net.size))
    assert net.size == 2 * net.side * net.lines == (2 * m * net.side ** (m - 1) if m > 1 else 2)
    assert len(np.unique(p, axis=0)) == net.size
    assert len(np.unique(directions(net).round(12), axis=0)) == net.size
    assert (np.abs(p).max(axis=1) == net.side).all()
    assert {tuple(row) for row in p} == {tuple(row) for row in -p}


@pytest.mark.parametrize("m", [2, 3, 4, 7])
@pytest.mark.parametrize("radius", [1, 0.5, 0.1, Fraction(1, 10), 0.01])
def test_the_side_is_the_least_that_the_radius_allows(m, radius):
    side = Net(m, radius).side
    assert side % 2 == 1
    assert (m - 1) <= Fraction(radius) ** 2 * side**2
    assert side == 1 or (m - 1) > Fraction(radius) ** 2 * (side - 2) ** 2


@pytest.mark.parametrize("radius", [1, 0.5, 0.1, 0.01])
def test_no_arc_of_the_circle_is_wider_than_the_net_allows(radius):
    w = directions(Net(2, radius))
    angles = np.sort(np.arctan2(w[:, 1], w[:, 0]))
    widest = np.diff(angles, append=angles[0] + 2 * np.pi).max()
    assert 2 * math.sin(widest / 4) <= radius  # from the middle of the widest gap to its ends


@pytest.mark.parametrize("radius", [1, 0.5, 0.1, 0.05])
def test_no_hole_of_the_sphere_is_wider_than_the_radius(radius):
    w = directions(Net(3, radius))
    holes = SphericalVoronoi(w).vertices  # the vectors farthest from all members around them
    distance = cKDTree(w).query(holes)[0].max()
    assert radius / 3 < distance <= radius


@pytest.mark.parametrize(("m", "radius"), NETS)
def test_every_unit_vector_is_near_the_member_that_the_proof_names(m, radius, rng):
    net = Net(m, radius)
    u = sphere(8_000, m, rng)
    face = np.abs(u).argmax(axis=1)
    stretched = u / np.abs(u).max(axis=1, keepdims=True) * net.side
    p = 2 * np.clip(np.floor((stretched + net.side) / 2), 0, net.side - 1) - (net.side - 1)
    at = np.arange(len(u))
    p[at, face] = stretched[at, face]
    distance = np.linalg.norm(u - p / np.linalg.norm(p, axis=1, keepdims=True), axis=1)
    assert distance.max() <= radius
    members = {tuple(row) for row in net.vectors(np.arange(net.size))}
    assert {tuple(row) for row in p.round().astype(int)} <= members


@pytest.mark.parametrize("member", [-1, 6 * 3**2])
def test_members_that_do_not_exist_are_refused(member):
    with pytest.raises((ValueError, OverflowError)):
        Net(3, 0.5).vectors([member])


def test_members_are_a_list():
    with pytest.raises(ValueError, match=r"members must have shape \(k,\), got \(1, 2\)"):
        Net(3, 0.5).vectors([[1, 2]])


@pytest.mark.parametrize(
    ("m", "radius", "message"),
    [
        (0, 0.1, "from 1 to 32 coordinates, got 0"),
        (33, 0.1, "from 1 to 32 coordinates, got 33"),
        (4, 0, r"must lie in \(0, 1\], got 0"),
        (4, 1.5, r"must lie in \(0, 1\], got 1.5"),
        (4, math.nan, r"must lie in \(0, 1\], got nan"),
        (4, 1e-5, r"radius of 1e-05 is too small: .* 41\d{15} members .* grid of 2\*\*-6"),
    ],
)
def test_nets_that_will_not_do_are_refused(m, radius, message):
    with pytest.raises(ValueError, match=message):
        Net(m, radius)


# ---- rows --------------------------------------------------------------------------------------------------------


def test_rows_go_to_the_unit_sphere_on_a_grid_with_their_labels(rng):
    x = rng.normal(size=(500, 4)) * 10.0 ** rng.integers(-300, 300, (500, 1))
    y = rng.choice([-1, 1], 500).astype(np.int8)
    z = grid(x, y, 16)
    assert z.dtype == np.int32
    unit = x / np.abs(x).max(axis=1, keepdims=True)
    exact = 2.0**16 * y[:, np.newaxis] * unit / np.linalg.norm(unit, axis=1, keepdims=True)
    assert np.abs(z - exact).max() <= 0.5 + 1e-9


def test_a_row_of_zeros_stays_one_and_is_wrong_for_every_member():
    z = grid(np.zeros((3, 4), np.float32), signs(3), 16)
    assert not z.any()
    net = Net(4, 0.5)
    assert (Mistakes(net, z, 0.01).scores(0, net.lines) == 3).all()


def test_tiny_and_single_precision_rows_are_normalised_too():
    x = np.array([[1e-40, 0], [0, -3e38], [5e-324, 0]])
    np.testing.assert_array_equal(grid(x, signs(3), 10), [[1024, 0], [0, -1024], [1024, 0]])
    np.testing.assert_array_equal(grid(x[:2].astype(np.float32), signs(2), 10), [[1024, 0], [0, -1024]])


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.ones((3, 2)), np.ones(3)),
        (np.ones((3, 2)), signs(2)),
        (np.ones((3, 2), int), signs(3)),
        (np.ones(3), signs(3)),
    ],
)
def test_rows_of_wrong_shape_or_type_are_refused(x, y):
    with pytest.raises(ValueError, match=r"x must be floats of shape \(n, m\) and y int8 of shape \(n,\), got"):
        grid(x, y, 16)


# ---- mistakes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(  # each net with two thresholds, each threshold with five nets
    ("m", "radius", "threshold"),
    [(*net, threshold) for i, net in enumerate(NETS) for j, threshold in enumerate(THRESHOLDS) if (i + j) % 2],
)
def test_scores_are_those_of_the_definition(m, radius, threshold, rng):
    net = Net(m, radius)
    for n in (1, 40, 300 if net.size < 20_000 else 60):
        rows = grid(rng.normal(size=(n, m)) + 0.5, signs(n), net.grid_bits)
        scores = Mistakes(net, rows, threshold).scores(0, net.lines)
        assert scores.shape == (net.lines, 2 * net.side)
        np.testing.assert_array_equal(scores.ravel(), brute_force(net, rows, threshold))


@pytest.mark.parametrize(("m", "radius"), [(2, 0.0009), (3, 0.02), (4, 0.11)])
def test_rows_that_members_all_but_miss_are_decided_exactly(m, radius, rng):
    net, threshold = Net(m, radius), 0.05
    members = rng.integers(net.size, size=150)
    w = directions(net, members)
    across = sphere(150, m, rng)
    across -= (across * w).sum(axis=1, keepdims=True) * w
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    rows = np.rint(2**net.grid_bits * (threshold * w + math.sqrt(1 - threshold**2) * across)).astype(np.int32)
    product = (rows * w).sum(axis=1) / 2**net.grid_bits
    assert np.abs(product - threshold).max() < m * 2.0**-net.grid_bits
    scores = Mistakes(net, rows, threshold).scores(0, net.lines).ravel()
    np.testing.assert_array_equal(scores, brute_force(net, rows, threshold))
    assert 0 < (product < threshold).sum() < 150


@pytest.mark.parametrize("m", [2, 3, 4])
def test_rows_along_the_axes_and_diagonals_are_decided_exactly(m):
    net = Net(m, 0.11)
    rows = np.stack(np.meshgrid(*[[-1, 0, 1]] * m), axis=-1).reshape(-1, m).astype(np.float64)
    rows = np.concatenate([grid(rows, signs(len(rows)), net.grid_bits), rows.astype(np.int32)])
    for threshold in THRESHOLDS:
        scores = Mistakes(net, rows, threshold).scores(0, net.lines).ravel()
        np.testing.assert_array_equal(scores, brute_force(net, rows, threshold))


def test_rows_whose_inner_coordinate_is_next_to_the_threshold_are_decided_exactly():
    net, threshold = Net(3, 0.05), 0.03
    near = math.floor(threshold * 2**net.grid_bits)
    ends = [near - 1, near, near + 1, -near - 1, -near, 0, 1, -1]
    rows = np.array([[a, b, c] for a in (-500_000, 3, 500_000) for b in ends for c in ends], np.int32)
    for turned in (rows, rows[:, [1, 2, 0]], rows[:, [2, 0, 1]]):
        scores = Mistakes(net, turned, threshold).scores(0, net.lines).ravel()
        np.testing.assert_array_equal(scores, brute_force(net, turned, threshold))


@pytest.mark.parametrize(("m", "radius"), [(1, 0.5), (2, 0.01), (3, 0.05), (4, 0.11)])
def test_every_level_of_instruction_set_counts_alike(m, radius, each_isa, rng):
    net = Net(m, radius)
    for n in (1, 7, 1000):
        rows = grid(rng.normal(size=(n, m)) + 0.3, signs(n), net.grid_bits)
        results = each_isa(lambda rows=rows: Mistakes(net, rows, 0.01).scores(0, net.lines))
        for other in results[1:]:
            np.testing.assert_array_equal(other, results[0])


def test_a_row_more_is_one_mistake_more_at_most(rng):
    net = Net(3, 0.1)
    rows = grid(rng.normal(size=(30, 3)), signs(30), net.grid_bits)
    with_it = Mistakes(net, rows, 0.01).scores(0, net.lines).astype(int)
    without = Mistakes(net, rows[:-1], 0.01).scores(0, net.lines).astype(int)
    assert set(np.unique(with_it - without)) == {0, 1}


@pytest.mark.parametrize(("m", "radius"), [(1, 0.5), (2, 0.05), (3, 0.1), (4, 0.3)])
def test_counts_and_members_are_those_of_the_scores(m, radius, rng):
    net = Net(m, radius)
    rows = grid(rng.normal(size=(50, m)) + 0.2, signs(50), net.grid_bits)
    mistakes = Mistakes(net, rows, 0.01)
    scores = mistakes.scores(0, net.lines).ravel().astype(int)
    np.testing.assert_array_equal(mistakes.count(0, net.lines), np.bincount(scores, minlength=51))
    middle = net.lines // 2
    np.testing.assert_array_equal(
        mistakes.count(0, middle) + mistakes.count(middle, net.lines), mistakes.count(0, net.lines)
    )
    for level in np.unique(scores):
        members = np.flatnonzero(scores == level)
        for rank in {0, len(members) // 2, len(members) - 1}:
            assert mistakes.find(0, net.lines, level, rank) == (members[rank], 0)
            part = (members < middle * 2 * net.side).sum()
            found = mistakes.find(0, middle, level, rank)
            assert found == ((members[rank], 0) if rank < part else (None, rank - part))
    assert mistakes.find(0, net.lines, 51, 3) == (None, 3)


def test_one_object_serves_several_threads(rng):
    net = Net(3, 0.05)
    mistakes = Mistakes(net, grid(rng.normal(size=(200, 3)), signs(200), net.grid_bits), 0.01)
    whole = mistakes.count(0, net.lines)
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda line: mistakes.count(line, line + 1), range(net.lines)))
    np.testing.assert_array_equal(sum(parts), whole)


def test_no_lines_have_no_members():
    mistakes = Mistakes(Net(3, 0.5), np.zeros((2, 3), np.int32), 0.01)
    assert mistakes.scores(2, 2).shape == (0, 6)
    assert not mistakes.count(2, 2).any()
    assert mistakes.find(2, 2, 0, 5) == (None, 5)


ROWS = np.zeros((2, 3), np.int32)


@pytest.mark.parametrize(
    ("net", "rows", "threshold", "message"),
    [
        (Net(3, 0.5), ROWS.astype(np.int64), 0.1, r"int32 of shape \(n, 3\), got int64 \(2, 3\)"),
        (Net(2, 0.5), ROWS, 0.1, r"int32 of shape \(n, 2\), got int32 \(2, 3\)"),
        (Net(3, 0.5), ROWS, 0.0, r"threshold must lie in \(0, 0.1\], got 0"),
        (Net(3, 0.5), ROWS, 0.2, r"threshold must lie in \(0, 0.1\], got 0.2"),
        (Net(3, 0.5), ROWS, math.nan, r"threshold must lie in \(0, 0.1\], got nan"),
        (Net(3, 0.5), ROWS + 2**20, 0.1, r"ball of radius 2\*\*20, got one of length 1816187"),
        (Net(3, 0.5), ROWS + np.int32(-(2**31)), 0.1, r"ball of radius 2\*\*20, got one of length 3719550787"),
        (Net(12, 0.1), np.zeros((2, 12), np.int32), 0.1, r"fewer than 2\*\*53 members to be enumerated, got \d{18}"),
    ],
)
def test_what_will_not_do_is_refused(net, rows, threshold, message):
    with pytest.raises(ValueError, match=message):
        Mistakes(net, rows, threshold)


@pytest.mark.parametrize("lines", [(-1, 2), (2, 1), (0, 10)])
def test_lines_that_do_not_exist_are_refused(lines):
    mistakes = Mistakes(Net(3, 0.5), ROWS, 0.01)
    for function in (mistakes.scores, mistakes.count, lambda a, b: mistakes.find(a, b, 0, 0)):
        with pytest.raises(ValueError, match=r"lines must be a range within 0, \.\.\., 9"):
            function(*lines)
