"""One attempt of the noise kernel in multiprecision: what decides when 128 bits cannot.

csrc/noise.h says what an attempt is. Here it is carried out in integers of any length, on as many bits of the uniform
as it takes: whether more are needed is decided exactly, so one stream of words gives one outcome on every machine.
"""

from fractions import Fraction

from dpfast.kernels.inversion import compare_exp


def attempt(strips, area, cells, exponent, word, bits, next_word):
    """Return the integer that the uniform U proposes and keeps, or None; `word` has its first `bits` bits.

    Strips are pairs (start, width); area and cells are as in csrc/noise.h. P(x) is proportional to
    exp(-exponent(abs(x))), with a Fraction as exponent. next_word() draws 64 further bits.
    """
    while True:
        unit = 1 << bits
        strip, u = divmod(word * len(strips), unit)
        start, width = strips[strip]
        negative, u = divmod(u * 2, unit)
        offset, low = divmod(u * width, unit)
        high = low + 2 * len(strips) * width  # H lies in [low, high) / unit
        if high <= unit:
            x = (start + offset + (1 << (cells - 1))) >> cells
            height = Fraction(1 << area, width)
            if compare_exp(exponent(x), Fraction(high, unit) * height) >= 0:
                return -x if negative else x
            if compare_exp(exponent(x), Fraction(low, unit) * height) <= 0:
                return None
        word, bits = word << 64 | next_word(), bits + 64
