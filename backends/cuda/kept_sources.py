"""The part of a source that CUDA keeps in the L2 cache: the access-policy window of a stream.

A window is told to the stream before a launch, not to each load. Of the lines in it that a kernel reads a
part, chosen by the hardware, counts as persisting, the rest as streaming; a part of the cache is set aside
for persisting lines (CUDA C++ Programming Guide, "L2 Persisting Accesses").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from cuda.bindings import driver

from backends.cuda.driver import call
from backends.errors import Unsupported
from harness.devices import DeviceArray

_WINDOW = driver.CUstreamAttrID.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
_SET_ASIDE = driver.CUlimit.CU_LIMIT_PERSISTING_L2_CACHE_SIZE
_MOST_SET_ASIDE = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE
_WIDEST = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE


class KeptSources:
    """Sources of which a part stays in the cache from launch to launch, until :meth:`free`."""

    def __init__(
        self,
        device: int,
        stream: int,
        sources: Sequence[DeviceArray],
        share: float,
        activate: Callable[[], None],
    ) -> None:
        """Sets a part of the cache aside: as much as ``share`` of the largest source, at most what can be.

        activate: makes the context of the sources the current one.

        Raises:
            Unsupported: if the device can set nothing aside.
            BackendError: if the driver refuses, as it does in a part of a GPU (MIG).
        """
        activate()
        self._activate, self._stream = activate, driver.CUstream(stream)
        handle = call(driver.cuDeviceGet, device)
        most, widest = (
            call(driver.cuDeviceGetAttribute, what, handle) for what in (_MOST_SET_ASIDE, _WIDEST)
        )
        if not (most and widest):
            raise Unsupported(f"cuda:{device}: the device sets no part of its L2 cache aside")
        self._windows = [_window(source, share, widest) for source in sources]
        self._former = int(call(driver.cuCtxGetLimit, _SET_ASIDE))
        wanted = math.ceil(share * max(source.nbytes for source in sources))
        call(driver.cuCtxSetLimit, _SET_ASIDE, min(most, wanted))

    def around(self, i: int, launch: Callable[[], Any]) -> Callable[[], None]:
        """A launch on source ``i`` that alone has its window: other launches on the stream have none."""
        begin, end = (
            partial(call, driver.cuStreamSetAttribute, self._stream, _WINDOW, value)
            for value in (self._windows[i], driver.CUstreamAttrValue())
        )

        def within() -> None:
            begin()
            launch()
            end()

        return within

    def free(self) -> None:
        """Gives the part of the cache back, and what persists in it up."""
        self._activate()
        call(driver.cuCtxResetPersistingL2Cache)
        call(driver.cuCtxSetLimit, _SET_ASIDE, self._former)


def _window(source: DeviceArray, share: float, widest: int) -> Any:
    """A window over a source, or over its beginning where it is wider than any window."""
    value = driver.CUstreamAttrValue()
    window = value.accessPolicyWindow
    nbytes = min(source.nbytes, widest)
    window.base_ptr, window.num_bytes = int(source.handle), nbytes
    window.hitRatio = min(1.0, share * source.nbytes / nbytes)
    window.hitProp = driver.CUaccessProperty.CU_ACCESS_PROPERTY_PERSISTING
    window.missProp = driver.CUaccessProperty.CU_ACCESS_PROPERTY_STREAMING
    # What was read is a copy.
    value.accessPolicyWindow = window
    return value
