"""Tests of planners: the pytest plugin, what it runs, and a test repository to start from."""
