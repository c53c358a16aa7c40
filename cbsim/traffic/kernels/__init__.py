"""Compiled stages of a step, one file each: who decides, who moves."""
