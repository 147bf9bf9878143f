"""Statistics of experiments: the query is the unit, every number has its interval."""

from backend.experiments.statistics.agreement import krippendorff_alpha
from backend.experiments.statistics.bradley_terry import BradleyTerryFit, PairOutcome, Strength, fit_bradley_terry
from backend.experiments.statistics.counts import Estimate, Record, decisive_share, sign_test, wilson, win_rate
from backend.experiments.statistics.multiple import holm, rank_groups
from backend.experiments.statistics.paired import PairedDifference, paired_difference
from backend.experiments.statistics.power import (
    MoreNeeded,
    decisive_needed,
    more_needed,
    sign_test_power,
    smallest_difference,
)

__all__ = [
    "BradleyTerryFit",
    "Estimate",
    "MoreNeeded",
    "PairOutcome",
    "PairedDifference",
    "Record",
    "Strength",
    "decisive_needed",
    "decisive_share",
    "fit_bradley_terry",
    "holm",
    "krippendorff_alpha",
    "more_needed",
    "paired_difference",
    "rank_groups",
    "sign_test",
    "sign_test_power",
    "smallest_difference",
    "wilson",
    "win_rate",
]
