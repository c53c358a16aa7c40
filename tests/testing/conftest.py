"""The program `cbsim`, as the tests of its commands call it."""

from tests.cli.conftest import cli

__all__ = ["cli"]
