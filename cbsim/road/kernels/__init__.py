"""Compiled functions of the road: who goes first."""
