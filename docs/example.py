"""The Python interface, cell by cell: run it as a script, or in an editor that knows ``# %%`` cells.

It measures about twice SECONDS on the devices of this machine; PoCL stands in where there is no GPU.
"""

# %% What to measure.
import os
from pathlib import Path
from tempfile import mkdtemp

import harness

SHAPE = os.environ.get("EXAMPLE_SHAPE", "2560x2560")
SECONDS = float(os.environ.get("EXAMPLE_SECONDS", "20"))
RUN = Path(mkdtemp(), "reductions.jsonl")

# %% Compare two reductions of two types; the run file keeps all samples.
ratios = harness.compare(
    op=["sum", "minmax"],
    dtype=["uint8", "float32"],
    shape=SHAPE,
    backend=["opencl", "numpy"],
    budget=SECONDS,
    run=RUN,
    progress=print,
)
print(ratios[["problem", "first_backend", "second_backend", "ratio", "low", "high", "verdict"]])

# %% The filter, without a run file.
filtered = harness.compare(laplace="four", shape=SHAPE, backend=["opencl", "numpy"], budget=SECONDS)
print(filtered[["problem", "second_backend", "ratio", "verdict"]])

# %% What was recorded: times are in seconds a call, bandwidths in bytes a second.
records = harness.load(RUN)
compared = records[records["purpose"] == "compare"]
table = compared.assign(us=compared["queue"] * 1e6, gb_s=compared["bytes_per_second"] / 1e9)
print(table.pivot_table(index="problem", columns="backend", values=["us", "gb_s", "share"]).round(2))

# %% The same ratios from the file, with a wider band: within 10 % counts as the same speed.
print(harness.compare(RUN, band=0.1)["verdict"].value_counts())
