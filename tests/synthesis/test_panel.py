"""Synthesis of a panel: units stay whole, in rows like those of the original."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

import unveil
from unveil.cli import main
from unveil.synthesis import PanelSynthesizer
from unveil.synthesis.provenance import read_provenance
from unveil.synthesis.rebuild import synthesizer_of

pytestmark = pytest.mark.filterwarnings("ignore::unveil.UnveilWarning", "ignore:Cyclopts application:UserWarning")


def panel(n: int = 200, seed: int = 1, kept: float = 1.0) -> pa.Table:
    """Persons of three waves whose wage rises by 1 a wave, and who never change their sex; some rows are missing."""
    rng = np.random.default_rng(seed)
    person, wave = np.repeat(np.arange(n), 3), np.tile([2018, 2019, 2020], n)
    table = pa.table(
        {
            "wave": pa.array(wave, pa.int16()),
            "person": person + 5000,
            "sex": np.array(["f", "m"])[rng.integers(0, 2, n)][person],
            "wage": rng.integers(0, 8, n)[person] * 10.0 + wave - 2018,
        }
    )
    some = np.flatnonzero(rng.random(3 * n) < kept)
    return table.take(rng.permutation(some))


def by_person(table: pa.Table) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        found.setdefault(row["person"], []).append(row)
    return found


def test_units_stay_whole() -> None:
    original = panel()
    release = unveil.synthesize(original, m=1, unit="person", time="wave", seed=1)
    assert release.schema == original.schema
    persons = by_person(release)
    assert list(persons) == list(range(1, 201))
    for rows in persons.values():
        assert [row["wave"] for row in rows] == [2018, 2019, 2020]
        assert len({row["sex"] for row in rows}) == 1
    steps = [b["wage"] - a["wage"] for rows in persons.values() for a, b in pairwise(rows)]
    assert np.mean(np.array(steps) == 1) > 0.9


def test_rows_that_are_missing_are_missing_and_no_others_have_gaps() -> None:
    original = panel(kept=0.7)
    release = unveil.synthesize(original, m=1, unit="person", time="wave", seed=1)
    assert release["wage"].null_count == 0
    shares = [sum(v == wave for v in release["wave"].to_pylist()) / 200 for wave in (2018, 2019, 2020)]
    assert all(0.6 < share < 0.8 for share in shares)
    pair = unveil.Pair(original, release, unit="person", time="wave")
    assert 0 <= unveil.identity(pair, ["sex"]).UiO <= 100
    assert pair.column("sex").labels == ("f", "m")


def test_gaps_of_rows_that_are_there_stay_possible() -> None:
    original = panel(kept=0.8)
    wage = [None if i % 3 == 0 else v for i, v in enumerate(original["wage"].to_pylist())]
    original = original.set_column(3, "wage", pa.array(wage, pa.float64()))
    release = unveil.synthesize(original, m=1, unit="person", time="wave", seed=1)
    assert 0.2 < release["wage"].null_count / release.num_rows < 0.5


def test_number_and_copies() -> None:
    copies = unveil.synthesize(panel(), m=2, k=30, unit="person", time="wave", seed=1)
    assert [len(by_person(one)) for one in copies] == [30, 30]
    again = unveil.synthesize(panel(), m=2, k=30, unit="person", time="wave", seed=1)
    assert [one.to_pydict() for one in copies] == [one.to_pydict() for one in again]


def test_settings_of_a_variable_hold_for_all_its_waves() -> None:
    original = panel()
    wage = [-8.0 if i % 4 == 0 else v for i, v in enumerate(original["wage"].to_pylist())]
    original = original.set_column(3, "wage", pa.array(wage))
    maker = PanelSynthesizer("person", "wave", special_codes={"wage": [-8]}, smoothing={"wage": "density"})
    release = maker.fit(original, seed=1).sample(seed=2)
    values = set(release["wage"].to_pylist())
    assert -8 in values
    assert not {v for v in values if -8 < v < -4}


def test_a_frame_comes_back_as_it_was() -> None:
    pd = pytest.importorskip("pandas")
    frame = panel().to_pandas()
    frame["sex"] = frame["sex"].astype("category")
    release = unveil.synthesize(frame, m=1, unit="person", time="wave", seed=1)
    assert isinstance(release, pd.DataFrame)
    assert list(release.dtypes) == list(frame.dtypes)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"unit": "person"}, "units are kept whole in a panel, by unit and time of its rows"),
        ({"time": "wave"}, "units are kept whole in a panel, by unit and time of its rows"),
        ({"unit": "persons", "time": "wave"}, "no column 'persons'"),
        ({"unit": "wave", "time": "sex"}, "rows .* are of one unit .wave. and have the same time"),
        ({"unit": "person", "time": "wave", "method": "catall"}, "units are kept whole by method 'cart', not by"),
        ({"unit": "person", "time": "wave", "minbuckets": 3}, "minbuckets"),
    ],
)
def test_what_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(unveil.UnveilError, match=said):
        unveil.synthesize(panel(), m=1, **options)


def test_too_many_waves() -> None:
    rows = pa.table({"person": [i // 30 for i in range(90)], "day": list(range(30)) * 3, "x": list(range(90))})
    with pytest.raises(unveil.CallError, match="'day' has 30 values; a panel is synthesised with up to 20 waves"):
        unveil.synthesize(rows, m=1, unit="person", time="day")


def test_it_has_to_be_fitted_first() -> None:
    with pytest.raises(unveil.CallError, match="not fitted"):
        PanelSynthesizer("person", "wave").sample()


def test_files_are_written_with_their_units_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    csv.write_csv(panel(kept=0.9), tmp_path / "panel.csv")
    monkeypatch.chdir(tmp_path)
    words = "synthesize panel.csv -o out -m 2 -k 50 --unit person --time wave --seed 1"
    monkeypatch.setattr(sys, "argv", ["unveil", *words.split()])
    main()
    said = " ".join(capsys.readouterr().out.split())
    assert "2 copies of 50 units" in said
    assert "--unit person --time wave --keys" in said
    (provenance,) = (tmp_path / "out").glob("*.provenance.json")
    facts = read_provenance(provenance)
    for path, release in zip(sorted((tmp_path / "out").glob("*.csv")), facts.releases, strict=True):
        table = csv.read_csv(path)
        assert len(by_person(table)) <= 50
        assert release.records == table.num_rows
    assert (facts.k, facts.settings["unit"], facts.settings["time"]) == (50, "person", "wave")
    with pytest.raises(unveil.DataError, match="made of whole units"):
        synthesizer_of(facts)
