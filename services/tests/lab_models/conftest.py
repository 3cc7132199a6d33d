"""The lab's own models over the real index of its passages, in a data folder for the session."""

from pathlib import Path

import pytest

from scaar.compose import LAB_SEED
from scaar.lab.questions import Question, draw_questions
from scaar.lab.world import World, build_world
from scaar.testing.commands import run_scaar


@pytest.fixture(scope="session")
def world() -> World:
    """The lab's default world, whose tail films no model has seen."""
    return build_world(LAB_SEED)


@pytest.fixture(scope="session")
def tail_questions(world: World) -> list[Question]:
    """Ten one-hop questions about films that the model has never seen."""
    drawn = draw_questions(world, count=100, split="tail")
    one_hop = [question for question in drawn if question.kind == "one_hop"]
    return [question for question in one_hop if question.supports[0].startswith("film")][:10]


@pytest.fixture(scope="session")
def lab_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the lab's index, as the first search builds it."""
    folder = tmp_path_factory.mktemp("scaar")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCAAR_HOME", str(folder))
        assert run_scaar("search", "film").status == 0
    assert (folder / "indexes" / "lab").is_dir()
    return folder


@pytest.fixture(autouse=True)
def _in_lab_home(lab_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_HOME", str(lab_home))
