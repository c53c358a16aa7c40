"""Scenario YAML: its models, one module a topic, and the way from text to spec and back."""

from cbsim.formats.scenario.reader import KINDS, RULES, count, find_named, read, read_with, schema, write

__all__ = ["KINDS", "RULES", "count", "find_named", "read", "read_with", "schema", "write"]
