"""Publication figures from recordings: trajectories, speed profiles and laser scans, as SVG, PDF or PNG.

Output is deterministic. matplotlib is the optional dependency ``report``; only `backend` imports it.
"""

from __future__ import annotations

from cbsim.plot.figure import KINDS, data_of, figure_of, write_plot
from cbsim.plot.request import PlotRequest

__all__ = ["KINDS", "PlotRequest", "data_of", "figure_of", "write_plot"]
