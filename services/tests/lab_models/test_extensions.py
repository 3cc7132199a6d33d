"""The example package: every part that it adds is used by commands and services that have it."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scaar.client import open_client
from scaar.core.errors import InvalidRequest
from scaar.core.types import AnswerEvent, GateJudged, PassagesRetrieved, QueryBuilt
from scaar.lab.questions import Question

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "scaar-example"
INSTALL = (
    *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
    *("--no-deps", "--no-build-isolation", "--no-index"),
)


def install(package: Path, folder: Path) -> Path:
    """Install a package into a folder of its own."""
    subprocess.run([*INSTALL, "--target", str(folder), str(package)], check=True)
    return folder


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the installed example package."""
    return install(EXAMPLE, tmp_path_factory.mktemp("installed"))


def environment(*folders: Path) -> dict[str, str]:
    paths = [*map(str, folders), *sys.path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def run(*arguments: str, folders: tuple[Path, ...]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scaar.cli", *arguments],
        env=environment(*folders),
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def serving(*folders: Path, **variables: str) -> Iterator[str]:
    """Run an orchestrator that has the packages in these folders; yield its target."""
    command = [sys.executable, "-m", "scaar.cli", "serve", "orchestrator"]
    with subprocess.Popen(
        [*command, "--address", "127.0.0.1:0"],
        env={**environment(*folders), **variables},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            found = None
            while found is None:
                line = process.stderr.readline()
                assert line, "the orchestrator has ended"
                found = re.match(r"orchestrator serving on (\S+)", line)
            yield f"dns:///{found[1]}"
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate()


def test_doctor_lists_the_parts_and_their_package(installed: Path) -> None:
    ran = run("doctor", folders=(installed,))
    for line in (
        "✓ scaar.triggers: weakest_words (scaar-example 1.0)",
        "✓ scaar.queries: names (scaar-example 1.0)",
        "✓ scaar.policies: weakest_names (scaar-example 1.0)",
        "✓ scaar.gates: question_length (scaar-example 1.0)",
        "✓ scaar.defaults: example (scaar-example 1.0)",
        "✓ scaar.measures: contains (scaar-example 1.0)",
        "✓ scaar.datasets: csv (scaar-example 1.0)",
    ):
        assert line in ran.stdout
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_policy_retrieves_before_the_answer_and_for_uncertain_drafts(
    installed: Path, tail_questions: list[Question]
) -> None:
    ran = run(
        *("ask", tail_questions[0].question, "--policy", "weakest_names", "--json"),
        folders=(installed,),
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    events = [json.loads(line) for line in ran.stdout.splitlines()]
    policy = events[0]["provenance"]["policy"]
    assert policy["moments"] == ["before_answer", "uncertain_draft"]
    assert (policy["trigger"], policy["theta"]) == ("weakest_words", 0.5)
    queries = [each["query"]["formulation"] for each in events if each["event"] == "query_built"]
    assert queries[0] == "question"
    assert set(queries[1:]) <= {"names"}
    assert events[-1]["retrievals"] == len(queries)


def test_a_trigger_and_a_query_combine_with_those_of_scaar(
    installed: Path, tail_questions: list[Question]
) -> None:
    for options in (
        ("--policy", "flare", "--query", "names"),
        ("--policy", "scaar", "--trigger", "weakest_words", "--set", "theta=0.1"),
    ):
        ran = run("ask", tail_questions[0].question, *options, "--json", folders=(installed,))
        assert (ran.returncode, ran.stderr) == (0, "")
        assert json.loads(ran.stdout.splitlines()[-1])["retrievals"] >= 1


async def test_a_client_without_the_package_reaches_what_the_service_has(
    installed: Path, tail_questions: list[Question], tmp_path: Path
) -> None:
    gate = tmp_path / "gate.json"
    gate.write_text(
        json.dumps({"format": 1, "gate": "question_length", "threshold": 0.2, "words": 20})
    )
    question = tail_questions[0].question
    with serving(installed, SCAAR_ORCHESTRATOR_GATE_FILE=str(gate)) as target:
        async with open_client(target) as scaar:
            policies = [each.policy.name for each in await scaar.list_policies()]
            assert policies[-2:] == ["weakest_names", "tuned-1.4"]
            options = {"policy": "weakest_names", "gate": "question_length"}
            events: list[AnswerEvent] = []
            async with scaar.stream_answer(question, **options) as stream:  # type: ignore[arg-type]
                events = [event async for event in stream]
            (judged,) = (each for each in events if isinstance(each, GateJudged))
            assert judged.gate == "question_length"
            assert judged.features == {"words": len(question.split())}
            assert any(isinstance(each, PassagesRetrieved) for each in events)
            answer = await scaar.answer(question, trigger="weakest_words", query="names")
            assert answer.provenance.policy.trigger == "weakest_words"
            with pytest.raises(InvalidRequest, match="there is no trigger 'strongest_words'"):
                await scaar.answer(question, trigger="strongest_words")
            with pytest.raises(InvalidRequest, match="there is no policy 'strongest'"):
                await scaar.answer(question, policy="strongest")
    assert any(isinstance(each, QueryBuilt) for each in events)


def test_a_data_set_is_evaluated_in_a_measure_of_the_package(
    installed: Path, tail_questions: list[Question], tmp_path: Path
) -> None:
    table = tmp_path / "questions.csv"
    rows = [f'"{each.question}","{each.answers[0]}"' for each in tail_questions[:3]]
    table.write_text("\n".join(["question,answer", *rows]))
    out = tmp_path / "out"
    policies = ("--policies", "no_retrieval,weakest_names")
    ran = run(
        *(
            "eval",
            "run",
            "--dataset",
            f"csv:{table}",
            *policies,
            "--index",
            "lab",
            "--out",
            str(out),
        ),
        folders=(installed,),
    )
    assert ran.returncode == 0, ran.stderr
    header = (out / "scores.csv").read_text().splitlines()[0]
    assert "contains" in header.split(",")
    ran = run("eval", "report", str(out), "--measure", "contains", folders=(installed,))
    assert (ran.returncode, ran.stderr) == (0, "")


def package(folder: Path, name: str, entry: str, module: str) -> Path:
    """Write a package with one entry point; return its folder."""
    group, _, point = entry.partition(" ")
    folder.mkdir()
    (folder / f"{name}.py").write_text(module)
    (folder / "pyproject.toml").write_text(
        f"""
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "{name}"
version = "2.1"
[project.entry-points."{group}"]
{point}
[tool.hatch.build.targets.wheel]
include = ["{name}.py"]
"""
    )
    return folder


@pytest.mark.parametrize(
    ("entry", "module", "problem"),
    [
        (
            'scaar.triggers flare = "broken:RULE"',
            "RULE = None",
            "entry point flare of scaar.triggers: scaar has a trigger of this name",
        ),
        pytest.param(
            'scaar.triggers mine = "broken:RULE"',
            "RULE = None",
            "entry point mine of scaar.triggers: broken:RULE must be a TriggerRule, not a NoneType",
            marks=pytest.mark.long,
        ),
        pytest.param(
            'scaar.triggers mine = "broken:RULE"',
            "import does_not_exist",
            "entry point mine of scaar.triggers: ModuleNotFoundError: No module named "
            "'does_not_exist'",
            marks=pytest.mark.long,
        ),
        pytest.param(
            'scaar.queries Mine = "broken:RULE"',
            "RULE = None",
            "entry point Mine of scaar.queries: the name must be lower-case letters, digits and "
            "underscores, first a letter, at most 64 characters",
            marks=pytest.mark.long,
        ),
        pytest.param(
            'scaar.policies mine = "broken:PRESET"',
            "from scaar.extensions import *\n"
            "PRESET = Preset('mine', (Moment.UNCERTAIN_DRAFT,), QuerySettings('pfq', True), 'no')",
            "entry point mine of scaar.policies: broken:PRESET: there is no trigger 'no'; known: "
            "flare, ",
            marks=pytest.mark.long,
        ),
        pytest.param(
            'scaar.policies mine = "broken:PRESET"',
            "from scaar.extensions import *\n"
            "PRESET = Preset('yours', (), QuerySettings('question', False))",
            "entry point mine of scaar.policies: broken:PRESET: its name is 'yours'",
            marks=pytest.mark.long,
        ),
    ],
)
def test_an_invalid_part_is_refused_with_the_name_of_its_package(
    tmp_path: Path, entry: str, module: str, problem: str
) -> None:
    folder = install(package(tmp_path / "source", "broken", entry, module), tmp_path / "installed")
    served = run("serve", "orchestrator", "--address", "127.0.0.1:0", folders=(folder,))
    assert served.returncode == 1
    assert served.stderr.startswith(f"scaar: broken 2.1, {problem}")
    assert len(served.stderr.splitlines()) == 1
    examined = run("doctor", folders=(folder,))
    assert examined.returncode == 1
    assert f"broken 2.1, {problem}" in examined.stdout


def test_doctor_reports_an_unknown_group_and_a_module_that_exits(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import sys\nsys.exit(3)\n")
    metadata = tmp_path / "broken-2.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 2.1\n")
    (metadata / "entry_points.txt").write_text(
        "[scaar.trigger]\nmine = broken:RULE\n[scaar.gates]\nmine = broken:GATE\n"
    )
    ran = run("doctor", folders=(tmp_path,))
    assert ran.returncode == 1
    assert "broken 2.1, entry point mine of scaar.trigger: there is no such group" in ran.stdout
    assert "broken 2.1, entry point mine of scaar.gates: SystemExit: 3" in ran.stdout


def test_two_packages_with_parts_of_one_name_are_refused(installed: Path, tmp_path: Path) -> None:
    source = package(
        tmp_path / "source",
        "second",
        'scaar.queries names = "second:RULE"',
        "from scaar_example.query import NAMES as RULE",
    )
    second = install(source, tmp_path / "installed")
    ran = run("serve", "query-builder", "--address", "127.0.0.1:0", folders=(installed, second))
    assert ran.returncode == 1
    assert "entry point names of scaar.queries" in ran.stderr
    assert "has a query of this name" in ran.stderr
    assert "scaar-example 1.0" in ran.stderr
    assert "second 2.1" in ran.stderr
