"""The clocks of a measurement. Knows no GPU API: only a backend's ``gate``, ``enqueue`` and ``synchronize``.

The primary clock is the queue's: calls are enqueued behind a closed gate, and the host's clock runs from
opening it until the last has ended. What that costs once (opening, waking up, noticing the end) is the same
for a few calls, the lead, and for N more, so the slope between the two is seconds a call and nothing else.
It means the same on every backend.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from backends.base import Backend, Gate
from backends.errors import BackendError, GateExpired
from harness.cpuinfo import seconds_of_other_threads, seconds_without_core
from harness.measure.budget import AMONG, LONG_ENOUGH, Budget, Stop
from harness.measure.interruption import MOST_IN_A_CLOCK, REMEMBERED, is_interrupted
from harness.measure.rotation import Rotation
from harness.results.record import Samples

Timer = Callable[[], float]
"""The host's clock: seconds from any fixed moment."""

SLOW_CALL = 50e-3
"""Seconds from which on one call is a sample: the fixed cost, some ten microseconds, no longer shows."""
UNKNOWN_LAUNCHES = 4
"""Launches assumed of a library's call that does not tell."""
LEAD_SHARE = 4
"""A sample of N calls is the slope between N divided by this and N more. A longer lead would cost the host
as many more enqueues, which of a short kernel take longer than the calls, and the slope would be the same."""
LEAST_LEAD = 16
"""Calls of a lead, but no more than N: the first calls may find the caches otherwise than later ones do."""
LEAST_QUEUE = 64
"""Launches that every driver's queue holds."""
MAX_UNGATED_CALLS = 2**14
GRACE, SLACK, LONGEST = 0.3e-3, 1.3, 2.0
"""A gate that opens by the clock holds for so many seconds and so many times what enqueueing took before, but
no longer than the last, in seconds."""
ATTEMPTS = 5
"""Gates in a row that may open too early, each holding for longer, until it is the calls' fault."""
DISTURBED = 0.05
"""Share of a batch's time that its thread may wait for a core that others have."""
PATIENCE = 20e-3
"""Seconds in which a batch on a processor is measured again if others had the core."""
_FORGETTING = 0.8
_ENOUGH_TO_WARM_UP = 64
"""Calls of a batch, where the case was measured before."""
_TELLING = 16
"""Calls of a batch from which on it tells what enqueueing one takes: the first ones wake the driver up."""
HOST_BOUND = (
    "host-bound: the calls could not be held back by a gate, so the host's cost of enqueueing them may show"
)
NO_CORE = (
    "others had the processor's core in most batches; a wait that no other thread worked in is taken off"
)
INTERRUPTED = "the host was interrupted in many samples: what a batch costs once differs from one to the next"
UNSURE = 100e-6
"""Seconds by which it may be less sure than usual when a gate opens. Nearly all take less to submit
(reports/examples/h200-gates.txt)."""
FIXED_COST = "the fixed cost of a sample is included: no slope stood out of the noise"


