"""The cases of a suite as pytest benchmarks: ``pytest --benchmark-only --suite quick --backend opencl``."""
