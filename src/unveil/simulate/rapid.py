"""The population of the RAPID paper: one parameter from independence to near determination."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.checks import is_number
from unveil.errors import CallError
from unveil.simulate._draw import (
    Flavour,
    Seed,
    as_flavour,
    checked_generator,
    draw_logit,
    labelled,
    logistic,
    standardised,
    truncated_normal,
)

MOST = 1e12
"""Largest strength of the dependence."""
GENDERS = ("female", "male")
EDUCATIONS = ("low", "medium", "high")
DISEASES = ("healthy", "diabetic", "hypertensive")


def rapid_population(n: int = 1000, kappa: float = 1.0, seed: Seed = 0, *, flavour: Flavour = "arrow") -> Any:
    r"""Simulate persons whose disease depends on their other attributes as strongly as `kappa` says.

    Parameters
    ----------
    n
        Number of persons, at least 2 (values are standardised over the sample).
    kappa
        Strength of the dependence, from 0 to 1e12. At 0 every variable is drawn independently of
        the others; as it grows the noise vanishes and the disease is all but determined.
    seed
        Whole number, or a numpy Generator, whose state changes.
    flavour
        Kind of frame: "arrow", "pandas" or "polars".

    Returns
    -------
    pyarrow.Table, pandas.DataFrame or polars.DataFrame
        Columns ``gender`` (female, male), ``age`` (18 to 85, not rounded), ``education`` (low < medium <
        high), ``income``, ``health_score`` (0 to 100), ``disease_status`` (healthy, diabetic, hypertensive).

    Raises
    ------
    CallError
        If an argument is out of its range.
    MissingPackageError
        If the package of the flavour is not installed.

    Notes
    -----
    With :math:`w_s = \sqrt{\kappa/(1+\kappa)}`, :math:`w_e = \sqrt{1/(1+\kappa)}`, a latent socio-economic
    status :math:`S \sim N(0, 1)`, independent standard normal errors :math:`e`, and :math:`\tilde x` the
    variable standardised over the sample:

    - age :math:`A \sim N(45, 12^2)` truncated to [18, 85];
    - education :math:`E` = 0, 1, 2 with cuts at -0.3 and 0.7 of :math:`w_s (0.8 S - 0.4 \tilde A) + w_e e`;
    - log income :math:`L = w_s (0.5 S + 0.3 \tilde A + 0.25 E) + w_e e`, income :math:`\exp(10 + L)`;
    - health score :math:`100 / (1 + \exp(-H))`,
      :math:`H = w_s (0.6 S - 0.5 \tilde A + 0.2 E + 0.2 \tilde L) + w_e e`;
    - disease: multinomial logit with utilities 0 (healthy),
      :math:`-1.5 + \kappa (0.8 \tilde A - 0.3 \tilde L - 0.2 E)` (diabetic) and
      :math:`-1.3 + \kappa (1.0 \tilde A - 0.2 \tilde L - 0.1 E)` (hypertensive);
    - gender: logit of P(male) is :math:`w_s (0.3 S - 0.2 \tilde A + 0.2 E)`.

    References
    ----------
    Templ, Thees and Müller (2026), RAPID: risk of attribute prediction-induced disclosure, arXiv:2602.09235,
    appendix A.

    Examples
    --------
    >>> from unveil.simulate import rapid_population
    >>> table = rapid_population(n=500, kappa=10, seed=1)
    >>> table.column_names
    ['gender', 'age', 'education', 'income', 'health_score', 'disease_status']
    >>> table.num_rows
    500
    """
    rng = checked_generator(n, 2, seed, flavour)
    if not is_number(kappa) or not 0 <= kappa <= MOST:
        raise CallError(f"kappa must be a number from 0 to {MOST:g}, not {kappa!r}")
    signal, noise = math.sqrt(kappa / (1.0 + kappa)), math.sqrt(1.0 / (1.0 + kappa))

    status = rng.standard_normal(n)
    age = truncated_normal(rng, n, mean=45.0, sd=12.0, low=18.0, high=85.0)
    aged = standardised(age)
    latent_education = signal * (0.8 * status - 0.4 * aged) + noise * rng.standard_normal(n)
    education = np.digitize(latent_education, [-0.3, 0.7])
    log_income = signal * (0.5 * status + 0.3 * aged + 0.25 * education) + noise * rng.standard_normal(n)
    earning = standardised(log_income)
    health = (
        signal * (0.6 * status - 0.5 * aged + 0.2 * education + 0.2 * earning)
        + noise * rng.standard_normal(n)
    )  # fmt: skip
    disease = draw_logit(
        rng,
        [
            np.zeros(n),
            -1.5 + kappa * (0.8 * aged - 0.3 * earning - 0.2 * education),
            -1.3 + kappa * (1.0 * aged - 0.2 * earning - 0.1 * education),
        ],
    )
    male = rng.random(n) < logistic(signal * (0.3 * status - 0.2 * aged + 0.2 * education))
    table = pa.table(
        {
            "gender": labelled(male.astype(np.int32), GENDERS),
            "age": age,
            "education": labelled(education, EDUCATIONS, ordered=True),
            "income": np.exp(10.0 + log_income),
            "health_score": 100.0 * logistic(health),
            "disease_status": labelled(disease, DISEASES),
        }
    )
    return as_flavour(table, flavour)
