# Numbers that kernels take exactly.


# A number as a Fraction; a float is the rational that it is.
cdef inline fraction(str name, value, str wanted):
    from fractions import Fraction

    try:
        return Fraction(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {wanted}, got {value!r}") from None


# The nearest double, or the largest: exp(-exponent * gap) is then 0 for gap >= 1, as it should be.
cdef inline double nearest_double(exponent) except? -1:
    try:
        return exponent
    except OverflowError:
        return 1.7976931348623157e308
