"""Many fixed bins between declared bounds, for learners that merge bins by what they release."""

import math

EQUAL, OCTAVE, MOST = 128, 8, 250  # bins at equal distances, bins between powers of two near 0, edges in all


def fine_cuts(low: float, high: float) -> list[float]:
    """Return edges at equal distances and, near 0, at about equal ratios: at most MOST, the same on every machine.

    Parameters
    ----------
    low, high : float
        Finite, the lower first.

    Returns
    -------
    list of float
        Rising but for rounding, within [low, high].

    Notes
    -----
    Numbers with a long tail, as of money and counts, lie mostly in the first of equal bins. Where bins at equal ratios
    are the narrower ones, they are added, from the largest on.
    """
    step = high / EQUAL - low / EQUAL
    cuts = {low + i * step for i in range(1, EQUAL)} | ({0.0} if low <= 0 <= high else set())
    power = math.frexp(OCTAVE * step)[1]
    for exponent in range(power, power - MOST // OCTAVE, -1):
        for part in range(OCTAVE - 1, -1, -1):
            size = math.ldexp(1 + part / OCTAVE, exponent)
            new = {each for each in (size, -size) if low < each < high and size < OCTAVE * step} - cuts
            if len(cuts) + len(new) > MOST:
                return sorted(cuts)
            cuts |= new
    return sorted(cuts)
