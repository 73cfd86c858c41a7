/* Sums over cells (key combination, target level), of which the table measures are ratios. */
#include "core.h"

/* Counts of a cell, and the tables that follow from them, in the order of _tables/exclusions.py. */
enum { ORIGINAL, SYNTHETIC, D_ORIG, D_SYN, I_S, DI_S, DISCO, DI_SDIO, TABLES };
/* What became of the records of a table: left, taken out by one of the rules, in a cell above the limit. */
enum { LEFT_IN, ABOVE_LIMIT = 5, FATES };
/* Sums that are no table. */
enum { DISCO_CELLS, MAX_DISCO, IN_BOTH, UNIQUE_ORIGINAL, UNIQUE_SYNTHETIC, UNIQUE_FOUND, UNIQUE_BOTH, OF_MODE, OTHERS };
/* Sums of shares: pd d and ps s over cells, ps d. */
enum { PD_D, PS_S, PS_D, SHARES };
/* Sums over original records of a share: of those whose share is 1; of the others in units of 2^-26, and the upper and
 * lower halves of its square. */
enum { CERTAIN, UNITS, HIGH, LOW, MOMENTS };
enum { BITS = 26 };

static int64_t left_of(int64_t value, int rule, int64_t limit) { return rule || value > limit ? 0 : value; }

static int64_t entered(int64_t value, int rule, int64_t limit, int64_t *fates) {
    int64_t left = left_of(value, rule, limit);
    fates[rule ? rule : value > limit ? ABOVE_LIMIT : LEFT_IN] += value;
    return left;
}

static void add_moments(int64_t numerator, int64_t denominator, int64_t records, int64_t *moments) {
    if (!numerator || !records) return;
    if (numerator == denominator) {
        moments[CERTAIN] += records;
        return;
    }
    int64_t units = (int64_t)rint((double)numerator / (double)denominator * (double)(1 << BITS));
    int64_t squares = units * units;
    moments[UNITS] += units * records;
    moments[HIGH] += (squares >> BITS) * records;
    moments[LOW] += (squares & ((1 << BITS) - 1)) * records;
}

/* What records add that are alone with their keys, where no rule takes them out. */
static void add_alone(int64_t originals, int64_t synthetics, int64_t small, int64_t *tables, int64_t *others,
                      int64_t *moments, int64_t *shares) {
    tables[ORIGINAL * FATES + LEFT_IN] += originals;
    tables[D_ORIG * FATES + LEFT_IN] += originals;
    others[UNIQUE_ORIGINAL] += originals;
    moments[CERTAIN] += originals;
    shares[PD_D * small + 1] += originals;
    tables[SYNTHETIC * FATES + LEFT_IN] += synthetics;
    tables[D_SYN * FATES + LEFT_IN] += synthetics;
    others[UNIQUE_SYNTHETIC] += synthetics;
    shares[PS_S * small + 1] += synthetics;
}

/* Adds up the cells of whole key combinations, which stand together.
 *
 * q, t       (n) combination and target level of each cell
 * d, s       (n) its original and its synthetic records
 * rule       (n) number of the rule that takes it out, from 1; 0 where it counts
 * limit      a cell of a table that has more records does not count in that table; at least 1
 * mode       a target level, or -1
 * small      size of `shares`, at least 2
 * above      DISCO cells of more records are large
 * tables     (TABLES, FATES) records
 * others     (OTHERS)
 * moments    (2, MOMENTS) of pd and of ps over original records
 * shares     (SHARES, small) sums of numerators by denominator
 * disco      (levels) records of the DISCO table by target level
 * original   (levels) original records by target level
 * large      (n) receives the cells that are large
 * large_disco (n) their records
 * wide       (SHARES, n) receives the sums of numerators of combinations whose denominator does not fit into `shares`
 * d_of, s_of (n) their denominators, of PD_D and of the others; 0 where they are in `shares`
 * sizes      (2) number of large cells; number of these combinations
 *
 * What is added to must be zero before the first call. */
