"""Functional tests, and in ``tests.benchmarks`` the pytest-benchmark entry points."""
