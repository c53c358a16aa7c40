"""Reports: one self-contained HTML page about one or two recordings, with verdict, replay, plots and tables."""

from __future__ import annotations

from cbsim.report.page import page_of, write_report

__all__ = ["page_of", "write_report"]
