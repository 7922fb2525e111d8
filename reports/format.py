"""How a quantity is written: one function each, used by the page, the charts and the terminal."""

from __future__ import annotations

import math
import unicodedata
from urllib.parse import quote

ABSENT = "–"
"""What stands for a number that was not measured or does not exist."""


def us(seconds: float) -> str:
    """A time in microseconds, without the unit."""
    value = seconds * 1e6
    if not math.isfinite(value):
        return ABSENT
    return (
        f"{value:,.2f}" if abs(value) < 100 else f"{value:,.1f}" if abs(value) < 10_000 else f"{value:,.0f}"
    )


def gb_s(bytes_per_second: float) -> str:
    """A bandwidth in GB/s of 1e9 bytes a second, without the unit."""
    value = bytes_per_second / 1e9
    if not math.isfinite(value):
        return ABSENT
    if abs(value) < 0.01:
        return f"{value:.2g}"
    return f"{value:,.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def percent(share: float) -> str:
    """A share of one in per cent, without the unit."""
    return f"{share * 100:,.1f}" if math.isfinite(share) else ABSENT


def ratio(value: float) -> str:
    """A ratio of speeds, in three digits where it is less than 1000: those beyond say nothing."""
    if not math.isfinite(value):
        return ABSENT
    return f"{value:,.2f}" if value < 9.995 else f"{value:,.1f}" if value < 99.95 else f"{value:,.0f}"


def interval(low: float, high: float) -> str:
    """Both ends of the interval of a ratio of speeds; close ends with as many digits as tell them apart."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return ABSENT
    digits = 2 if high - low >= 0.02 * low else 3
    return f"{low:.{digits}f} to {high:.{digits}f}" if high < 100 else f"{low:,.0f} to {high:,.0f}"


def duration(seconds: float) -> str:
    """How long something took: ``45 s``, ``9 min 4 s``, ``2 h 5 min``."""
    if not math.isfinite(seconds):
        return ABSENT
    minutes, rest = divmod(round(seconds), 60)
    hours, of_hour = divmod(minutes, 60)
    return f"{hours} h {of_hour} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def size(count: float) -> str:
    """A number of bytes in units of 1024: ``512 MiB``."""
    if not math.isfinite(count) or count <= 0:
        return ABSENT
    power = min(int(math.log2(count) // 10), 4) if count >= 1 else 0
    value = count / 1024**power
    return f"{round(value, 2):g} {('B', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"


def address(text: str) -> str:
    """A text as a part of an address within a page."""
    return quote(plain(text).encode("utf-8", "replace"), safe=":,")


def plain(text: object) -> str:
    """Text of a run file made fit to show: control characters and lone surrogates replaced, line breaks kept.

    A run file comes from elsewhere: an escape sequence in it must not reach a terminal, nor an unencodable
    character an HTML or SVG file. Markup is inert by the escaping of whoever prints it.
    """
    return "".join(
        c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs") else "\ufffd" for c in str(text)
    )
