"""Compiled lasers: poses at an instant, conservative windows, and casters, one file each.

A scan is cast body by body. A cheap window says which beams can meet a body; exact arithmetic, the same in every
caster, decides only there. So the casters agree with the one that tries every beam against every body bit for bit.
"""
