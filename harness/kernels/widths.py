"""How wide the loads of devices and the pixels of images are that the defaults rest on."""

from __future__ import annotations

from typing import Final

LOAD_BYTES: Final = 16
"""The widest single load of a GPU's work-item."""
CPU_VECTOR_BYTES: Final = 64
"""The widest registers of a processor, and a line of its cache."""
WIDE: Final = 4
"""From this size of an element, in bytes, vectors have few components and two loads in flight are enough."""
NO_LOAD: Final = 3
"""Channels whose pixel is no single load."""
PIXEL_WORD: Final = 4
"""Channels of which a pixel of bytes is one word."""
