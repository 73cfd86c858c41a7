"""The verb `unveil match-risk`."""

from __future__ import annotations

from unveil.cli.options import Breaks, GroupsOfKeys, Hierarchies, Keys, Original, Records, Synthetic
from unveil.cli.output import Output, record_files, save_confidential
from unveil.cli.parsing import groups_of, names_of
from unveil.cli.reading import Reading, checked_pair


def match_risk(
    original: Original, *synthetic: Synthetic, keys: Keys, linked_by: str = "rows", ngroups_keys: GroupsOfKeys = None,
    breaks: Breaks = None, hierarchies: Hierarchies = None, records: Records = None, reading: Reading = Reading(),
    output: Output = Output(),
) -> int:  # fmt: skip
    """Measure how many persons are matched with their own records in partially synthetic copies.

    Parameters
    ----------
    linked_by
        Which record is whose: rows, the one at the same place; or a column that names the persons in every file.
    """
    from unveil._membership.partial_matches import match_risk as measure

    tables = record_files(records, 1)
    pair = checked_pair(original, synthetic, reading, output, tables=tables, breaks=breaks, hierarchies=hierarchies)
    keyed = names_of(keys, pair.names)
    found = measure(pair, keyed, linked_by=linked_by, ngroups_keys=groups_of(ngroups_keys, "ngroups_keys"))
    if records is not None:
        save_confidential(found.records(flavour="arrow"), records, output.overwrite)
    return output.give(found)
