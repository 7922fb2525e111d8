"""One suite on the devices of many hosts, on Dask: each physical device is a task, pinned to its worker.

Dask (distributed) is imported when a fleet is asked for, and nowhere else.
"""
