"""The workflows of .github call targets that there are, for the images that there are."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text()


def jobs_of(path: Path) -> dict[str, Any]:
    jobs: dict[str, Any] = yaml.safe_load(path.read_text())["jobs"]
    return jobs


def commands(job: dict[str, Any]) -> Iterator[str]:
    """What a job runs, for each value of its matrix."""
    matrix = job.get("strategy", {}).get("matrix", {})
    targets = [*matrix.get("target", []), *(each["target"] for each in matrix.get("include", []))]
    for step in job["steps"]:
        run = step.get("run", "")
        for target in targets or [""]:
            yield run.replace("${{ matrix.target }}", target)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_calls_targets_that_there_are(path: Path) -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.MULTILINE))
    called = {
        target
        for job in jobs_of(path).values()
        for run in commands(job)
        for target in re.findall(r"make (?:--silent )?([a-z0-9-]+)", run)
    }
    assert called
    assert called <= targets


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_job_ends_in_time_and_may_do_no_more_than_it_says(path: Path) -> None:
    assert yaml.safe_load(path.read_text())["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] <= 60 for job in jobs_of(path).values())


def test_a_release_builds_every_image() -> None:
    (images,) = re.findall(r"^IMAGES := (.*)$", MAKEFILE, re.MULTILINE)
    release = jobs_of(ROOT / ".github" / "workflows" / "release.yml")
    assert release["images"]["strategy"]["matrix"]["name"] == images.split()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_commit(path: Path) -> None:
    used = re.findall(r"uses: (\S+)(.*)", path.read_text())
    assert used
    for action, comment in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action
        # What Dependabot and readers go by.
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action


def test_what_a_release_publishes_is_signed() -> None:
    jobs = jobs_of(ROOT / ".github" / "workflows" / "release.yml")
    for name in ("images", "publish"):
        steps = jobs[name]["steps"]
        assert jobs[name]["permissions"]["id-token"] == "write"
        assert any(step.get("run", "").startswith("cosign sign") for step in steps)
        assert any("attest-build-provenance@" in step.get("uses", "") for step in steps)
