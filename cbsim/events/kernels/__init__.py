"""Compiled events: conditions and actions, one file each."""
