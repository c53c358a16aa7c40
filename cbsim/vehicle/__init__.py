"""Drives and tyres: commands to motion, one file per plant model."""
