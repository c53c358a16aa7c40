"""``python -m cbsim``, and the program ``cbsim``."""

from cbsim.cli.process import program

if __name__ == "__main__":
    program()
