"""The numbers that the studies print, as CSV files with a comment line each, and the reading of them."""

from __future__ import annotations

from importlib import resources

import pandas as pd


def published(name: str) -> pd.DataFrame:
    """The published table ``name``: a file of this folder without ``.csv``, its comment line left out.

    Raises:
        ValueError: if there is no such table; it names those there are.
    """
    files = {
        file.name.removesuffix(".csv"): file
        for file in resources.files(__name__).iterdir()
        if file.name.endswith(".csv")
    }
    if name not in files:
        raise ValueError(f"published table {name!r} is unknown; known are {', '.join(sorted(files))}")
    with files[name].open(encoding="utf-8") as file:
        return pd.read_csv(file, comment="#")