def lead(calls: int) -> int:
    """The calls before the slope of a sample of so many ``calls``: at least one, and at most as many."""
    return max(min(calls, LEAST_LEAD), calls // LEAD_SHARE)


def most_calls(held: int) -> int:
    """The most calls of a sample that has no more than ``held`` behind the gate, its lead among them."""
    tried = held // 2, held - LEAST_LEAD, held * LEAD_SHARE // (LEAD_SHARE + 1)
    return max(calls for calls in tried if calls + lead(calls) <= held)


def slope(t_few: float, t_more: float, calls: int) -> float:
    """Seconds a call from the seconds of some and of ``calls`` more: what both cost once falls out."""
    return (t_more - t_few) / calls


def grow(span: Callable[[int], float], limit: int, enough: float = LONG_ENOUGH, first: int = 1) -> int:
    """The number of calls, doubled from ``first`` up to ``limit``, at which ``span(calls)`` seconds reach
    ``enough``.

    A second look must agree, as a hiccup of the host makes one span too long.
    """
    calls = min(max(1, first), limit)
    while calls < limit and not (span(calls) >= enough and span(calls) >= enough):
        calls = min(2 * calls, limit)
    return calls


class Queue:
    """Times batches of calls on one prepared problem."""

    def __init__(self, backend: Backend, rotation: Rotation, timer: Timer = time.perf_counter) -> None:
        self._backend, self._rotation, self._timer = backend, rotation, timer
        self._batch = self._batches = self._disturbed = 0
        self._waited = seconds_without_core if backend.device.kind == "cpu" else float
        self._enqueueing = backend.enqueue_seconds
        launches = (len(rotation.launches) or UNKNOWN_LAUNCHES) * rotation.prepared.commands_per_launch
        self._launches = launches
        # Enqueueing more than fit behind the gate would wait for a gate still closed.
        self._gated = 2 * launches <= backend.max_gated_launches
        self.limit = most_calls(backend.max_gated_launches // launches) if self._gated else MAX_UNGATED_CALLS
        # The first call may load a kernel's code, and that may wait for the device: not behind the gate.
        self._enqueue(1)
        backend.synchronize()

    @property
    def note(self) -> str:
        """What weakens the samples; empty when the gate holds, or the thread had a core."""
        weak = [] if self._gated else [HOST_BOUND]
        if self._disturbed > self._batches / 2:
            weak.append(NO_CORE)
        return "; ".join(weak)

    def batch(self, calls: int) -> float:
        """Seconds from opening the gate (without one, the first enqueue) to the end of ``calls`` calls."""
        self._batch = calls
        with _no_garbage_collection():
            gate = self._enqueued_behind_gate(calls) if self._gated else None
            if gate:
                # Not when this thread saw it open: it may have lost its core meanwhile.
                start = self._timer() if gate.opens is None else gate.opens
                gate.open()
            else:
                self._ungate()
                start = self._timer()
                self._enqueue(calls)
            self._backend.synchronize()
            return self._timer() - start

    def sample(self, calls: int) -> tuple[float, bool]:
        """Seconds a call, the slope between the lead and ``calls`` more; and whether the host was interrupted
        in it, which samples with a gate tell, of a GPU.
        """
        few = lead(calls)
        t_few, t_more = self._undisturbed(few), self._undisturbed(few + calls)
        value = slope(t_few, t_more, calls)
        if not self._gated or self._backend.device.kind == "cpu":
            return value, False
        once, before = t_few - few * value, self._backend.once_seconds
        if is_interrupted(once, t_more - t_few, few / calls, before):
            return value, True
        self._backend.once_seconds = (*before, once)[-REMEMBERED:]
        return value, False

    def believe(self) -> None:
        """To be called when samples were interrupted again and again: what is usual has changed."""
        self._backend.once_seconds = ()

    def _undisturbed(self, calls: int) -> float:
        """The seconds of a batch, of calls that this thread works off itself of one in which it had a core:
        where none is to be had within PATIENCE seconds, of the one that waited least. Where no other thread
        works at it, its wait is taken off.
        """
        start = self._timer()
        found: list[tuple[float, float]] = []
        while True:
            waited, others = self._waited(), seconds_of_other_threads()
            seconds = self.batch(calls)
            waited, others = self._waited() - waited, seconds_of_other_threads() - others
            if self._gated or waited <= DISTURBED * seconds:
                break
            alone = others <= DISTURBED * seconds
            found.append((waited / seconds, seconds - waited if alone else seconds))
            if self._timer() - start > PATIENCE:
                seconds = min(found)[1]
                self._disturbed += 1
                break
        self._batches += 1
        return seconds

    def _enqueue(self, calls: int) -> None:
        self._rotation.enqueue(calls)

    def _enqueued_behind_gate(self, calls: int) -> Gate | None:
        """A gate with so many calls submitted behind it, to be opened; None where the backend has none.

        Raises:
            GateExpired: if enqueueing takes longer however long a gate holds: the queue is full, or a call
                waits for the device.
        """
        backend = self._backend
        attempts = 0
        while True:
            attempts += 1
            gate = backend.gate(
                self._rotation.prepared, min(LONGEST, GRACE + SLACK * calls * self._enqueueing)
            )
            if gate is None:
                return None
            backend.surest_gate = min(gate.unsure, backend.surest_gate)
            if gate.unsure > backend.surest_gate + UNSURE and attempts < ATTEMPTS:
                # The host lost its core while it submitted the gate: the calls would begin who knows when.
                gate.open()
                backend.synchronize()
                continue
            try:
                start = self._timer()
                self._enqueue(calls)
                taken = (self._timer() - start) / calls
                self._enqueueing = max(taken, _FORGETTING * self._enqueueing)
                gate.submit()
            except BaseException as error:
                # Left closed, it would keep the device from ever ending.
                gate.open()
                with suppress(BackendError):
                    backend.synchronize()
                if attempts == ATTEMPTS or not isinstance(error, GateExpired):
                    raise
            else:
                # A hiccup in a batch of a few is this queue's alone: it would make every later gate long.
                if calls >= _TELLING:
                    backend.enqueue_seconds = max(taken, _FORGETTING * backend.enqueue_seconds)
                return gate

    def shorten(self) -> None:
        """To be called when a gate expired: from now on batches of at most half as many calls as then; in
        later queues too, where it was many that did not fit. Of fewer the call itself is at fault, which
        waits for the device now and then; and where even a few do not fit, each time: it goes without a gate.
        """
        fits = self._batch // 2
        if fits < 2:
            self._ungate()
            return
        self.limit = most_calls(fits)
        launches = fits * self._launches
        if launches >= LEAST_QUEUE:
            self._backend.max_gated_launches = launches

    def _ungate(self) -> None:
        """From now on without a gate, and with no bound on the calls but patience."""
        if self._gated:
            self._gated, self.limit = False, MAX_UNGATED_CALLS


def queue_seconds(
    backend: Backend, rotation: Rotation, budget: Budget, timer: Timer = time.perf_counter
) -> Samples:
    """Samples of device seconds a call by the gated queue.

    Where the backend has no gate, or a call waits for the device while it is enqueued, they are host-bound
    and noted so. A sample in which the host was interrupted is taken anew. A slope that is not positive says
    that it spans too little to stand out of the noise: sampling starts anew over twice as many calls. Where
    no more fit behind the gate or into the budget it is dropped and drawn again, and that is noted.
    """
    queue = Queue(backend, rotation, timer)
    while True:
        try:
            return _queue_clock(queue, budget, timer)
        except GateExpired:
            # A driver's queue is shorter than assumed, or a library synchronises by itself.
            queue.shorten()


def _queue_clock(queue: Queue, budget: Budget, timer: Timer) -> Samples:
    call = _warm_up(queue, budget, timer)
    if call > SLOW_CALL:
        return _sampled(lambda: queue.batch(1), budget, timer, 1, queue.note)
    calls = min(budget.calls, queue.limit) if budget.calls else _enough(queue, call, budget.span)
    slopes, dropped = _slopes(queue, calls, budget, timer)
    taken = len(slopes.seconds)
    notes = [queue.note] if queue.note else []
    if slopes.anew == MOST_IN_A_CLOCK:
        notes.append(INTERRUPTED)
    if taken < min(budget.least, budget.samples) or budget.doubts(slopes.seconds):
        calls = slopes.calls
        notes.append(FIXED_COST)
        whole = lead(calls) + calls
        whole_batches = _sampled(lambda: queue.batch(whole) / whole, budget, timer, calls, "; ".join(notes))
        return replace(whole_batches, anew=slopes.anew)
    if 10 * dropped > taken:
        notes.append(f"{dropped} of {dropped + taken} slopes were not positive and were dropped")
    return replace(slopes, note="; ".join(notes))


def _enough(queue: Queue, call: float, span: float) -> int:
    """How many calls of about so many seconds a sample takes that is to last ``span`` seconds."""
    # A call takes no longer than it seemed to, for its share of the fixed cost was in it.
    first = int(1.1 * span / max(call, 1e-9))
    return grow(lambda n: queue.batch(lead(n) + n) - queue.batch(lead(n)), queue.limit, span, first)


def _slopes(queue: Queue, calls: int, budget: Budget, timer: Timer) -> tuple[Samples, int]:
    """A clock of positive slopes, and how many others were dropped."""
    seconds: list[float] = []
    dropped, anew, start = 0, 0, timer()
    stopped = None
    while dropped < max(budget.samples, budget.least, AMONG):
        spent = timer() - start
        stopped = budget.stop(seconds, spent)
        if stopped:
            break
        value, is_wrong = queue.sample(calls)
        if is_wrong and anew < MOST_IN_A_CLOCK:
            anew += 1
            if anew == MOST_IN_A_CLOCK:
                queue.believe()
        elif value > 0:
            seconds.append(value)
        elif calls < queue.limit and spent < budget.seconds / 2:
            calls = min(2 * calls, queue.limit)
            seconds.clear()
        else:
            dropped += 1
    return Samples(tuple(seconds), calls, stopped=stopped or Stop.DROPPED, anew=anew), dropped


def round_trip_seconds(
    backend: Backend, rotation: Rotation, budget: Budget, timer: Timer = time.perf_counter
) -> Samples:
    """Samples of host seconds from enqueueing one call to its answer in host memory: what a caller waits."""
    backend.synchronize()

    def draw() -> float:
        with _no_garbage_collection():
            start = timer()
            rotation.enqueue()
            rotation.result()
            return timer() - start

    return _sampled(draw, budget, timer)


def event_seconds(rotation: Rotation, budget: Budget, timer: Timer = time.perf_counter) -> Samples | None:
    """Samples of one call's seconds by the API's own timer; None where the API has none."""
    # The first call is no sample: it may still bind what the others find ready.
    if rotation.event_seconds() is None:
        return None
    drawn = _sampled(lambda: rotation.event_seconds() or 0.0, budget, timer)
    # A timer too coarse for the call tells 0.
    told = tuple(value for value in drawn.seconds if value > 0)
    return Samples(told, stopped=drawn.stopped) if told else None


def _sampled(
    draw: Callable[[], float], budget: Budget, timer: Timer, calls: int = 1, note: str = ""
) -> Samples:
    """Samples within the budget."""
    seconds: list[float] = []
    start = timer()
    while not (stopped := budget.stop(seconds, timer() - start)):
        seconds.append(draw())
    return Samples(tuple(seconds), calls, note, stopped=stopped)


def _warm_up(queue: Queue, budget: Budget, timer: Timer) -> float:
    """Runs batches for so long as the budget has it, ever larger ones where it is not known how many calls a
    sample takes; returns the seconds of one call, fixed cost included.
    """
    start = timer()
    if budget.calls:
        calls = min(budget.calls, _ENOUGH_TO_WARM_UP, queue.limit)
        call = queue.batch(calls) / calls
    else:
        # Twice, lest one hiccup make a fast call look slow.
        calls, call = 1, min(queue.batch(1), queue.batch(1))
    while timer() - start < budget.warm_up:
        calls = calls if budget.calls else min(2 * calls, queue.limit)
        call = min(call, queue.batch(calls) / calls)
    return call


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
