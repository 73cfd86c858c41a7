"""What needs the tools of the site is tried by building it."""

collect_ignore = ["signatures.py"]
