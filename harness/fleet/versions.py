"""What must be the same on all hosts of a fleet: the harness, its kernels, and the packages that calls run
through. Drivers are the devices' own.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version

import harness
from harness.results.comparable import BESIDE
from harness.runner.environment import commit, kernels_hash, packages

_DASK = ("dask", "distributed")
_OF_CLIENT = {"harness", "commit", "kernels", "Python", *_DASK}
"""What matters of the process that measures nothing itself."""
_DIGITS = 12
_MOST_HOSTS = 4
"""That are named of a version."""


def versions() -> dict[str, str]:
    """The versions here, by what they are of."""
    found = commit()
    return {
        "harness": harness.__version__,
        "commit": f"{found['commit']}{' with changes' if found['dirty'] else ''}",
        "kernels": kernels_hash()[:_DIGITS],
        "Python": platform.python_version(),
        **{name: version(name) for name in _DASK},
        **{name: number for name, number in packages().items() if name not in BESIDE},
    }


def client_versions() -> dict[str, str]:
    """The versions that a client, which measures nothing, must share with the workers."""
    return {name: number for name, number in versions().items() if name in _OF_CLIENT}


def _listed(hosts: Sequence[str]) -> str:
    more = f" and {len(hosts) - _MOST_HOSTS} more" if len(hosts) > _MOST_HOSTS else ""
    return ", ".join(hosts[:_MOST_HOSTS]) + more


def differing(by_host: Mapping[str, Mapping[str, str]]) -> list[str]:
    """What is not the same on all hosts that have it, with the hosts of each version."""
    names = dict.fromkeys(name for told in by_host.values() for name in told)
    found = []
    for name in names:
        hosts: dict[str, list[str]] = {}
        for host, told in by_host.items():
            if name in told:
                hosts.setdefault(told[name], []).append(host)
        if len(hosts) > 1:
            each = "; ".join(f"{number} on {_listed(where)}" for number, where in hosts.items())
            found.append(f"{name}: {each}")
    return found
