"""Steps of a descent by groups as operations on whole arrays: what dpfast.kernels.descent computes, bit by bit."""

import numpy as np

from dpfast.kernels import reals


def move(group, sums, rate, lasting, fresh, velocity, total):
    """The velocity and the total after a step along sums, of several entries less their mean over a row."""
    if sums.shape[1] > 1:
        sums = sums - sum(sums.T)[:, np.newaxis] / sums.shape[1]
    velocity = velocity * lasting + (fresh * rate)[group, np.newaxis] * sums
    return velocity, total + velocity


def shrink(group, members, tells, total, noise, late, prior):
    """The variance of each group but the last without noise, what each keeps, and what is kept of the total."""
    squares = np.stack([np.bincount(group, column, len(members)) for column in np.square(total).T], axis=1)
    signal, kept = shares(members, tells, squares, noise, late, prior)
    return signal, kept, total * kept[group]


def shares(members, tells, squares, noise, late, prior):
    """The variance of each group but the last without noise, and what each keeps, by the squares of groups."""
    k, last = squares.shape[1], noise[-1]
    noise, members = (late * noise)[:-1, np.newaxis], members[:-1, np.newaxis]
    telling = tells[:-1].astype(bool)
    extra = reals.sum((squares[:-1] - members * noise)[telling].ravel())
    before = prior * max(0.0, extra / max(1, members[telling].sum() * k))
    own = np.maximum(0.0, squares[:-1] - members * noise + before) / (members + prior)
    return own, np.append(own / (own + noise), 1 - last / np.maximum(squares[-1:], last), axis=0)


def times(rates, curved, signal, little, sampled, usual, slope, steep, most, share, least):
    gone = np.maximum(1 - reals.exp(-rates[:-1] * curved), little)
    tau = signal / np.square(gone) - sampled / curved
    limit = np.minimum(most, steep / (slope * curved))
    less = np.minimum(1.0, share * np.maximum(tau / usual, least))
    return np.append(np.maximum(less, np.minimum(tau / usual, limit)), 1.0)
