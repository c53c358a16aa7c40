"""Recordings: what a run gives, batch by batch, written to and read from MCAP containers, and compared."""
