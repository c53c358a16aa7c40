"""Closed ways and dead ends: turning round, backing out, and leaving the lane for it."""
