"""Cells along a line as operations on whole arrays: what dpfast.kernels.spread computes, bit by bit."""

import math

import numpy as np

from dpfast.kernels import reals


def snapped(numbers, whole, low, high, least):
    numbers = np.floor(numbers) if whole else numbers
    numbers = np.where(abs(numbers) < least, np.where(numbers > 0, least, 0.0), numbers)
    return np.minimum(np.maximum(numbers, low), high)


def steps(low, high, parts):
    return low + np.arange(parts + 1) * ((high - low) / parts)


def clear(noisy, likely, sure):
    above, beside = noisy > likely, np.zeros(len(noisy), bool)
    beside[:-1] = above[1:]
    beside[1:] |= above[:-1]
    return np.where((noisy > sure) | (above & beside), noisy, 0.0)


def divided(rows, ends, total, cells, least):
    places = rows.nonzero()[0]
    rows, low, high = rows[places], ends[places], ends[places + 1]
    parts = np.maximum(1, np.minimum(cells * rows / total, rows / least).astype(np.int64))
    place = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.unique(np.concatenate([np.repeat(low, parts) + place * np.repeat((high - low) / parts, parts), high]))


def quantiles(rows, ends, total, ranks, whole):
    below = np.concatenate([[0.0], np.cumsum(rows)])
    of_ranks = ranks * total
    cell = np.searchsorted(below[1:-1], of_ranks)
    part = (of_ranks - below[cell]) / np.where(rows[cell] > 0, rows[cell], 1.0)
    low, high = ends[cell], ends[cell + 1]
    at = low + (high - low) * np.clip(part, 0, 1)
    return np.where(whole & (part < 1), np.maximum(np.floor(at), low), at)


def parting(rows, ends, total, some, edges):
    separating, before = [], 0.0
    for edge in edges.tolist():
        below = float(np.interp(edge, ends, np.concatenate([[0.0], np.cumsum(rows)])))
        if below - before > some and total - below > some:
            separating.append(edge)
            before = below
    return np.array(separating)


def refined(rows, ends, noisy, part_ends, snap, likely, sure, variance, before):
    rest, parts = np.zeros(len(rows)), np.where(noisy > likely, noisy, 0.0)
    cells = rows.nonzero()[0]
    bounds = np.searchsorted(part_ends, [snap(ends[cells]), snap(ends[cells + 1])]).T.tolist()
    places = [slice(first, max(last, first + 1)) for first, last in bounds]
    for within in places:
        parts[within] = 0.0
    for cell, within in zip(cells.tolist(), places, strict=True):
        own = noisy[within]
        again, of_cell = float(np.add.reduce(own)), variance * len(own)
        weight = of_cell / before
        if 2 * again > rows[cell] or again + weight * rows[cell] > sure * math.sqrt(of_cell * (1 + weight)):
            rest[cell] = rows[cell]
            parts[within] += reals.halves(own, rows[cell], likely)
    return rest, parts