EXPORT void sum_over_cells(int64_t n, const int64_t *q, const int64_t *t, const int64_t *d, const int64_t *s,
                           const uint8_t *rule, int64_t limit, int64_t mode, int64_t small, int64_t above,
                           int64_t *tables, int64_t *others, int64_t *moments, int64_t *shares, int64_t *disco,
                           int64_t *original, int64_t *large, int64_t *large_disco, int64_t *wide, int64_t *d_of,
                           int64_t *s_of, int64_t *sizes) {
    int64_t n_large = 0, n_wide = 0, alone[2] = {0};
    for (int64_t start = 0, stop; start < n; start = stop) {
        /* Where keys are mostly unique, most combinations are of one record. */
        if (d[start] + s[start] == 1 && (start + 1 == n || q[start + 1] != q[start]) && !rule[start]) {
            alone[s[start]]++;
            original[t[start]] += d[start];
            stop = start + 1;
            continue;
        }
        /* Which cells are disclosive is settled on all records, shares on those that the rules leave. */
        int64_t d_all = 0, s_all = 0, d_q = 0, s_q = 0, s_most = 0;
        for (stop = start; stop < n && q[stop] == q[start]; stop++) {
            d_all += d[stop];
            s_all += s[stop];
            s_most = larger(s_most, s[stop]);
            d_q += left_of(d[stop], rule[stop], limit);
            s_q += left_of(s[stop], rule[stop], limit);
        }
        bool is_disclosive = s_all > 0 && s_most == s_all;
        int64_t sums[SHARES] = {0};
        for (int64_t i = start; i < stop; i++) {
            int r = rule[i];
            bool in_original = d[i] == d_all && d[i], in_release = s[i] == s_all && s[i];
            int64_t dd = entered(d[i], r, limit, tables + ORIGINAL * FATES);
            int64_t ss = entered(s[i], r, limit, tables + SYNTHETIC * FATES);
            entered(in_original ? d[i] : 0, r, limit, tables + D_ORIG * FATES);
            entered(in_release ? s[i] : 0, r, limit, tables + D_SYN * FATES);
            entered(s_all ? d[i] : 0, r, limit, tables + I_S * FATES);
            entered(is_disclosive ? d[i] : 0, r, limit, tables + DI_S * FATES);
            int64_t right = entered(in_release ? d[i] : 0, r, limit, tables + DISCO * FATES);
            entered(in_release && in_original ? d[i] : 0, r, limit, tables + DI_SDIO * FATES);
            if (right) {
                others[DISCO_CELLS]++;
                others[MAX_DISCO] = larger(others[MAX_DISCO], right);
                disco[t[i]] += right;
                if (right > above) {
                    large[n_large] = i;
                    large_disco[n_large++] = right;
                }
            }
            original[t[i]] += dd;
            if (t[i] == mode && s_all) others[OF_MODE] += dd;
            if (d_q) others[IN_BOTH] += ss;
            if (dd && d_q == 1) {
                others[UNIQUE_ORIGINAL]++;
                others[UNIQUE_FOUND] += s_all > 0;
                others[UNIQUE_BOTH] += s_q == 1;
            }
            others[UNIQUE_SYNTHETIC] += ss && s_q == 1;
            add_moments(dd, d_q, dd, moments);
            add_moments(ss, s_q, dd, moments + MOMENTS);
            sums[PD_D] += dd * dd;
            sums[PS_S] += ss * ss;
            sums[PS_D] += ss * dd;
        }
        bool d_fits = d_q < small, s_fits = s_q < small;
        if (d_fits) shares[PD_D * small + d_q] += sums[PD_D];
        if (s_fits) {
            shares[PS_S * small + s_q] += sums[PS_S];
            shares[PS_D * small + s_q] += sums[PS_D];
        }
        if (!d_fits || !s_fits) {
            d_of[n_wide] = d_fits ? 0 : d_q;
            s_of[n_wide] = s_fits ? 0 : s_q;
            wide[PD_D * n + n_wide] = d_fits ? 0 : sums[PD_D];
            wide[PS_S * n + n_wide] = s_fits ? 0 : sums[PS_S];
            wide[PS_D * n + n_wide] = s_fits ? 0 : sums[PS_D];
            n_wide++;
        }
    }
    add_alone(alone[0], alone[1], small, tables, others, moments, shares);
    sizes[0] = n_large;
    sizes[1] = n_wide;
}

/* Counts the original records of each pair of key level and target level.
 *
 * q, t     (n) combination and target level of each cell
 * d        (n) its original records
 * levels   the key's code in each combination
 * counts   (key levels, targets) changed
 */
EXPORT void tally_pairs(int64_t n, const int64_t *q, const int64_t *t, const int64_t *d, const int32_t *levels,
                        int64_t targets, int64_t *counts) {
    for (int64_t i = 0; i < n; i++)
        if (d[i]) counts[levels[q[i]] * targets + t[i]] += d[i];
}
