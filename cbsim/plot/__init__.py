"""Figures for papers from recordings: trajectories on the road, profiles of speed, scans; as SVG, PDF or PNG.

The same recordings and wishes give the same bytes. matplotlib is the extra ``report``; `library` alone imports it.
"""

from __future__ import annotations

from cbsim.plot.figure import KINDS, data_of, figure_of, write_plot
from cbsim.plot.wishes import Wishes

__all__ = ["KINDS", "Wishes", "data_of", "figure_of", "write_plot"]
