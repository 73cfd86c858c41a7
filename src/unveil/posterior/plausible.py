"""Whether the assumed synthesizer can have made the releases."""

from __future__ import annotations

import numpy as np

from unveil.errors import DataError
from unveil.limits import exceeds
from unveil.posterior.chain import Chain, build_chain
from unveil.posterior.evidence import fit_fixed_trees
from unveil.posterior.fixed import FixedTree
from unveil.posterior.kept import Checked, keep, look_up
from unveil.posterior.refit import as_figures, quietly
from unveil.posterior.selection import pooled_label
from unveil.posterior.setting import Setting
from unveil.posterior.settings_check import SettingsCheck, check_settings

__all__ = ["LARGEST_IMPOSSIBLE", "check_truth", "checked_chain"]

LARGEST_IMPOSSIBLE = 0.001
"""Share of released values that may be impossible where nothing else is said."""


def checked_chain(
    setting: Setting, hidden: list[str], largest_impossible: float, texts: list[str], *, thorough: bool
) -> tuple[Chain, list[FixedTree], SettingsCheck | None]:
    """Codes of the files, after a look at whether the sequence can have made the releases.

    Parameters
    ----------
    setting
        What is asked.
    hidden
        Variables whose released values do not count.
    largest_impossible
        Largest share of released values that may be impossible.
    texts
        Receives warnings.
    thorough
        Whether the counts of possible values are looked at too.

    Returns
    -------
    chain : Chain
        Codes of the files.
    trees : list of FixedTree
        All trees, with all releases pooled.
    check : SettingsCheck or None
        Whether the counts fit.

    Raises
    ------
    DataError
        If too many released values are impossible.
    """
    options = tuple(hidden), largest_impossible, thorough
    found = None if setting.candidates else look_up(setting.pair, setting.synthesizer, options)
    if found is None:
        found = _checked(setting, hidden, largest_impossible, thorough=thorough)
        if not setting.candidates:
            keep(setting.pair, setting.synthesizer, options, found)
    texts.extend(found.texts)
    return found.chain, found.trees, found.check


def _checked(setting: Setting, hidden: list[str], largest_impossible: float, *, thorough: bool) -> Checked:
    texts: list[str] = []
    pair, synthesizer = setting.pair, setting.synthesizer
    everything = tuple(range(pair.n_releases))
    chain = build_chain(pair, synthesizer, setting.candidates, hidden)
    trees = fit_fixed_trees(chain, chain.links, everything)
    overwritten = sorted({tree.link.variable for tree in trees if tree.n_impossible and _constant(chain, tree)})
    if overwritten:
        texts.append(
            f"column {', '.join(map(repr, overwritten))} has one value in the releases, which the synthesizer cannot "
            "have drawn for every record: taken as withheld"
        )
        chain = build_chain(pair, synthesizer, setting.candidates, [*hidden, *overwritten])
        trees = fit_fixed_trees(chain, chain.links, everything)
    impossible = sum(tree.n_impossible for tree in trees)
    released = sum(int(drawn.sum()) for tree in trees for drawn in tree.link.released)
    if released and exceeds(impossible / released, largest_impossible, unit=0.0):
        worst = max(trees, key=lambda tree: tree.n_impossible)
        closer = thorough and check_settings(chain, trees, everything).verdict == "finer"
        hint = "; they follow the original more closely than these settings let them" if closer else ""
        raise DataError(
            f"the assumed synthesizer did not make {pooled_label(pair.labels)}: {impossible} of {released} released "
            f"values are impossible under it, most in column {worst.link.variable!r} ({worst.n_impossible}){hint}; "
            "give the settings and the original that the releases were made with"
        )
    if impossible:
        texts.append(
            f"{impossible} of {released} released values are impossible under the assumed synthesizer and are left "
            "out; its settings may be others than those that were used"
        )
    check = check_settings(chain, trees, everything) if thorough else None
    if check is not None and check.warning is not None:
        texts.append(check.warning)
    return Checked(chain, trees, check, tuple(texts))


def _constant(chain: Chain, tree: FixedTree) -> bool:
    """Whether all releases hold one value of a variable that the original varies in."""
    name = tree.link.variable
    released = chain.variables[name].codes[chain.n : chain.n + sum(z[tree.link.position].size for z in chain.z)]
    return np.unique(released).size == 1 and np.unique(chain.original[name]).size > 1


def check_truth(setting: Setting) -> None:
    """Check that the true original can have given the releases."""
    synthesizer = quietly(setting.synthesizer, setting.pair.original)
    impossible = sum(as_figures(synthesizer.log_prob(release))[0] for release in setting.pair.releases)
    if impossible:
        raise DataError(
            f"the assumed synthesizer did not make {pooled_label(setting.pair.labels)}: {impossible} released values "
            "are impossible under it; give the settings and the original that the releases were made with"
        )
