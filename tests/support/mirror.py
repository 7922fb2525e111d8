"""OpenCL C leads: the CUDA twin of a kernel file is its text with other tokens, but for regions that differ.

``tox -e mirror`` writes the twins anew. What stands in a twin's regions (``// differs: <reason>`` to
``// end differs``) stays; a region is known by its reason, and may be empty where a dialect needs nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CL, CU = ROOT / "kernels_cl", ROOT / "kernels_cu"
WIDTH = 120

TOKENS = (
    # OpenCL C, as a pattern; CUDA C++
    (r"__kernel ", r'extern "C" __global__ '),
    (r"__attribute__\(\(reqd_work_group_size\((\w+), 1, 1\)\)\)", r"__launch_bounds__(\1)"),
    (r"__attribute__\(\(reqd_work_group_size\((\w+), (\w+), 1\)\)\)", r"__launch_bounds__(\1 * \2)"),
    (r"\brestrict\b", r"__restrict__"),
    (r"(?<!__device__ )\binline\b", r"__device__ inline"),
    (r"__local (?=\w+ \*)", r""),  # A pointer to local memory is any pointer in CUDA.
    (r"__local ", r"__shared__ "),
    (r"__constant ", r"__constant__ "),
    (r"__global ", r""),
    (r"get_local_id\(0\)", r"threadIdx.x"),
    (r"get_local_id\(1\)", r"threadIdx.y"),
    (r"get_group_id\(0\)", r"blockIdx.x"),
    (r"get_group_id\(1\)", r"blockIdx.y"),
    (r"get_num_groups\(0\)", r"gridDim.x"),
    (r"get_num_groups\(1\)", r"gridDim.y"),
    (r"barrier\(CLK_LOCAL_MEM_FENCE\)", r"__syncthreads()"),
)  # fmt: skip
"""What is written differently everywhere; anything else that differs stands in a region with its reason."""

BEGIN = re.compile(r"\s*// differs:(.*)")
_END = "// end differs"


def names(folder: Path) -> set[str]:
    """The kernel files below a folder, without suffix."""
    return {str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.c[lu]")}


def cut(text: str) -> list[tuple[str, list[str]]]:
    """The text in pieces: a region's reason with its lines, or an empty reason with lines that are shared.

    Raises:
        ValueError: on a region without a reason, or without its other end.
    """
    pieces: list[tuple[str, list[str]]] = [("", [])]
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        begins = BEGIN.fullmatch(line)
        if bool(begins) == inside and (begins or line.strip() == _END):
            raise ValueError(f"line {number}: a region that differs has no other end")
        if begins:
            if not begins[1].strip():
                raise ValueError(f"line {number}: a region that differs gives no reason")
            pieces.append((begins[1].strip(), []))
            inside = True
        elif line.strip() == _END:
            pieces.append(("", []))
            inside = False
        else:
            pieces[-1][1].append(line)
    if inside:
        raise ValueError("the last region that differs has no end")
    return pieces


def to_cuda(line: str) -> str:
    """A line of OpenCL C with its own tokens replaced by CUDA's."""
    for pattern, replacement in TOKENS:
        line = re.sub(pattern, replacement, line)
    return line


def twin(cl: str, cu: str) -> str:
    """The CUDA text of a file: OpenCL's with other tokens, and the regions of the CUDA text that there is.

    Raises:
        ValueError: if the CUDA text has a region that OpenCL's has not, or regions in another order.
    """
    leading = cut(cl)
    kept = [piece for piece in cut(cu) if piece[0]]
    lines: list[str] = []
    for reason, inside in leading:
        if not reason:
            lines += _shared(inside)
            continue
        body = kept.pop(0)[1] if kept and kept[0][0] == reason else []
        lines += [f"// differs: {reason}", *body, _END]
    if kept:
        raise ValueError(f"the region {kept[0][0]!r} is not at its place in the OpenCL file, which leads")
    return "\n".join([*lines, ""])


def _shared(lines: list[str]) -> list[str]:
    """CUDA's lines; what is aligned to a parenthesis stays so, and what gets too long is wrapped."""
    made: list[str] = []
    column, moved, was_wrapped = -1, 0, False
    for line in lines:
        text = to_cuda(line) if not line.lstrip().startswith("//") else line
        if text.endswith("\\"):
            # A macro's lines go on in the same column.
            padded = len(line) - 2 if line.endswith("  \\") else 0
            text = text[:-1].rstrip().ljust(padded) + " \\"
        if column >= 0 and len(line) - len(line.lstrip()) == column:
            text = f"{made.pop()} {text.lstrip()}" if was_wrapped else " " * (column + moved) + text.lstrip()
        else:
            column, moved = _open(line), _open(text) - _open(line)
        pieces = _wrapped(text)
        was_wrapped = len(pieces) > 1
        made += pieces
    return made


def _open(line: str) -> int:
    """The column behind the innermost parenthesis that a line leaves open; -1 if it leaves none."""
    found: list[int] = []
    for at, character in enumerate(line):
        if character == "(":
            found.append(at + 1)
        elif character == ")" and found:
            found.pop()
    return found[-1] if found else -1


def _wrapped(line: str) -> list[str]:
    if len(line) <= WIDTH or line.lstrip().startswith("//"):
        return [line]
    cut_at = line.rindex(", ", 0, WIDTH) + 1
    column = _open(line[:cut_at])
    return [line[:cut_at], *_wrapped(" " * max(column, 0) + line[cut_at + 1 :])]


def main() -> None:
    """Writes every CUDA twin anew and tells which have changed."""
    for name in sorted(names(CL)):
        path = CU / f"{name}.cu"
        old = path.read_text(encoding="utf-8") if path.is_file() else ""
        new = twin((CL / f"{name}.cl").read_text(encoding="utf-8"), old)
        if new != old:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(new, encoding="utf-8")
            print(f"written: kernels_cu/{name}.cu")


if __name__ == "__main__":
    main()
