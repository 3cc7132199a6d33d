"""What the services log: whose request and trace it was, and nobody's words unless asked."""

import asyncio
import io
import json
import logging
import os
import sys
from asyncio.subprocess import PIPE
from contextlib import aclosing, nullcontext
from typing import Any

import pytest
from grpc._cython import cygrpc

from scaar.core.calls.context import CallContext, in_call
from scaar.core.errors import ScaarError
from scaar.core.evaluations import EvaluationDescription
from scaar.core.loop.loop import Ports
from scaar.core.types import (
    AnswerFinished,
    AnswerRequest,
    GenerateRequest,
    Passage,
    Query,
    QueryRequest,
    QuerySettings,
    RetrieveRequest,
    RetrieveResult,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.runtime.channels import open_channel
from scaar.runtime.logs import log_loop_error, logging_to
from scaar.runtime.settings import ServiceSettings
from scaar.testing.fakes import InMemoryRetriever, Piece, ScriptedGenerator, ScriptedScorer
from scaar.testing.sockets import evaluator_by
from scaar.testing.watched_services import watched_services
from scaar.wire.query_builder import RemoteQueryBuilder

SECRET = "Rumpelstiltskin"
QUESTION = f"Where was {SECRET} born?"
PASSAGES = (Passage("p1", SECRET, f"{SECRET} was born in London."),)
END: Piece = (" So the answer is London.", -1 / 3)
TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE}-b7ad6b7169203331-01"


def quiet(**more: object) -> ServiceSettings:
    reported = {"log_format": "json", "log_level": "info", "stop_grace_s": 0, **more}
    return ServiceSettings.model_validate(reported)


def script(request: GenerateRequest) -> list[Piece | Exception]:
    """Unsure of Paris on its own; with the passage, sure of London."""
    if request.prefix:
        return [END]
    place: Piece = (" London.", -0.01) if "in London" in request.prompt else (" Paris.", -1.7)
    return [(f" {SECRET}", -0.01), (" was born", -1 / 7), (" in", -0.2), place, END]


def ports() -> Ports:
    return Ports(
        ScriptedGenerator(script),
        ScriptedScorer({SECRET: 0.3, "Paris.": 2 / 3}),
        LocalQueryBuilder(),
        InMemoryRetriever({"lab": PASSAGES}),
    )


async def logged(
    ports: Ports, settings: ServiceSettings, *, fails: bool = False
) -> tuple[str, list[dict[str, Any]]]:
    """What all services log of one answer, or of its failing: the text, and the lines read."""
    stream = io.StringIO()
    failing = pytest.raises(ScaarError, match="^internal error$") if fails else nullcontext()
    with logging_to(settings, service="all", stream=stream):
        async with watched_services(ports, settings) as services:
            request = AnswerRequest(QUESTION, request_id="r-1")
            with failing:
                async with aclosing(services.answerer.stream_answer(request)) as stream_of_it:
                    events = [event async for event in stream_of_it]
                assert isinstance(events[-1], AnswerFinished)
                assert SECRET in events[-1].answer.text
                assert events[-1].answer.usage.retrievals == 1
    text = stream.getvalue()
    return text, [json.loads(line) for line in text.splitlines()]


async def test_no_word_of_question_passage_or_answer_is_logged() -> None:
    text, lines = await logged(ports(), quiet())
    called = {line["message"].split()[0] for line in lines if line["logger"] == "scaar.calls"}
    assert {name.partition("/")[0] for name in called} == {
        f"scaar.v1.{name}Service"
        for name in ("Orchestrator", "Generator", "Scorer", "QueryBuilder", "Retriever")
    }
    assert SECRET not in text
    assert "London" not in text


async def test_the_words_are_logged_where_they_are_switched_on() -> None:
    _, lines = await logged(ports(), quiet(log_content=True))
    (content,) = [line["content"] for line in lines if line["logger"] == "scaar.answers"]
    assert content["question"] == QUESTION
    assert content["passages"] == [PASSAGES[0].text]
    assert SECRET in content["queries"][0]
    assert SECRET in content["answer"]


class BrokenScorer(ScriptedScorer):
    async def score_contributions(self, requests: Any) -> Any:
        return broken(requests)


class BrokenBuilder(LocalQueryBuilder):
    async def build_query(self, request: QueryRequest) -> Query:
        return broken(request)


class BrokenRetriever(InMemoryRetriever):
    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        return broken(request)


def broken(request: object) -> Any:
    """Fails in a way that nobody foresaw, quoting what it was given, and behind it another such."""
    try:
        raise KeyError(repr(request))
    except KeyError as error:
        raise RuntimeError(f"cannot take {request!r}") from error


def failing(part: str) -> Ports:
    own = ports()
    match part:
        case "generator":
            raising = ScriptedGenerator(lambda request: [RuntimeError(request.prompt)])
            return Ports(raising, own.scorer, own.query_builder, own.retriever)
        case "scorer":
            return Ports(own.generator, BrokenScorer({}), own.query_builder, own.retriever)
        case "query builder":
            return Ports(own.generator, own.scorer, BrokenBuilder(), own.retriever)
        case _:
            broken_index = BrokenRetriever({"lab": PASSAGES})
            return Ports(own.generator, own.scorer, own.query_builder, broken_index)


