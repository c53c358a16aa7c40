"""``python -m cbsim``."""

from cbsim.cli.main import main

main()
