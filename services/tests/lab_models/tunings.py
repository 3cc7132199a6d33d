"""``scaar tune`` on the lab's questions, as the tests run it, and what it writes."""

import sqlite3
from contextlib import closing
from pathlib import Path

from scaar.core.policies.artefact_json import artefact_from_json
from scaar.core.types import PolicyArtefact
from scaar.evaluator.store.folder import DATABASE
from scaar.testing.commands import Ran, run_scaar

USAGE = 2
SEEDS = ("11", "12")
TUNE = ("tune", "--dataset", "lab", *(f"--seed={seed}" for seed in SEEDS))
FEW = 12
"""Number of questions of each seed."""


def tuned(out: Path, *options: str) -> Ran:
    """Tune for a budget among candidates with one query."""
    candidates = ("--query", "current_sentence", "--budget", "1.4")
    return run_scaar(*TUNE, "--limit", str(FEW), *candidates, "--out", str(out), *options)


def threshold_tuned(folder: Path, *options: str) -> Ran:
    """Tune a threshold alone, with the artefact and the answers in a folder."""
    only = ("--only", "threshold", "--dataset", "lab", "--limit", "24")
    where = ("--out", str(folder / "policy.json"), "--work", str(folder / "work"))
    return run_scaar("tune", *only, *where, *options)


def work_of(out: Path) -> Path:
    """Return the folder in which a tuning resumes."""
    return out.with_suffix(".tuning")


def trajectories(folder: Path) -> list[tuple[str, int, str]]:
    """Return the records of a tuning's folder, in order."""
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        chosen = "SELECT part, position, record FROM study_records ORDER BY part, position"
        return connection.execute(chosen).fetchall()


def read(path: Path) -> PolicyArtefact:
    """Return the artefact in a file."""
    return artefact_from_json(path.read_bytes(), str(path))
