"""Models that measures and synthesizers fit: designs, regressions, forests, and the learners that attackers use."""
