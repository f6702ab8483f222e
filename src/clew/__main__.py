"""``python -m clew``."""

from clew.cli.main import main

main()
