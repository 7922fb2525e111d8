"""PoCL as a device with several contexts in a process, as GPUs have: for what happens between two of them."""

from __future__ import annotations

from dataclasses import replace

import pyopencl as cl

from backends.opencl.backend import OpenClBackend
from harness.devices import DeviceInfo


class PoclAsGpu(OpenClBackend):
    """The processor's OpenCL, which says that it is a GPU's."""

    def __init__(self, info: DeviceInfo, device: cl.Device) -> None:
        super().__init__(replace(info, kind="gpu"), device)
