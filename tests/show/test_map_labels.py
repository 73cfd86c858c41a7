"""Names of points that lie near each other on a map of risk and utility."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import pytest

pytest.importorskip("matplotlib").use("Agg")


@pytest.mark.parametrize("pareto", [True, False])
def test_no_name_covers_another(pareto):
    from matplotlib import pyplot as plt
    from matplotlib.text import Text

    from unveil.show.plots.risk_utility import plot_map

    def point(label, x, y):
        return SimpleNamespace(label=label, pareto=pareto, utilities={"u": (x, x, x)}, risks={"r": (y, y, y)})

    places = {"minbucket 5": (0.0684, 0.853), "mix 0.01": (0.0708, 0.849), "mix 0.05": (0.0686, 0.836),
              "minbucket 20": (0.0773, 0.566), "mix 0.05, minbucket 20": (0.081, 0.537), "far": (0.1, 0.2)}  # fmt: skip
    points = [point(label, *place) for label, place in places.items()]
    ax = plot_map(SimpleNamespace(points=points, utility="u", risk="r"), "map")
    ax.figure.canvas.draw()
    # of the text alone: an annotation counts its line too
    boxes = {text.get_text(): Text.get_window_extent(text) for text in ax.texts}
    assert set(boxes) == set(places)
    assert not [pair for pair in combinations(boxes, 2) if boxes[pair[0]].overlaps(boxes[pair[1]])]
    plt.close(ax.figure)
