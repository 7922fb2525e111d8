"""The right answers of a run's problems, kept in a folder that its workers share.

A reference is computed in wide types on the host and so is slow; every backend needs it in every process.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.problems import Problem

MOST_BYTES = 2**30
"""What the folder may hold; answers beyond it are computed anew by each worker."""


class Answers:
    """Answers by problem, of one seed and image. Only for a folder that nobody else can write to: they are
    pickled.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, problem: Problem, compute: Callable[[], Any]) -> Any:
        """The answer to ``problem``; computed and kept where nobody has."""
        path = self._folder / f"{hashlib.blake2b(repr(problem).encode(), digest_size=20).hexdigest()}.answer"
        try:
            return pickle.loads(path.read_bytes())
        except FileNotFoundError:
            answer = compute()
            self._keep(path, pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))
            return answer

    def _keep(self, path: Path, data: bytes) -> None:
        """Whole or not at all: a worker may be killed while it writes."""
        if sum(entry.stat().st_size for entry in self._folder.iterdir()) + len(data) > MOST_BYTES:
            return
        part = path.with_suffix(f".{os.getpid()}")
        try:
            part.write_bytes(data)
        except OSError:
            # A full disk costs time, not the case.
            part.unlink(missing_ok=True)
            return
        part.replace(path)
