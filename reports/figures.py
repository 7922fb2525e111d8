"""A chart by itself, as a file for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.files import replacing
from harness.results.ratio import BAND
from harness.results.runfile import Run
from reports.charts import ratio_panels
from reports.dataset import frame
from reports.ratios import BEST_LIBRARY, Comparison, comparisons

CHART_ENDINGS: Final = (".svg", ".png")


def write_ratio_chart(
    run: Run, path: Path, band: float = BAND, device: str = "", sides: str = "", cache: str = ""
) -> tuple[str, list[str]]:
    """Draws the ratios of one device, two sides and one cache state into a file, SVG or PNG by its ending.

    Args:
        run: the run.
        path: the file; what is there is replaced.
        band: equivalence band, drawn as a shade.
        device: part of the device's name or PCI address; any device when empty.
        sides: ``opencl/cuda``, ``portable-opencl/cuda``, ``opencl/library`` or ``cuda/library``; any when
            empty.
        cache: ``hot`` or ``cold``; any when empty.

    Returns:
        What was drawn, the first that fits, and all else that could have been.

    Raises:
        ValueError: if nothing fits, or the ending is another; names what there is.
        OSError: if the file cannot be written.
    """
    if path.suffix not in CHART_ENDINGS:
        raise ValueError(f"{path}: a chart is a file that ends in {' or '.join(CHART_ENDINGS)}")
    there = [
        (each, str(state))
        for each in comparisons(frame(run), band)
        for state in each.fastest["cache"].drop_duplicates()
    ]
    texts = [_text(*each) for each in there]
    fitting = [
        place
        for place, (each, state) in enumerate(there)
        if any(device.casefold() in text.casefold() for text in (each.device_name, each.physical))
        and sides in ("", _sides(each))
        and cache in ("", state)
    ]
    if not texts:
        raise ValueError(f"{run.path} has no ratios; give a run of two backends of one device")
    if not fitting:
        asked = ", ".join(filter(None, (device, sides, cache)))
        raise ValueError(
            f"{run.path} has no ratios{' of ' + asked if asked else ''}; there are: {'; '.join(texts)}"
        )
    chosen = fitting[0]
    with replacing(path) as part:
        ratio_panels(*there[chosen]).write(part)
    return texts[chosen], texts[:chosen] + texts[chosen + 1 :]


def _sides(of: Comparison) -> str:
    names = ("library" if side == BEST_LIBRARY else side.lower() for side in (of.first, of.second))
    return "/".join(names).replace(" ", "-")


def _text(of: Comparison, cache: str) -> str:
    return f"{_sides(of)}, {cache}, {of.device_name} ({of.physical})"
