"""Conversions between specs that need more than one file."""
