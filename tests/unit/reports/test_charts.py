"""Charts drawn by seaborn: what a reader must find on their axes."""

from __future__ import annotations

from matplotlib.figure import Figure

from reports.charts import ratio_panels
from reports.ratios import comparisons
from tests.support.recorded import table


def test_each_type_of_a_panel_has_its_tick_in_sight() -> None:
    """Also where a panel has but one of the sizes, whose dots lie beside the tick."""
    comparison = comparisons(table("cpu-quick"))[0]
    panels = ratio_panels(comparison, "hot")
    pairs = comparison.fastest
    few = 0
    for _, data in pairs[pairs["cache"] == "hot"].groupby("op"):
        axes = Figure().subplots()
        panels.draw(axes, data)
        low, high = axes.get_xlim()
        assert len(axes.get_xticks()) == data["type"].nunique()
        assert all(low < tick < high for tick in axes.get_xticks())
        few += data["size"].nunique() == 1
    assert few, "a panel of one size alone is among them"
