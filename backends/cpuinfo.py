"""What Linux tells of the host's processor."""

from __future__ import annotations

from pathlib import Path

PATH = Path("/proc/cpuinfo")


def cpuinfo(path: Path = PATH) -> dict[str, str]:
    """The entries of the first processor by their names, such as ``model name``; empty elsewhere."""
    if not path.is_file():
        return {}
    first = path.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}
