"""Formulas of tyres: `forces` needs no compiler, `compliance` is compiled."""
