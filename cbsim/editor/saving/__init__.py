"""Saving without loss of work: replacement of files, autosave, recovery."""
