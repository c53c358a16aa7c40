"""Runs of a sweep, wherever they happen: single points and paths, chunks, workers of this machine or of a cluster."""
