# Draw whole records with replacement: Rscript resample.R IN OUT SEED
words <- commandArgs(trailingOnly = TRUE)
set.seed(as.integer(words[3]))
people <- read.csv(words[1], check.names = FALSE)
write.csv(people[sample(nrow(people), replace = TRUE), ], words[2], row.names = FALSE)
