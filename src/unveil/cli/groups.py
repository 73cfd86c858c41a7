"""The groups under which the help of a verb lists its options, in the order in which they are needed."""

from cyclopts import Group

FILES = Group("Files", sort_key=1)
ASKED = Group("Keys and targets", sort_key=2)
MEASURED = Group("What is done", sort_key=3)
"""Options that belong to no other group."""
TREES = Group("Trees", sort_key=4)
READING = Group("How files are read", sort_key=5)
COUNTING = Group("Where records are counted", sort_key=6)
OUTPUT = Group("Output", sort_key=7)

BEGIN = Group("Begin", sort_key=1)
SINGLE = Group("One measure", sort_key=2)
DECIDE = Group("All measures, and the decision", sort_key=3)
OTHER = Group("Other", sort_key=4)
