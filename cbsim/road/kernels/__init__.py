"""Compiled functions of the road: right of way."""
