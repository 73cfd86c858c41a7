"""Draw each column by itself: ``python shuffle.py IN OUT SEED``. The least that a program has to do."""

import csv
import random
import sys

given, made, seed = sys.argv[1:]
with open(given, encoding="utf-8", newline="") as file:
    names, *records = csv.reader(file)
random.seed(int(seed))
columns = [random.sample(column, len(column)) for column in zip(*records, strict=True)]
with open(made, "w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows([names, *zip(*columns, strict=True)])
