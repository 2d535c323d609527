"""Every benchmark runs and gives its rows; no test looks at a time."""

import json
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
# Rows that each one gives, at least.
ROWS = {
    "paired_vs_full": 24,
    "overhead": 14,
    "forward_ratio": 6,
    "memory": 3,
    "environments": 13,
    "simulator": 1,
    "store": 9,
    "startup": 3,
}
if sys.platform != "linux":
    del ROWS["memory"]


def run(*arguments):
    command = [sys.executable, str(BENCHMARKS / "run.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    file = tmp_path_factory.mktemp("benchmarks") / "results.json"
    done = run("--scale", "tiny", "--out", file)
    assert done.returncode == 0, done.stderr
    assert all(row["what"] in done.stdout for row in rows(file))
    return file


def rows(file):
    return [row for result in json.loads(file.read_text()).values() for row in result["rows"]]


@pytest.mark.parametrize("name", ROWS)
def test_a_benchmark_gives_rows_with_provenance(out, name):
    result = json.loads(out.read_text())[name]
    assert len(result["rows"]) >= ROWS[name]
    assert any(row["target"] is not None for row in result["rows"])
    assert {"commit", "dirty", "date", "cpu", "cores", "libraries", "seed", "scale"} <= set(
        result["provenance"]
    )
    assert name in result["provenance"]["command"]


def test_every_number_is_one_and_is_judged_by_its_target(out):
    for row in rows(out):
        assert isinstance(row["measured"], float | int)
        if row["target"] is None:
            assert row["met"] is None
        else:
            better = row["measured"] - row["target"]
            assert row["met"] == (better >= 0 if row["at_least"] else better <= 0)


@pytest.mark.filterwarnings("ignore::dard.DardWarning")
def test_the_gpu_benchmark_runs_on_any_device(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    benchmark = runpy.run_path(str(BENCHMARKS / "gpu.py"))
    assert len(benchmark["run"]("tiny", 0, device="cpu")) == 6


def test_the_calibration_runs(monkeypatch, tmp_path, capsys):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    file = tmp_path / "calibration.json"
    calibrate = runpy.run_path(str(BENCHMARKS / "calibrate.py"))
    with warnings.catch_warnings():
        calibrate["main"](["--scale", "tiny", "--seeds", "2", "--out", str(file)])
    found = json.loads(file.read_text())
    assert {"commit", "command", "scale", "seeds"} <= set(found["provenance"])
    assert len(found["rows"]) == 8
    assert all(len(row["values"]) == 2 for row in found["rows"])
    exact = [row for row in found["rows"] if row["published"]["metric"].startswith("DARD")]
    assert all(row["agrees"] for row in exact)
    assert "0.529 ± 0.00068" in capsys.readouterr().out


def test_the_calibration_knows_what_does_not_agree(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    calibrate = runpy.run_path(str(BENCHMARKS / "calibrate.py"))
    published = calibrate["Published"]("reacher", "Pearson", "SHAPED", 0.369, 0.0004)
    assert calibrate["judged"](published, [0.369, 0.370])["agrees"]
    assert not calibrate["judged"](published, [0.374, 0.375])["agrees"]


def test_the_table_is_rewritten_between_its_markers(out, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- benchmarks: begin -->\nold\n<!-- benchmarks: end -->\nafter\n")
    for _ in range(2):
        assert run("--table", "--out", out, "--page", page).returncode == 0
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert all(text.count(f"| {row['what']} |") == 1 for row in rows(out))


def test_a_page_without_markers_is_left_alone(out, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing here\n")
    done = run("--table", "--out", out, "--page", page)
    assert done.returncode == 1
    assert "markers" in done.stderr
    assert page.read_text() == "nothing here\n"


def test_an_unknown_benchmark_is_refused():
    done = run("speed")
    assert done.returncode == 2
    assert "no benchmark speed" in done.stderr


def test_environments_on_a_gpu_are_measured_where_there_is_one(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    benchmark = runpy.run_path(str(BENCHMARKS / "gpu_environments.py"))
    assert benchmark["run"]("tiny", 0, platform="none") == []
    assert "no GPU" in capsys.readouterr().out
    found = benchmark["run"]("tiny", 0, platform="cpu")
    assert len(found) == 4
    assert all(row.measured > 0 for row in found)
