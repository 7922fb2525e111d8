"""The run of one unit as its client keeps it: a run file, and the lease by which a worker adds to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from harness.fleet.folder import Entry
from harness.fleet.unit import Ended, Unit, packed
from harness.results.record import Case, Record
from harness.results.run_writer import RunWriter

State = Literal["waiting", "running", "done", "failed"]


class LostMessages(Exception):
    """Of a lease's messages some are missing."""


class DeviceRun:
    """A unit, its run file and where it is.

    ``token`` is that of the lease that counts, empty without one; ``address`` is its worker's. ``workers``
    are the addresses of those that report the device. ``heard`` is when the lease's last message came, or
    since when the unit waits; ``not_before`` when it may be tried again. ``losses`` counts the leases in a
    row that were lost without a record; at ``busy_since`` another process was first seen on the device.
    """

    def __init__(self, unit: Unit, path: Path, entry: Entry, now: float) -> None:
        self.unit, self.path, self.entry = unit, path, entry
        self.state: State = "done" if entry.is_done and path.exists() else "waiting"
        self.workers: set[str] = set()
        self.token, self.address = "", ""
        self.future: Any = None
        self.heard, self.not_before = now, 0.0
        self.losses = 0
        self.busy_since: float | None = None
        self.done, self.total, self.next = 0, 0, ""
        self.records, self.troubles = 0, 0
        self.ended: Ended | None = None
        self._expected = 0
        self._writer: RunWriter | None = None
        self._there: set[tuple[Case, int, int]] = set()
        if self.state == "waiting" and path.exists():
            self._resume()

    def _resume(self) -> None:
        if not self.path.stat().st_size:
            return
        self._writer, records = RunWriter.resume(self.path)
        for record in records:
            self._note(record)

    @property
    def begun(self) -> bytes:
        """The run file so far, for the way; empty where there is none."""
        return packed(self.path.read_bytes()) if self._writer else b""

    def grant(self, token: str, address: str, future: Any, now: float) -> None:
        """Takes note of a lease."""
        self.state, self.token, self.address, self.future = "running", token, address, future
        self.heard, self._expected, self.ended = now, 0, None

    def take(self, message: Mapping[str, Any], now: float) -> bool:
        """Takes a message of the lease that counts: what is measured is on the disk when this returns. False
        for one that was taken before.

        Raises:
            LostMessages: if others are missing before it.
            OSError: if it cannot be written.
            ValueError: if it is not of the kind that a worker sends.
        """
        number = int(message["number"])
        if number < self._expected:
            return False
        if number > self._expected:
            raise LostMessages(f"{number - self._expected} messages of its worker were lost")
        self._expected += 1
        self.heard = now
        return self._taken(message)

    def _taken(self, message: Mapping[str, Any]) -> bool:
        if "environment" in message:
            self._writer = RunWriter(self.path, json.loads(message["environment"]))
        elif "record" in message:
            return self._write(Record.from_json(json.loads(message["record"])))
        elif "image" in message:
            self._open.write_image(json.loads(message["image"]))
        elif "resumed" in message:
            self._open.write_resumed(json.loads(message["resumed"]))
        elif "seconds" in message:
            self._open.write_end(message["seconds"])
        elif "ended" in message:
            self.ended = message["ended"]
        else:
            self.done, self.total, self.next = message["done"], message["total"], str(message["next"])
        return True

    def _write(self, record: Record) -> bool:
        if (record.case, record.process, record.block) in self._there:
            return False
        self._open.write(record)
        self._note(record)
        self.losses, self.busy_since = 0, None
        return True

    @property
    def _open(self) -> RunWriter:
        if self._writer is None:
            raise ValueError("a record came before the description of its machine")
        return self._writer

    def _note(self, record: Record) -> None:
        self._there.add((record.case, record.process, record.block))
        self.records += 1
        self.troubles += record.status in ("wrong", "failed")

    def give_up(self, now: float, pause: float) -> None:
        """Ends the lease: what its task still sends is refused."""
        self.state, self.token, self.address, self.future = "waiting", "", "", None
        self.heard, self.not_before = now, now + pause

    def conclude(self, reason: str = "") -> None:
        """Ends the unit: all measured, or failed for a reason."""
        self.state = "failed" if reason else "done"
        self.token, self.address, self.future = "", "", None
        self.entry.is_done, self.entry.reason = not reason, reason
        self.close()

    def close(self) -> None:
        """Closes the run file."""
        if self._writer:
            self._writer.close()
