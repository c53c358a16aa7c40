"""Junctions: who goes first, and where one waits for it."""
