"""Compiled parts of environments: commands in, measures of agents and observations out."""
