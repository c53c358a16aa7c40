"""Reports: one page of one or two recordings that opens anywhere: verdict, replay, plots, tables, how to reproduce."""

from __future__ import annotations

from cbsim.report.page import page_of, write_report

__all__ = ["page_of", "write_report"]
