"""Damage: what a disk, a transfer or a hand does to the bytes of a file."""

import re

_WORDS = (b"nan", b"-1", b"1e999", b"null", b"true", b"[]", b"{}", b'""', b"1" * 5000, b"[" * 3000, b"\0", b"\xff\xfe")


def damaged(content, rng):
    """The content, changed in one place or cut short; never as it was."""
    changed = content
    while changed == content:
        changed = bytes(_WAYS[rng.integers(len(_WAYS))](bytearray(content), rng))
    return changed


def _flip(content, rng):
    content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
    return content


def _digit(content, rng):
    places = [match.start() for match in re.finditer(rb"[0-9]", content)]
    if places:
        content[places[rng.integers(len(places))]] = 48 + int(rng.integers(10))
    return content


def _byte(content, rng):
    content[rng.integers(len(content))] = int(rng.integers(256))
    return content


def _cut(content, rng):
    return content[: rng.integers(len(content))]


def _hole(content, rng):
    start, stop = _range(content, rng)
    return content[:start] + content[stop:]


def _zeros(content, rng):
    start, stop = _range(content, rng)
    return content[:start] + bytes(stop - start) + content[stop:]


def _twice(content, rng):
    start, stop = _range(content, rng)
    return content[:stop] + content[start:]


def _moved(content, rng):
    start, stop = _range(content, rng)
    at = rng.integers(len(content))
    return content[:at] + content[start:stop] + content[at:]


def _word(content, rng):
    tokens = [match.span() for match in re.finditer(rb"[-+.0-9eE]+|\w+|\"[^\"]*\"", content)]
    start, stop = tokens[rng.integers(len(tokens))] if tokens else (0, 0)
    return content[:start] + _WORDS[rng.integers(len(_WORDS))] + content[stop:]


def _range(content, rng):
    start = int(rng.integers(len(content)))
    return start, min(len(content), start + int(rng.choice([1, 4, 64, 4096])))


_WAYS = (_flip, _digit, _byte, _cut, _hole, _zeros, _twice, _moved, _word)
