"""Quadruple precision (IEEE binary128: 1 sign, 15 exponent, 112 fraction bits) in exact arithmetic."""

from fractions import Fraction

SIGN = 1 << 127
INFINITY = 0x7FFF << 112
NAN = INFINITY | 1 << 111
HIDDEN = 1 << 112  # the leading significand bit, which normal numbers do not store
LOWEST = -16382  # exponent of the smallest normal number and of all subnormal ones


def bits(text):
    """The 128 bits nearest to a decimal such as "-2", "0.1", "1e-4000"; ties go to even."""
    if text.startswith("-"):
        return SIGN | bits(text[1:])
    if text in ("Infinity", "NaN"):
        return INFINITY if text == "Infinity" else NAN
    magnitude = Fraction(text)
    if magnitude == 0:
        return 0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, LOWEST)
    significand = round(magnitude / Fraction(2) ** (exponent - 112))
    # The hidden bit, or a carry out of the rounding, adds itself to the exponent field.
    return min(((exponent - LOWEST) << 112) + significand, INFINITY)


def text(number):
    """The shortest decimal that reads back to these 128 bits."""
    if number & SIGN:
        return "NaN" if number & ~SIGN > INFINITY else "-" + text(number & ~SIGN)
    if number >= INFINITY:
        return "Infinity" if number == INFINITY else "NaN"
    if number == 0:
        return "0"
    exponent, fraction = divmod(number, HIDDEN)
    significand = fraction + (HIDDEN if exponent else 0)
    magnitude = significand * Fraction(2) ** (max(exponent, 1) - 1 + LOWEST - 112)
    candidates = (_decimal(magnitude, digits) for digits in range(1, 37))
    return next(decimal for decimal in candidates if bits(decimal) == number)


def _decimal(magnitude, digits):
    """`magnitude` rounded to that many significant digits."""
    exponent = int((magnitude.numerator.bit_length() - magnitude.denominator.bit_length()) * 0.30103)
    while Fraction(10) ** exponent > magnitude:
        exponent -= 1
    while Fraction(10) ** (exponent + 1) <= magnitude:
        exponent += 1
    scale = exponent - digits + 1
    whole = str(round(magnitude / Fraction(10) ** scale))
    if len(whole) > digits:  # 9.9 became 10
        whole, scale = whole[:-1], scale + 1
    exponent = scale + digits - 1
    if not -5 <= exponent <= 20:
        return f"{whole[0]}.{whole[1:]}".rstrip(".") + f"e{exponent}"
    if scale >= 0:
        return whole + "0" * scale
    whole = whole.rjust(1 - scale, "0")
    return f"{whole[:scale]}.{whole[scale:]}"
