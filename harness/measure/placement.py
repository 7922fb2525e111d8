"""Where sources lie in a GPU's memory: elsewhere in each context.

From one start of an H200 to the next the times of all ops on one source moved together, often in one API
only, which no number of contexts of one start shows: an idle device seems to give every context the same
memory. See Mytkowicz and others, Producing Wrong Data Without Doing Anything Obviously Wrong!, 2009.
"""

from __future__ import annotations

import numpy as np

from backends.base import Backend
from backends.errors import OutOfDeviceMemory
from harness.devices import DeviceArray

PAGE_BYTES = 2 * 2**20
"""A large page of NVIDIA's GPUs."""
MOST_PAGES = 64
LEAST_SHARE = 64
"""Of the device's memory, at most one part in so many is taken."""


def padding(backend: Backend, rng: np.random.Generator) -> DeviceArray | None:
    """Memory to be kept, allocated before any source: a random number of pages, or None of it, as where the
    device's memory is full. A case that does not fit either will say so itself.
    """
    most = min(MOST_PAGES, backend.device.memory_bytes // LEAST_SHARE // PAGE_BYTES)
    pages = int(rng.integers(0, most, endpoint=True))
    if not pages:
        return None
    try:
        return backend.reserve(pages * PAGE_BYTES)
    except OutOfDeviceMemory:
        return None
