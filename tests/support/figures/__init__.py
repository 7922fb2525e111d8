"""What the documents say of the recorded runs, a module a topic: sentences and rows of tables.

Sentences alone are searched for figures that nobody checks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

RESULTS, ISSUES, NOTES = "docs/results-h200.md", "docs/known-issues.md", "docs/performance-notes.md"
KERNELS, TUNING = "docs/kernels.md", "docs/filter-tuning.md"
MAIN = "h200-quick"
LIBRARIES = ("cub", "npp", "cupy", "torch")
"""Those that reductions are compared with."""
BILLIONS = ("h200-libraries-268", "h200-libraries-billion")

Figure = tuple[str, str, Callable[[], Sequence[Any]]]
"""A document, a piece of it with gaps for figures, and what gives the figures."""
