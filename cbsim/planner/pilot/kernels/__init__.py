"""Compiled functions of the pilot: obstacles in scans, paths across zones, speeds of a path."""
