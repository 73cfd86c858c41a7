"""Definition, source and limits of each measure: the text of "Methods and sources"."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """A publication; `link` is empty where there is no identifier."""

    short: str
    text: str
    identifier: str = ""
    link: str = ""


def _doi(short: str, text: str, doi: str) -> Reference:
    return Reference(short, text, f"doi:{doi}", f"https://doi.org/{doi}")


def _arxiv(short: str, text: str, number: str) -> Reference:
    return Reference(short, text, f"arXiv:{number}", f"https://arxiv.org/abs/{number}")


REFERENCES = {
    "raab": _arxiv(
        "Raab et al. 2026",
        "G. M. Raab, B. Nowok, C. Dibben (2024, revised 2026). Practical privacy metrics for synthetic data.",
        "2406.16826",
    ),
    "taub": _doi(
        "Taub et al. 2018",
        "J. Taub, M. Elliot, M. Pampaka, D. Smith (2018). Differential correct attribution probability for "
        "synthetic data: an exploration. Privacy in Statistical Databases, LNCS 11126, 122–137.",
        "10.1007/978-3-319-99771-1_9",
    ),
    "little": Reference(
        "Little et al. 2022",
        "C. Little, M. Elliot, R. Allmendinger (2022). Comparing the utility and disclosure risk of "
        "synthetic data with samples of microdata. Privacy in Statistical Databases.",
    ),
    "domingo": _doi(
        "Domingo-Ferrer & Torra 2003",
        "J. Domingo-Ferrer, V. Torra (2003). Disclosure risk assessment in statistical microdata protection via "
        "advanced record linkage. Statistics and Computing 13, 343–354.",
        "10.1023/A:1025666923033",
    ),
    "drechsler": _doi(
        "Drechsler & Reiter 2008",
        "J. Drechsler, J. P. Reiter (2008). Accounting for intruder uncertainty due to sampling when estimating "
        "identification disclosure risks in partially synthetic data. Privacy in Statistical Databases, 227–238.",
        "10.1007/978-3-540-87471-3_19",
    ),
    "templ": _arxiv(
        "Templ et al. 2026",
        "M. Templ, O. Thees, R. Müller (2026). RAPID: risk of attribute prediction-induced disclosure.",
        "2602.09235",
    ),
    "reiter": _doi(
        "Reiter et al. 2014",
        "J. P. Reiter, Q. Wang, B. Zhang (2014). Bayesian estimation of disclosure risks for multiply "
        "imputed, synthetic data. Journal of Privacy and Confidentiality 6 (1).",
        "10.29012/jpc.v6i1.635",
    ),
    "hu": Reference(
        "Hu 2019",
        "J. Hu (2019). Bayesian estimation of attribute and identification disclosure risks in synthetic "
        "data. Transactions on Data Privacy 12, 61–89.",
    ),
    "latner": Reference(
        "Latner et al. 2026", "J. Latner, M. Neunhoeffer, J. Drechsler (2025, 2026). When privacy measures fail."
    ),
    "neyman": _doi(
        "Neyman & Pearson 1933",
        "J. Neyman, E. S. Pearson (1933). On the problem of the most efficient tests of statistical hypotheses. "
        "Philosophical Transactions of the Royal Society A 231, 289–337.",
        "10.1098/rsta.1933.0009",
    ),
    "snoke": _doi(
        "Snoke et al. 2018",
        "J. Snoke, G. M. Raab, B. Nowok, C. Dibben, A. Slavkovic (2018). General and specific utility "
        "measures for synthetic data. Journal of the Royal Statistical Society A 181 (3), 663–688.",
        "10.1111/rssa.12358",
    ),
    "voas": Reference(
        "Voas & Williamson 2001",
        "D. Voas, P. Williamson (2001). Evaluating goodness-of-fit measures for synthetic microdata. "
        "Geographical and Environmental Modelling 5 (2), 177–200.",
    ),
    "karr": _doi(
        "Karr et al. 2006",
        "A. F. Karr, C. N. Kohnen, A. Oganian, J. P. Reiter, A. P. Sanil (2006). A framework for evaluating "
        "the utility of data altered to protect confidentiality. The American Statistician 60 (3), 224–232.",
        "10.1198/000313006X124640",
    ),
}

NOTATION = (
    "The original has N_d records, a release N_s. For a combination q of the keys and a level t of the target, d_q and "
    "d_{tq} count original records with these keys, and with these keys and this target; s_q and s_{tq} count records "
    "of the release. p^d and p^s are shares within a combination. [ … ] is 1 if the condition holds, else 0."
)


@dataclass(frozen=True)
class Method:
    """A measure, or a family of measures with one definition."""

    names: tuple[str, ...]
    title: str
    formula: str
    reads: str
    blind: str
    sources: tuple[str, ...] = ()


METHODS = (
    Method(("UiO",), "unique in the original", "100 · #{q : d_q = 1} / N_d",
           "Of 100 original records, so many are alone with their combination of keys.",
           "Whether they are alone in the population, and whether the release has their keys at all.", ("raab",)),
    Method(("UiS",), "unique in the release", "100 · #{q : s_q = 1} / N_s",
           "Of 100 records of the release, so many are alone with their combination of keys.",
           "Anything about real persons: a synthetic record can be alone by chance.", ("raab",)),
    Method(("UiOiS",), "unique in the original, found in the release", "100 · #{q : d_q = 1, s_q > 0} / N_d",
           "How many of 100 original records have keys that no other record has, and that the release has too.",
           "Whether the match comes from the record: chance matches count too.", ("raab",)),
    Method(("repU",), "replicated uniques", "100 · #{q : d_q = 1, s_q = 1} / N_d",
           "How many of 100 original records have keys that exactly one record of the original and of the release has.",
           "Whether the match is correct, and what is learnt about the targets.", ("raab", "latner")),
    Method(("linkage",), "record linkage", "100 · mean [d(i, own) = min_j d(i, j)] / ties",
           "Of 100 persons, for so many the nearest record of a release with one record of each is their own.",
           "What is learnt about the others, and what a better linkage finds.", ("domingo",)),
    Method(("match risk",), "expected match risk", "100 / N_d · Σ_j I_j / c_j",
           "Of 100 persons, so many are expected to be matched with their own record, drawn among the c_j that are "
           "likeliest to be theirs.",
           "What is learnt from a match; matches that are unique and wrong.", ("drechsler",)),
    Method(("Dorig",), "disclosive in the original", "100 · Σ d_{tq} [p^d_{tq} = 1] / N_d",
           "Of 100 original records, so many would be known to whoever holds the original and their keys.",
           "Anything about the release; with more keys it tends to 100.", ("raab",)),
    Method(("DiS",), "disclosive in the release", "100 · Σ_q d_q [some p^s_{tq} = 1] / N_d",
           "Of 100 original records, for so many the release seems to tell the target.",
           "Whether what it seems to tell is true.", ("raab",)),
    Method(("DiSCO",), "disclosive in the release and correct", "100 · Σ d_{tq} [p^s_{tq} = 1] / N_d",
           "Of 100 original records, for so many all records of the release with their keys carry one value, and it is "
           "their own.",
           "Inference below certainty, and whether the value was obvious anyway; it can rise when information is "
           "removed.", ("raab", "latner")),
    Method(("DCAP", "DCAPd", "baseCAPd", "CAPd"), "correct attribution probability",
           "100 · Σ p^s_{tq} d_{tq} / N_d;  baseline 100 · Σ_t (d_t / N_d)²",
           "Of 100 guesses, each drawn from the records of the release with the same keys, so many are right.",
           "More than how uneven the target is, unless it is read beside its baseline.", ("taub",)),
    Method(("TCAP",), "targeted correct attribution probability",
           "100 · Σ d_{tq} [p^s_{tq} = 1] / Σ_q d_q [some p^s_{tq} = 1]",
           "Of 100 original records for which the release seems certain, for so many it is right.",
           "How many records these are; with none it is not defined.", ("little",)),
    Method(("RAPID",), "risk of attribute prediction-induced disclosure",
           "categorical: share of records with (g_i − b_i) / (1 − b_i) > τ;  "
           "continuous: share with |y_i − ŷ_i| / (|y_i| + δ) < ε",
           "Of 100 original records, so many have a target that a model trained on the release infers beyond the "
           "threshold. "
           "g_i is the model's probability of the true class, b_i that class's share.",
           "Membership: what holds for people in general can be inferred about persons in no file. The thresholds are "
           "conventions.", ("templ",)),
    Method(("posterior", "posterior certain"), "Bayesian disclosure risk",
           "p(c | Z) = p(Z | D_c) p(c) / Σ_{c'} p(Z | D_{c'}) p(c')",
           "The probability that an intruder who knows all other records and the synthesizer gives to the true value; "
           "certain: the share of records for which it is 1.",
           "What intruders learn who know fewer records; they learn at most this on average, not for every record.",
           ("reiter", "hu", "latner")),
    Method(("membership AUC", "membership"), "membership inference against records held out",
           "AUC = P(score of a record in the file > score of a record held out)",
           "How well an intruder tells records that were used from records that were not; 0.5 is "
           "chance.", "What is learnt about the targets, and attacks other than those that were run."),
    Method(("exact membership",), "exact membership of one of two persons",
           "right where log p(Z | D) − log p(Z | D with r' for r) > 0, half where 0; certain where infinite",
           "Of 100 pairs of a person who was used and one who was not, an intruder who knows the synthesizer and all "
           "other records names the right one in so many; no attack of this intruder names more.",
           "What intruders find who know fewer records.", ("neyman",)),
    Method(("pMSE", "S_pMSE"), "propensity score mean squared error",
           "pMSE = Σ (p̂_i − c)² / N;  S_pMSE = pMSE / its expectation if the release were a correct draw",
           "How well a model tells original from synthetic records; a standardised value near 1 is what a correct "
           "synthesizer gives.", "Anything about risk; and differences that the model cannot see.", ("snoke",)),
    Method(("TVD", "tvd", "mean TVD", "worst pair TVD"), "total variation distance",
           "½ Σ |share in the original − share in the release|",
           "The share of records that would have to change for the two distributions to be the same.",
           "Relations between more variables than it looks at.", ()),
    Method(("VW", "s_voas_williamson"), "Voas–Williamson statistic",
           "Σ (s − d)² / ½(s + d), over its degrees of freedom",
           "How far a table of counts differs from the original's; near 1 is what chance gives.",
           "Where in the table the difference lies.", ("voas",)),
    Method(("SPECKS",), "distance of propensity scores", "max |F_o(p) − F_r(p)| over all scores p",
           "How far apart the scores of original (o) and synthetic records (r) are: 0 a model cannot tell them, 1 it "
           "always can.", "Anything about risk; and differences that the model cannot see."),
    Method(("overlap",), "overlap of confidence intervals",
           "mean of (common part / length) over the two intervals of a coefficient",
           "How far a model fitted to the release leads to the same conclusions; 1 is the same interval.",
           "Models that were not fitted.", ("karr",)),
    Method(("structure",), "structure preservation", "shares of key combinations found, kept and new",
           "How far the release repeats the original's combinations of keys.",
           "What the presence of a rare combination betrays.", ("latner",)),
)  # fmt: skip


def method_of(measure: str) -> Method | None:
    """The text for a measure; None if there is no text."""
    return next((one for one in METHODS if measure in one.names), None)
