#!/bin/sh
# map.sh FILE: one map of sequential CART, two packages and two programs; writes map.csv and map.svg.
cd "$(dirname "$0")" || exit
unveil compare "$1" --keys sex,age,region,placesize --targets depress,marital --special-codes income=-8 \
  --synthesizer cart,py_synthpop,sdv_copula \
  --synthesizer-command "python3 shuffle.py {in} {out} {seed}" \
  --synthesizer-command "Rscript resample.R {in} {out} {seed}" \
  --m 2 --seed 1 --csv map.csv --plot map.svg --overwrite
