"""Zones: ways through them, and parking."""
