"""Lets ``python -m unveil.cli`` run the command line."""

from unveil.cli import main

main()
