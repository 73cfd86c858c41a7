"""Settings of trees, as several verbs take them."""

# Annotations are no texts here: the class is made anew with more options, elsewhere.
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from unveil.cli.derived import Derived, derived
from unveil.cli.groups import TREES
from unveil.trees.settings import Settings


@derived(Settings, group=TREES)
@dataclass(frozen=True)
class Trees(Derived):
    """How trees are grown, and from where values are drawn."""

    mix: Annotated[
        float | None,
        Parameter(help="Probability that a donor comes from the whole column and not from the leaf.", show_default="0"),
    ] = None
