# Makes the R files beside this script: Rscript make.R (with haven, bit64, data.table, hms and tibble).
# All records are invented.
library(haven)
n <- 12
people <- data.frame(
  sex = factor(rep(c("f", "m"), 6), levels = c("m", "f", "x")),
  edu = factor(rep(c("low", "mid", "high"), 4), levels = c("low", "mid", "high"), ordered = TRUE),
  age = c(20:30, NA),
  income = c(1500.5, NA, NaN, seq(1000, 1800, by = 100)),
  ill = c(TRUE, FALSE, NA, rep(TRUE, 9)),
  town = c("\u0141\u00f3d\u017a", NA, "", rep("Bonn", 9)),
  born = as.Date("1942-04-13") + c(0:10, NA),
  seen = as.POSIXct("2020-03-29 01:30:00", tz = "UTC") + c(0:10, NA) * 3600,
  local = as.POSIXct("2020-03-29 01:30:00", tz = "Europe/Berlin") + c(0:10, NA) * 3600,
  wait = as.difftime(c(1:11, NA), units = "mins"),
  stringsAsFactors = FALSE
)
people$broken <- as.POSIXlt(people$seen)
people$serial <- bit64::as.integer64(c("9007199254740993", NA, 3:12))
people$clock <- hms::hms(c(1:11, NA))
people$whole_date <- structure(c(0L, 1L, NA, 3:11), class = "Date")
saveRDS(people, "people.rds")
saveRDS(people, "people_ascii.rds", ascii = TRUE)
saveRDS(people, "people_v2.rds", version = 2, compress = "xz")
saveRDS(people, "people_plain.rds", compress = FALSE)
save(people, file = "people.rda", compress = "bzip2")
extra <- 1:3
save(people, extra, file = "people_and_more.rda")
other <- people[1:5, ]
save(people, other, file = "two_frames.rda")
saveRDS(tibble::as_tibble(people[, 1:6]), "tibble.rds")
saveRDS(data.table::as.data.table(people[, 1:6]), "datatable.rds")

spss <- data.frame(
  children = labelled_spss(c(0, 1, 2, 3, 4, 9, 8, 0, 1, 2, 3, NA), c("none" = 0, "1" = 1, "2" = 2, "3" = 3,
    "4 or more" = 4, "refused" = 9), na_values = 9, label = "Number of children"),
  score = labelled_spss(c(1, 2, 3, 4, 5, 97, 98, 99, 1, 2, 3, NA), c("lowest" = 1, "highest" = 5),
    na_range = c(97, 99)),
  grade = labelled(c(1L, 2L, 3L, 1L, 2L, 3L, 1L, 2L, 3L, 1L, 2L, NA), c(good = 1L, fair = 2L, poor = 3L)),
  text = labelled(c("a", "b", "a", "b", "a", "b", "a", "b", "a", "b", NA, "a"), c(yes = "a", no = "b")),
  amount = labelled(c(10, tagged_na("a"), tagged_na("z"), NA, 20, 30, 40, 50, 60, 70, 80, 90),
    c("not asked" = tagged_na("a"), "refused" = tagged_na("z")))
)
saveRDS(spss, "labelled.rds")

syn <- people[, 1:5]
synds <- list(call = quote(syn(data = people, m = 2, seed = 4711, cart.minbucket = 7)), m = 2, syn = list(syn, syn[1:6, ]),
  method = c(sex = "sample", edu = "cart", age = "cart", income = "norm", ill = "logreg"),
  visit.sequence = c(sex = 1, edu = 2, age = 3, income = 4, ill = 5),
  predictor.matrix = matrix(0, 5, 5), smoothing = list(age = "", income = ""), n = 12, k = 12, proper = FALSE, seed = 4711,
  event = NULL, models = NULL)
class(synds) <- "synds"
saveRDS(synds, "synds.rds")
one <- synds; one$m <- 1; one$syn <- syn; one$call <- NULL
save(one, file = "synds_one.rda")
none <- one; none["syn"] <- list(NULL); none$m <- 0
saveRDS(none, "synds_none.rds")
saveRDS(list(first = syn, second = syn[1:6, ]), "frames_named.rds")
saveRDS(list(syn, syn[1:6, ]), "frames.rds")
saveRDS(list(syn, 1:3), "mixed_list.rds")
saveRDS(1:10, "vector.rds")
saveRDS(as.matrix(data.frame(a = 1:2, b = 3:4)), "matrix.rds")
odd <- data.frame(id = 1:2)
odd$list <- list(1:2, 3)
odd$matrix <- matrix(1:4, 2)
odd$complex <- c(1i, 2i)
odd$frame <- data.frame(x = 1:2)

saveRDS(odd, "odd.rds")
saveRDS(data.frame(a = integer(0), b = character(0)), "no_records.rds")
saveRDS(data.frame(), "nothing.rds")
latin <- c("Z\xfcrich", "Gen\xe8ve"); Encoding(latin) <- "latin1"
saveRDS(data.frame(town = latin, seq = 1:2, same = as.character(1:2)), "latin1.rds", version = 2)
saveRDS(data.frame(day = structure(c(1e12, 0.5, -Inf), class = "Date"), moment = structure(c(1e20, 0.25, NA),
  class = c("POSIXct", "POSIXt"), tzone = "UTC")), "far.rds")
