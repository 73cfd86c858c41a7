"""Lets ``python -m unveil`` run the command line."""

from unveil.cli import main

main()
