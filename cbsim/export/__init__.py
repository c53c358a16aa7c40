"""Conversions and generators of specs."""
