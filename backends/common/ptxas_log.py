"""What NVIDIA's assembler says of a kernel in a build log: OpenCL's (``-cl-nv-verbose``), or NVRTC's."""

from __future__ import annotations

import re

_PROPERTIES = re.compile(
    r"Function properties for '?(?P<kernel>\w+)'?(?P<text>.*?)(?=Function properties for|Compiling entry|\Z)",
    re.DOTALL,
)
_REGISTERS = re.compile(r"Used (\d+) registers")
_STACK = re.compile(r"(\d+) bytes stack frame")


def ptxas_resources(log: str, kernel: str) -> tuple[int | None, int | None]:
    """Registers a work-item (thread) and its bytes of stack, where spills go; None for what is not said.

    CUDA counts the same bytes as a kernel's local size.
    """
    text = properties(log, kernel)
    registers, stack = _REGISTERS.search(text), _STACK.search(text)
    return registers and int(registers[1]), stack and int(stack[1])


def properties(log: str, kernel: str) -> str:
    """The lines of a log that are about one kernel; empty where there are none."""
    return next((match["text"] for match in _PROPERTIES.finditer(log) if match["kernel"] == kernel), "")
