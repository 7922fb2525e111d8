"""What NVIDIA's assembler says of a kernel in the build log of OpenCL (``-cl-nv-verbose``)."""

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

    CUDA counts the same bytes as a kernel's local size. The log is empty where the driver took the program
    from its own cache.
    """
    for match in _PROPERTIES.finditer(log):
        if match["kernel"] == kernel:
            registers, stack = _REGISTERS.search(match["text"]), _STACK.search(match["text"])
            return registers and int(registers[1]), stack and int(stack[1])
    return None, None