@pytest.mark.parametrize("part", ["generator", "scorer", "query builder", "retriever"])
async def test_an_unforeseen_error_is_logged_by_type_and_place_without_its_text(part: str) -> None:
    text, lines = await logged(failing(part), quiet(), fails=True)
    (reported,) = [line for line in lines if line["level"] == "error"]
    assert "RuntimeError: (text withheld)" in reported["exception"]
    assert SECRET not in text
    text, _ = await logged(failing(part), quiet(log_content=True), fails=True)
    assert SECRET in text


class BrokenEvaluator:
    async def get_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        return broken(evaluation_id)


async def test_an_evaluators_unforeseen_error_is_logged_without_its_text() -> None:
    stream = io.StringIO()
    with logging_to(quiet(), service="evaluator", stream=stream):
        async with evaluator_by("grpc", BrokenEvaluator()) as evaluator:
            with pytest.raises(ScaarError, match="internal error"):
                await evaluator.get_evaluation(SECRET)
    assert "RuntimeError: (text withheld)" in stream.getvalue()
    assert SECRET not in stream.getvalue()


async def test_every_line_of_an_answer_has_its_request_id() -> None:
    _, lines = await logged(ports(), quiet())
    assert {line["request_id"] for line in lines} == {"r-1"}
    assert set(lines[0]) == {
        *("time", "level", "logger", "message", "service", "request_id", "trace_id")
    }


async def test_a_failed_background_task_is_logged_without_its_text() -> None:
    stream = io.StringIO()
    with logging_to(quiet(), service="scorer", stream=stream):
        error = RuntimeError(SECRET)
        context = {"message": "Task exception was never retrieved", "exception": error}
        log_loop_error(asyncio.get_running_loop(), context)
    reported = json.loads(stream.getvalue())
    assert reported["message"] == "Task exception was never retrieved"
    assert "RuntimeError" in reported["exception"]
    assert SECRET not in stream.getvalue()


async def test_a_process_logs_json_with_the_ids_that_its_caller_sent() -> None:
    variables = {"LOG_FORMAT": "json", "LOG_LEVEL": "info"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "scaar.cli", "serve", "query-builder", "--address", "127.0.0.1:0"),
        stderr=PIPE,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            **{f"SCAAR_QUERY_BUILDER_{name}": value for name, value in variables.items()},
        },
    )
    assert process.stderr is not None
    try:
        address = (await process.stderr.readline()).decode().split()[-1]
        requested = QueryRequest(QUESTION, QuerySettings("question", include_question=False))
        with in_call(CallContext(request_id="r-1", traceparent=TRACEPARENT)):
            async with open_channel(address) as channel:
                await RemoteQueryBuilder(channel, address).build_query(requested)
        process.terminate()
        said = (await process.stderr.read()).decode()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
    (line,) = [json.loads(each) for each in said.splitlines()]
    assert line["message"].startswith("scaar.v1.QueryBuilderService/BuildQuery OK ")
    ids = {"service": "query-builder", "request_id": "r-1", "trace_id": TRACE}
    assert ids.items() <= line.items()


async def test_text_has_the_same_in_a_line() -> None:
    stream = io.StringIO()
    settings = quiet(log_format="text")
    with logging_to(settings, service="all", stream=stream):
        async with watched_services(ports(), settings) as services:
            request = AnswerRequest(QUESTION, request_id="r-1")
            async with aclosing(services.answerer.stream_answer(request)) as events:
                assert [event async for event in events]
    (line,) = [
        each for each in stream.getvalue().splitlines() if "answers: answer with policy" in each
    ]
    assert " INFO scaar.answers: answer with policy scaar: answer_phrase, 1 retrieval, " in line
    assert line.endswith(" request=r-1")
    assert SECRET not in stream.getvalue()


async def test_at_the_default_level_successful_calls_are_not_logged() -> None:
    text, _ = await logged(ports(), ServiceSettings(log_format="json", stop_grace_s=0))
    assert text == ""


def test_libraries_log_warnings_only() -> None:
    stream = io.StringIO()
    with logging_to(quiet(), service="evaluator", stream=stream):
        for name in ("alembic.runtime.migration", "scaar.calls"):
            logging.getLogger(name).info("a step")
            logging.getLogger(name).warning("a problem")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["logger"], line["message"]) for line in lines] == [
        ("alembic.runtime.migration", "a problem"),
        ("scaar.calls", "a step"),
        ("scaar.calls", "a problem"),
    ]


@pytest.mark.parametrize("level", ["info", "warning"])
def test_a_client_that_goes_while_grpc_writes_to_it_is_no_error(level: str) -> None:
    written, logger = io.StringIO(), logging.getLogger("grpc._cython.cygrpc")
    with logging_to(quiet(log_level=level), service="generator", stream=written):
        for error in (cygrpc.ExecuteBatchError("Failed to write"), ValueError("another")):
            try:
                raise error
            except Exception:
                logger.exception("raised in core by servicer method [%s]", "/Health/Watch")
    lost, other = (
        [line for line in map(json.loads, written.getvalue().splitlines()) if shown(line)]
        for shown in (lambda line: "gone" in line["message"], lambda line: "exception" in line)
    )
    text = "the client of a call has gone: raised in core by servicer method [/Health/Watch]"
    assert [(line["level"], line["message"]) for line in lost] == (
        [("info", text)] if level == "info" else []
    )
    assert [line["level"] for line in other] == ["error"]
    assert "ValueError" in other[0]["exception"]
