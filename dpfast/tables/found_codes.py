"""Codes of the cells of undeclared columns, after their discovery."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dpfast.tables.cells import FIXED, MISSING, NUMBERS, CodeColumn, date_ends, fixed_groups, number_ends, word_group


def found_codes(made: CodeColumn, dtype: Any) -> tuple[np.ndarray, Callable]:
    """Return a code for each fixed code of cells, by the discovered facts, and a function from words to codes."""
    fixed = np.full(FIXED, made.missing, dtype)
    if made.values or made.edges is None:
        place = {value: k for k, value in enumerate(made.values)}
        fixed[:MISSING] = made.bins + (fixed_groups() if made.other > 1 else 0)  # a number or a date is not a word
        if made.other > 1:
            return fixed, lambda word: place[word] if word in place else made.bins + word_group(word)
        return fixed, lambda word: place.get(word, made.bins)
    if made.dates:
        fixed[NUMBERS:MISSING] = np.append(np.searchsorted(made.edges, date_ends()), len(made.edges))
    else:
        fixed[:NUMBERS] = np.append(np.searchsorted(made.edges, number_ends()), len(made.edges))
    return fixed, lambda word: made.missing


def looked_up(cells: np.ndarray, fixed: np.ndarray, of_words: np.ndarray) -> np.ndarray:
    """Return the codes of cells, from those of fixed codes and of words."""
    codes, words = fixed[np.minimum(cells, MISSING)], np.flatnonzero(cells >= FIXED)
    codes[words] = of_words[cells[words] - FIXED]
    return codes
