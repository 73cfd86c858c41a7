"""The verb `unveil cross-validation`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from unveil.cli.derived import Derived, derived
from unveil.cli.foreign import ForeignSynthesizer
from unveil.cli.groups import ASKED, OUTPUT
from unveil.cli.options import Keys, Method, Original, VisitOrder, Whole
from unveil.cli.output import Output, progress_bar
from unveil.cli.parsing import names_of
from unveil.cli.rapid import Intruder
from unveil.cli.reading import Reading
from unveil.cli.trees import Trees

OF_ONE_RELEASE = ("permutations", "ceiling", "side_information", "side_weight")
"""What an attack is compared with, and added to, where there is one release."""


@derived(Intruder, only=[name for name in Intruder.__dataclass_fields__ if name not in OF_ONE_RELEASE])
class Attacks(Derived):
    """How the intruder attacks, and which persons are at risk."""

    def options(self) -> dict[str, Any]:
        """Options of :func:`unveil.rapid_synthesizer_cv`."""
        stated = Intruder(**self.given()).options()
        return {name: value for name, value in stated.items() if name not in OF_ONE_RELEASE}


def cross_validation(
    original: Original, *, keys: Keys, target: Annotated[str, Parameter(group=ASKED)],
    folds: Whole = 5, repeats: Whole = 1, attacks: Attacks = Attacks(), method: Method = "cart",
    visit_order: VisitOrder = None, trees: Trees = Trees(), others: ForeignSynthesizer = ForeignSynthesizer(),
    csv: Annotated[Path | None, Parameter(group=OUTPUT)] = None, reading: Reading = Reading(),
    output: Output = Output(),
) -> int:  # fmt: skip
    """Measure what a synthesizer gives away about persons whose records it has not seen, and about those it has.

    The original is cut into folds. A release is made from all folds but one; RAPID attacks the fold that was left out,
    and the records that were used. What the second is above the first comes from having been in the original.

    Parameters
    ----------
    target
        The target variable.
    folds
        Number of folds.
    repeats
        Number of times that the original is cut.
    method
        cart, catall, or another synthesizer by its name.
    csv
        Write the rates of every fold to this file.
    """
    from unveil._rapid import rapid_synthesizer_cv
    from unveil.cli.posterior import synthesizer_of
    from unveil.files.write import write_table

    output.check((original, *reading.files), tables=() if csv is None else (csv,))
    source = reading.source(original)
    order = None if visit_order is None else names_of(visit_order, source.names)
    settings = {**trees.given(), "visit_order": order}
    synthesizer = synthesizer_of(None, original, (), reading, method, None, settings, others)
    with progress_bar("folds") as progress:
        found = rapid_synthesizer_cv(
            source, synthesizer, names_of(keys, source.names), target=target, folds=folds, repeats=repeats,
            kinds=reading.stated or None, special_codes=reading.codes or None, progress=progress, **attacks.options(),
        )  # fmt: skip
    if csv is not None:
        write_table(found.to_frame("arrow"), csv, overwrite=output.overwrite)
    return output.give(found)
