"""A client of Dask: of a scheduler that runs, of this host's own cluster, or of one that a file describes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.explain import extra, mistakes
from harness.fleet.unit import FleetError

LOCAL = "local"
QUIET = {"distributed.worker.profile.enabled": False, "distributed.admin.system-monitor.interval": "10s"}
"""Dask's settings for a worker that is not to disturb what it measures: its profiler would wake it a hundred
times a second, its monitor twice.
"""
REACH_S = 5.0
"""Seconds for which a scheduler's address is tried: where nobody listens, nobody will."""
CONNECT_S = 30.0
"""Seconds that a scheduler that was reached may take to answer: it may be busy."""


class Description(BaseModel):
    """A cluster's file. ``cluster``: the class (``dask_jobqueue.SLURMCluster``), made with ``arguments`` and
    told to ``scale``. ``workers``: so many are awaited.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    cluster: str = Field(pattern=r"^[A-Za-z_][\w.]*\.[A-Za-z_]\w*$")
    arguments: dict[str, Any] = {}
    scale: dict[str, Any] = {}
    workers: int = Field(default=1, ge=1)


def described(path: Path) -> Description:
    """What a cluster's file says.

    Raises:
        ValueError: if it cannot be read or is not valid; says why.
    """
    _require()
    import yaml

    try:
        data = yaml.safe_load(path.read_bytes())
        return Description.model_validate({} if data is None else data)
    except OSError as error:
        raise ValueError(
            f"{path} cannot be read: {error.strerror}; give local, or the file of a cluster"
        ) from error
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is not YAML: {error}") from None
    except ValidationError as error:
        raise ValueError("; ".join(f"{path}: {each}" for each in mistakes(error, Description))) from None


def _require() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise FleetError(f"Dask is not installed ({error}); {extra('fleet')}") from error


@contextmanager
def client_of(scheduler: str, wait_s: float) -> Iterator[Any]:
    """A client of the scheduler at an address, which stays.

    Raises:
        FleetError: if none answers there within ``wait_s`` seconds, or fewer (REACH_S, CONNECT_S).
    """
    _require()
    from distributed import Client

    try:
        # First: a Client that cannot connect would be in the way of the command's end.
        asyncio.run(_ask(scheduler, max(wait_s, 1.0)))
        client = Client(scheduler, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise FleetError(
            f"no scheduler answers at {scheduler}: {error}; start one with `dask scheduler`, and give its "
            "address, as tcp://host:8786"
        ) from error
    with _closing(client):
        yield client


_OTHER_PROTOCOL = "whoever listens there does not speak Dask's protocol"


async def _ask(address: str, wait_s: float) -> None:
    """Asks who listens at an address.

    Raises:
        ValueError: if no scheduler answers in time; says why.
    """
    seconds = min(CONNECT_S, wait_s)
    try:
        with _silent("distributed.protocol.core"):
            async with asyncio.timeout(seconds):
                kind = await _kind(address, min(REACH_S, seconds / 2))
    except TimeoutError as error:
        raise ValueError(f"whoever listens there gives no answer within {seconds:g} s") from error
    except MemoryError as error:
        # Text of another protocol is read as the length of a message.
        raise ValueError(_OTHER_PROTOCOL) from error
    except Exception as error:
        # Of many types: each transport of Dask's has its own, around what the system says. What cannot be
        # decoded has no text.
        raise ValueError(str(_innermost(error)) or _OTHER_PROTOCOL) from error
    if kind != "Scheduler":
        raise ValueError(f"that is a {kind}'s address")


def _innermost(error: BaseException) -> BaseException:
    return _innermost(error.__cause__) if error.__cause__ else error


async def _kind(address: str, reach_s: float) -> Any:
    """What a process of Dask's is, as it says."""
    from distributed.comm import connect
    from distributed.core import send_recv
    from distributed.security import Security

    comm = await connect(address, timeout=reach_s, **Security().get_connection_args("client"))
    try:
        return (await send_recv(comm, op="identity"))["type"]
    finally:
        comm.abort()


@contextmanager
def local(devices_at_once: int) -> Iterator[Any]:
    """A client of a cluster on this host: one worker, with a thread for each device at a time."""
    _require()
    import dask
    from distributed import LocalCluster

    with (
        dask.config.set(QUIET),
        LocalCluster(
            n_workers=1,
            threads_per_worker=devices_at_once,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            # That workers are ended in the middle of a task is no news.
            silence_logs=logging.ERROR,
        ) as cluster,
        _client(cluster) as client,
    ):
        yield client


def _quiet(kind: type) -> dict[str, Any]:
    """The argument by which the workers of a cluster log no traceback of their own, where it has one."""
    name = "silence_logs"
    return {name: logging.CRITICAL} if name in signature(kind).parameters else {}


@contextmanager
def made(description: Description, path: Path) -> Iterator[Any]:
    """A client of the cluster that the file in ``path`` describes, which is ended with it.

    Raises:
        FleetError: if it cannot be made.
    """
    module, _, name = description.cluster.rpartition(".")
    try:
        kind = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise FleetError(f"cluster {description.cluster}: {error}; install its package") from error
    from distributed.deploy import Cluster

    if not (isinstance(kind, type) and issubclass(kind, Cluster)):
        raise FleetError(
            f"cluster {description.cluster}: it is no class of clusters of Dask's, such as "
            "dask_jobqueue.SLURMCluster; name one"
        )
    try:
        # What is wrong comes up from below, and each layer of Dask's logs a traceback of it.
        with _silent("distributed"):
            cluster = kind(**(_quiet(kind) | description.arguments))
            if description.scale:
                cluster.scale(**description.scale)
    except (TypeError, ValueError, OSError, RuntimeError) as error:
        why = str(_innermost(error)) or str(error)
        raise FleetError(f"{path}: cluster {description.cluster} cannot be made: {why}") from error
    with cluster, _client(cluster) as client:
        yield client


@contextmanager
def _client(cluster: Any) -> Iterator[Any]:
    from distributed import Client

    with _closing(Client(cluster, timeout=CONNECT_S, set_as_default=False)) as client:
        yield client


@contextmanager
def _closing(client: Any) -> Iterator[Any]:
    # That a scheduler is lost is told once, by the fleet.
    with _silent("distributed.client"):
        try:
            yield client
        finally:
            client.close(timeout=CONNECT_S)


@contextmanager
def _silent(name: str) -> Iterator[None]:
    """Without what Dask logs by that name: the command itself tells what is wrong."""
    log = logging.getLogger(name)
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(level)
