"""The algorithms of [NUZ] the slow way, as their listings print them."""

import math
from itertools import product

import numpy as np


def normalised(x):
    return x / np.linalg.norm(x)


def loss(w, x, y, gamma):
    """Algorithm 1, line 4."""
    z = y * float(w @ x)
    return (96 / 86 - z / (86 * gamma / 100)) if z < 96 * gamma / 100 else 0.0


def gradient(w, x, y, gamma):
    return -y * x / (86 * gamma / 100) if y * float(w @ x) < 96 * gamma / 100 else np.zeros_like(x)


def into_ball(w):
    return w / max(1.0, np.linalg.norm(w))


def noise_gd(D, gamma, sigma, steps, pick, noise):
    """Algorithm 3, A_Noise-GD from w_1 = 0: `pick` is a row of D, `noise` is b_t of scale sigma."""
    n, m, L = len(D), len(D[0][0]), 100 / (86 * gamma)
    w = np.zeros(m)
    for t in range(1, steps + 1):
        eta = 2 / math.sqrt(t * (n**2 * L**2 + m * sigma**2))
        x, y = D[pick()]
        w = into_ball(w - eta * (n * gradient(w, x, y, gamma) + noise()))
    return w


def net(m, side):
    """Members +-p / |p|, p on a face of a cubic grid: every unit vector is within sqrt(m - 1) / side of one."""
    places = range(-(side - 1), side, 2)
    points = {
        (*rest[:face], sign * side, *rest[face:])
        for face in range(m)
        for rest in product(places, repeat=m - 1)
        for sign in (-1, 1)
    }
    return sorted(points)


def pure(D, gamma, epsilon, W, neighbors):
    """Algorithm 2, lines 3 to 5, as a law: drawn by u(D, w) = -#{y <w, x> < gamma / 10}; n u, of range 2 or 1."""
    t = epsilon / 2 if neighbors == "replace" else epsilon
    w = [normalised(np.array(p, float)) for p in W]
    u = [-sum(y * float(each @ x) < gamma / 10 for x, y in D) for each in w]
    total = math.fsum(math.exp(t * q) for q in u)
    return {p: math.exp(t * q) / total for p, q in zip(W, u, strict=True)}
