"""Flows and pools: who appears and leaves, and what is told of it."""
