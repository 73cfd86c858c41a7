"""Disclosure control of columns and records, before or after synthesis."""

from unveil.synthesis.sdc.coding import bottom_code, top_code
from unveil.synthesis.sdc.labelling import label
from unveil.synthesis.sdc.levels import merge_rare_levels
from unveil.synthesis.sdc.report import SdcReport
from unveil.synthesis.sdc.smoothing import smooth
from unveil.synthesis.sdc.uniques import drop_replicated_uniques

__all__ = [
    "SdcReport",
    "bottom_code",
    "drop_replicated_uniques",
    "label",
    "merge_rare_levels",
    "smooth",
    "top_code",
]
