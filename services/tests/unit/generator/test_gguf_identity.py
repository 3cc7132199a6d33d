"""What is tuned, answered and recorded with a GGUF file is bound to the file's SHA-256."""

from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest

from scaar.core.errors import PolicyMismatch
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.types import (
    Answer,
    AnswerFinished,
    AnswerRequest,
    ModelDescription,
    Passage,
    PolicyArtefact,
    PolicyRequest,
    TuningConditions,
)
from scaar.database.migration import open_checked_database
from scaar.generator.engines.llama_cpp import LlamaCppGenerator
from scaar.generator.engines.llama_cpp_server.digest import digest_of
from scaar.generator.gguf.model import read_model
from scaar.query_builder.local import LocalQueryBuilder
from scaar.records.service import StoredRecords
from scaar.records.store.schema import SCHEMA
from scaar.testing.answer_records import record_answers
from scaar.testing.artefacts import artefact_of
from scaar.testing.fakes import InMemoryRetriever, ScriptedGenerator, ScriptedScorer

from .gguf_files import write_gguf

PASSAGES = (Passage("a", "Etna", "Etna is a volcano."),)
NAME = "careful"


class RunningChild:
    """A server that runs."""

    supervisor = SimpleNamespace(process=object(), failure=None)

    async def ready(self) -> None:
        pass


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Two files of one name, of which the weights differ alone."""
    first, other = (tmp_path / name / "tiny.gguf" for name in ("first", "other"))
    for path in (first, other):
        path.parent.mkdir()
        write_gguf(path)
    other.write_bytes(other.read_bytes()[:-1] + b"\x01")
    return first, other


def sha256_of(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


async def generator_of(path: Path) -> LlamaCppGenerator:
    """The generator of a file, whose server writes a script."""
    inner = ScriptedGenerator(lambda request: [] if request.prefix else [(" Etna.", -0.01)])
    revision = await digest_of(path)
    return LlamaCppGenerator(
        inner,  # type: ignore[arg-type]
        RunningChild(),  # type: ignore[arg-type]
        read_model(path),
        revision=revision,
    )


async def loop_of(path: Path, *artefacts: PolicyArtefact) -> AdaptiveLoop:
    ports = Ports(
        await generator_of(path),
        ScriptedScorer({}),
        LocalQueryBuilder(),
        InMemoryRetriever({"lab": PASSAGES}),
    )
    return AdaptiveLoop(ports, policies=TunedPolicies(artefacts), default_index="lab")


async def answer(loop: AdaptiveLoop, policy: PolicyRequest) -> Answer:
    events = [each async for each in loop.stream_answer(AnswerRequest("Which?", policy))]
    assert isinstance(events[-1], AnswerFinished)
    return events[-1].answer


async def test_the_revision_is_the_digest_of_the_file(files: tuple[Path, Path]) -> None:
    described: list[ModelDescription] = []
    for path in files:
        described.append(await (await generator_of(path)).describe_model())
        assert described[-1].revision == sha256_of(path)
    assert described[0].model == described[1].model
    assert described[0].engine == "llama_cpp"


async def test_a_policy_is_tuned_for_one_file_and_refused_with_another_of_its_name(
    files: tuple[Path, Path],
) -> None:
    first, other = files
    model = await (await generator_of(first)).describe_model()
    artefact = artefact_of(NAME, tuned_on=TuningConditions(model.model, model.revision))
    made = (await answer(await loop_of(first, artefact), PolicyRequest(NAME))).provenance
    assert (made.artefact, made.artefact_mismatch) == (NAME, ())
    loop = await loop_of(other, artefact)
    expected = f"model: tuned on .*, revision {model.revision}, used with revision"
    with pytest.raises(PolicyMismatch, match=expected):
        await answer(loop, PolicyRequest(NAME))
    allowed = (await answer(loop, PolicyRequest(NAME, allow_mismatch=True))).provenance
    assert len(allowed.artefact_mismatch) == 1


async def test_a_record_names_the_file_that_answered(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    request = AnswerRequest("Which?", PolicyRequest("no_retrieval"))
    async with open_checked_database(f"sqlite:///{tmp_path}/r.sqlite", SCHEMA) as database:
        records = StoredRecords(database, operators=())
        for path in files:
            await record_answers(database, await loop_of(path), request)
        revisions = set()
        for summary in (await records.list_records()).records:
            last = (await records.get_record(summary.id)).events[-1]
            assert isinstance(last, AnswerFinished)
            revisions.add(last.answer.provenance.model_revision)
    assert revisions == {sha256_of(path) for path in files}
