"""The CUDA backend: our kernels in CUDA C++ through pycuda, compiled by NVRTC: no nvcc is needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from backends.common.kernel_backend import Bound, OwnKernelBackend
from backends.cuda import nvrtc
from backends.cuda.kept_sources import KeptSources
from backends.cuda.pycuda_context import drv, typed_errors
from backends.cuda.pycuda_device import PycudaBackend, bytes_of, packed
from backends.cuda.texture import Texture
from backends.errors import Unsupported
from harness.devices import Array, DeviceArray, Launch
from harness.kernels.plan import PlannedLaunch, SourceImage2d
from harness.kernels.source import Dialect
from harness.variants.axes import LaunchVariant


class CudaBackend(PycudaBackend, OwnKernelBackend):
    """Our kernels on one CUDA device."""

    name: ClassVar[str] = "cuda"
    dialect: ClassVar[Dialect] = "cu"

    def build_options(self, most_registers: int = 0) -> tuple[str, ...]:
        # The source itself has the bound on registers.
        return nvrtc.options(self._capability)

    def _free_all(self) -> None:
        self._programs.clear()

    def _build(self, source: str, options: tuple[str, ...]) -> Any:
        return self._module(source)

    def _kernel(self, program: Any, launch: PlannedLaunch) -> tuple[Any, Launch]:
        with typed_errors(f"loading kernel {launch.kernel}"):
            kernel = program.get_function(launch.kernel)
            # Asked for its attributes the driver loads the kernel now; loading it behind a gate could hang.
            registers, most = kernel.num_regs, kernel.max_threads_per_block
            spills, local = kernel.local_size_bytes, kernel.shared_size_bytes
        items = math.prod(launch.group_size)
        if items > most:
            raise Unsupported(
                f"{self.device.key}: kernel {launch.kernel} has {registers} registers a work-item (thread), "
                f"so its groups have at most {most} work-items, not {items}"
            )
        return kernel, Launch(launch.kernel, launch.num_groups, launch.group_size, local, registers, spills)

    def _bind(
        self, kernel: Any, launch: PlannedLaunch, arguments: Sequence[Any], submission: LaunchVariant | None
    ) -> Bound:
        # pycuda's public calls pack the arguments each time; this is what they call in the end.
        fixed = packed(arguments)
        bound = partial(kernel._launch_kernel, launch.num_groups, launch.group_size, fixed, 0, self._stream)
        return self._submitted(bound, submission)

    def _bind_copy(self, source: Any, target: Any, nbytes: int, submission: LaunchVariant | None) -> Bound:
        copy = partial(drv.memcpy_dtod_async, int(target), int(source), nbytes, self._stream)
        return self._submitted(copy, submission)

    def _submitted(self, bound: Bound, submission: LaunchVariant | None) -> Bound:
        """The command, and after it the event that this submission asks for."""
        if submission is None or submission.events == "off":
            return bound
        flags = drv.event_flags.DEFAULT if submission.events == "profiled" else drv.event_flags.DISABLE_TIMING
        event = drv.Event(flags)

        def with_event() -> None:
            bound()
            event.record(self._stream)

        return with_event

    def _keep(self, sources: Sequence[DeviceArray], share: float) -> KeptSources:
        return KeptSources(self.device.index, self._stream.handle, sources, share, self._activate)

    def _image_buffer(self, source: DeviceArray) -> Texture:
        self._activate()
        return Texture(source)

    def _image2d(self, source: DeviceArray, image: SourceImage2d) -> Texture:
        self._activate()
        return Texture(source, image)

    def _fill(self, handle: Any, nbytes: int, pattern: bytes) -> None:
        with typed_errors(f"filling {nbytes} bytes"):
            if len(pattern) == 1:
                drv.memset_d8_async(handle, pattern[0], nbytes, self._stream)
                return
            repeated = np.frombuffer(pattern * (nbytes // len(pattern)), np.uint8)
            drv.memcpy_htod_async(handle, bytes_of(repeated), self._stream)
            self._stream.synchronize()

    def _download(self, handle: Any, host: Array) -> None:
        with typed_errors("fetching the result"):
            drv.memcpy_dtoh_async(bytes_of(host), handle, self._stream)
            self._stream.synchronize()

    def _free(self, handle: Any) -> None:
        handle.free()
