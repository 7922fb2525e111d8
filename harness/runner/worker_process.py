"""The runner's end of a worker process: start it, ask it, wait up to a limit, end it with its children."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import IO, Any

from harness.runner import safe_path

_STDERR_LINES = 6
_STDERR_BYTES = 8192
START_LIMIT_S = 120.0
"""Seconds that a worker may take to open its device."""
_GRACE_S = 5.0
"""Seconds that a worker may take to end by itself."""


class WorkerFailed(Exception):
    """A worker that did not start, answer in time or live on; the message says which, and its last words."""


def _guard() -> tuple[subprocess.Popen[bytes], int]:
    """The leader of a new process group, which it kills when this process is no more; and the end of a pipe
    by which it knows, as nobody else has it.

    A process, not a thread of the worker's: that may hang in a driver that lets no thread of Python's run.
    """
    watched, alive = os.pipe()
    try:
        guard = subprocess.Popen(
            ["/bin/sh", "-c", "read line; kill -KILL 0"],
            stdin=watched,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
    except BaseException:
        os.close(alive)
        raise
    finally:
        os.close(watched)
    return guard, alive


class Worker:
    """A live ``python -m harness.runner.worker_main`` in a process group of its own, so that a kill takes its
    children too.

    Starts the process; :meth:`wait_until_open` must follow. The group ends with this process, however this
    one ends. ``held`` are open files that the worker keeps open as long as it lives: the locks of devices.

    Raises:
        WorkerFailed: if the system starts no further process.
    """

    def __init__(
        self, backend: str, device: int, options: Mapping[str, Any], held: Sequence[int] = ()
    ) -> None:
        # A file, not a pipe: nobody needs to read it, so it cannot fill up.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        command = safe_path.python(
            "-m", "harness.runner.worker_main", backend, str(device), json.dumps(options)
        )
        try:
            self._guard, self._alive = _guard()
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._stderr,
                    env=safe_path.environment(),
                    process_group=self._guard.pid,
                    pass_fds=held,
                )
            except BaseException:
                os.close(self._alive)
                self._guard.wait()
                raise
        except OSError as error:
            self._stderr.close()
            raise WorkerFailed(f"the system starts no process: {error}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin: IO[bytes] = self._process.stdin
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()

    def wait_until_open(self) -> None:
        """Waits until the worker has opened its device: after its start, and after a request to renew.

        Raises:
            WorkerFailed: if it has not within START_LIMIT_S seconds; nothing of it is left then.
        """
        try:
            hello = self.answer(START_LIMIT_S)
            if "unavailable" in hello:
                raise WorkerFailed(str(hello["unavailable"]))
        except BaseException:
            self.kill()
            raise

    def ask(self, request: Mapping[str, Any], limit_s: float) -> dict[str, Any]:
        """The worker's answer to a request; see :meth:`answer`."""
        self.tell(request)
        return self.answer(limit_s)

    def tell(self, request: Mapping[str, Any]) -> None:
        """A request, without waiting for its answer: meanwhile others can be told theirs."""
        # A worker that is already dead says so by its answer's absence.
        with contextlib.suppress(BrokenPipeError):
            self._stdin.write(json.dumps(request).encode() + b"\n")
            self._stdin.flush()

    def answer(self, limit_s: float) -> dict[str, Any]:
        """The worker's next answer.

        Raises:
            WorkerFailed: if there is none within ``limit_s`` seconds; kill the worker then.
        """
        try:
            line = self._answers.get(timeout=limit_s)
        except queue.Empty:
            raise WorkerFailed(f"no answer within {limit_s:g} s{self._last_words()}") from None
        if not line:
            raise WorkerFailed(f"the worker {self._end()}{self._last_words()}")
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise WorkerFailed(f"the worker's answer is not a JSON object: {line[:200]!r}")
        return answer

    def dismiss(self) -> None:
        """Tells the worker to end, without waiting for it."""
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()

    def finish(self) -> None:
        """Lets the worker end by itself, for a few seconds."""
        self.dismiss()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_S)
        self.kill()

    def kill(self) -> None:
        """Ends the worker and its children now. May be called twice."""
        if self._stderr.closed:
            return
        # The group is ended even if the worker has ended already: a child may be left.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._guard.pid, signal.SIGKILL)
        self._process.wait()
        self._guard.wait()
        self.dismiss()
        os.close(self._alive)
        self._stderr.close()

    def stop(self) -> None:
        """Ends the worker and its children from another thread than the one that asks it, which is told that
        it ended.
        """
        if not self._stderr.closed:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._guard.pid, signal.SIGKILL)

    def _read(self, stdout: IO[bytes]) -> None:
        """In a thread of its own, asleep during a measurement. An empty answer is the end."""
        with stdout:
            for line in stdout:
                self._answers.put(line)
        self._answers.put(b"")

    def _end(self) -> str:
        """How the process ended, in words."""
        try:
            code = self._process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            return "closed its output without an answer"
        if code >= 0:
            return f"ended with exit code {code}"
        return f"was killed by {signal.Signals(-code).name}"

    def _last_words(self) -> str:
        """The last lines of what the worker wrote to stderr."""
        size = os.fstat(self._stderr.fileno()).st_size
        raw = os.pread(self._stderr.fileno(), _STDERR_BYTES, max(0, size - _STDERR_BYTES))
        lines = [line for line in raw.decode(errors="replace").splitlines() if line.strip()]
        return "; its last words:\n" + "\n".join(lines[-_STDERR_LINES:]) if lines else ""


def finish_all(workers: Collection[Worker]) -> None:
    """Lets workers end by themselves, all at the same time."""
    for worker in workers:
        worker.dismiss()
    for worker in workers:
        worker.finish()
