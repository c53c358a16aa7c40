"""Evaluation: rules, the judge of a run or a recording, results for people and CI, and verification by replay."""
