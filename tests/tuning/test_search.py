"""Successive halving with cheap measures: what is tried, how often, and which setting is taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest

from unveil.tuning.search import CHECK_SETS, FINAL_SETS, FINALISTS, ROUNDS, Search, ranked


@dataclass(frozen=True)
class Figures:
    limit_used: float
    utility: float


class Trial:
    """Figures by setting; with the stage where they differ there. Counts what is drawn, and the time that it takes."""

    def __init__(self, figures, seconds=1.0, by_stage=None, interrupt_at=None):
        self.figures, self.seconds, self.by_stage, self.interrupt_at = figures, seconds, by_stage or {}, interrupt_at
        self.now, self.drawn = 0.0, []

    def __call__(self, setting, stage, number):
        if len(self.drawn) == self.interrupt_at:
            raise KeyboardInterrupt
        self.drawn.append((setting, stage, number))
        self.now += self.seconds
        return Figures(*self.by_stage.get((setting, stage), self.figures[setting]))


def searched(trial, budget=1e6):
    return Search(len(trial.figures), trial, budget, clock=lambda: trial.now).run()


def test_the_most_useful_setting_that_keeps_the_limits_wins():
    # The larger the number the more useful, and from 15 on a limit is broken.
    trial = Trial([(0.05 + i / 15, 1 - i / 20) for i in range(20)])
    found = searched(trial)
    assert found.winner == 14
    assert not found.not_confirmed
    assert not found.out_of_time


def test_sets_are_added_round_by_round():
    trial = Trial([(0.5, i / 40) for i in range(40)])
    found = searched(trial)
    stages = {stage: Counter(s for s, at, _ in trial.drawn if at == stage) for stage in ("search", "final", "check")}
    assert set(stages["search"]) == set(range(40))
    assert Counter(stages["search"].values()) == {ROUNDS[0]: 26, sum(ROUNDS): 14}
    assert stages["final"] == dict.fromkeys(range(FINALISTS), FINAL_SETS)
    assert stages["check"] == {0: CHECK_SETS}
    assert found.winner == 0
    # No set is drawn twice: its number gives the seeds of its releases.
    assert len(set(trial.drawn)) == len(trial.drawn)
    assert len(found.known(0)) == sum(ROUNDS) + FINAL_SETS


def test_a_rule_has_to_hold_in_every_set():
    trial = Trial([(0.9, 0.1), (0.9, 0.2), (0.2, 0.3)])
    original = trial.__class__.__call__

    class OneBad(Trial):
        def __call__(self, setting, stage, number):
            found = original(self, setting, stage, number)
            return Figures(1.1, found.utility) if (setting, stage, number) == (0, "final", 1) else found

    assert searched(OneBad(trial.figures)).winner == 1


def test_what_fresh_releases_do_not_confirm_is_not_taken():
    trial = Trial([(0.9, 0.1), (0.9, 0.2), (0.2, 0.3)], by_stage={(0, "check"): (1.2, 0.1)})
    found = searched(trial)
    assert (found.winner, found.not_confirmed) == (1, [0])


def test_the_figures_of_the_winner_take_no_part_in_the_choice():
    """Whatever the fresh releases of the better one say of utility, the order is that of the finals."""
    trial = Trial([(0.5, 0.1), (0.5, 0.2)], by_stage={(0, "check"): (0.5, 9.0)})
    assert searched(trial).winner == 0


def test_without_a_setting_in_reach_the_nearest_are_drawn_once_more():
    trial = Trial([(1.5 + i, 0.1) for i in range(12)])
    found = searched(trial)
    assert found.winner is None
    assert set(found.sets["final"]) == set(range(FINALISTS))
    assert found.sets["check"] == {}


def test_if_all_finalists_fail_the_next_hopeful_ones_are_tried():
    figures = [(0.5, i / 40) for i in range(40)]
    trial = Trial(figures, by_stage={(i, "final"): (1.5, 0.0) for i in range(FINALISTS)})
    assert searched(trial).winner == FINALISTS


def test_the_budget_is_kept_and_every_stage_has_its_part():
    trial = Trial([(0.5, i / 100) for i in range(100)])
    found = searched(trial, budget=60)
    assert trial.now <= 60
    assert 20 <= len(found.sets["search"]) < 100
    assert "search" in found.out_of_time
    assert found.winner is not None
    # However little time there is, something is found out.
    hurried = searched(Trial([(0.5, 0.1)] * 5), budget=0.001)
    assert hurried.winner == 0
    assert len(hurried.sets["search"]) == 1


@pytest.mark.parametrize("at", [1, 5, 14, 40])
def test_an_interruption_keeps_what_was_measured(at):
    trial = Trial([(0.5, i / 20) for i in range(20)], interrupt_at=at)
    found = searched(trial)
    assert found.interrupted
    assert found.winner is None
    assert sum(len(sets) for stage in found.sets.values() for sets in stage.values()) <= at
    with pytest.raises(KeyboardInterrupt):
        searched(Trial([(0.5, 0.1)], interrupt_at=0))


def test_order():
    sets = {
        0: [Figures(1.4, 0.0)], 1: [Figures(0.9, 0.3)], 2: [Figures(0.2, float("nan"))], 3: [Figures(1.2, 0.9)],
        4: [Figures(0.9, 0.1), Figures(1.3, 0.1)], 5: [Figures(1.0, 0.2)],
    }  # fmt: skip
    assert ranked(sets) == [5, 1, 2, 3, 4, 0]
