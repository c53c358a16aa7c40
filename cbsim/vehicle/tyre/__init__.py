"""Tyres: force by slip, for compiled drives and for models in Python (docs/theory/drives_and_tyres.md §5, §9)."""
