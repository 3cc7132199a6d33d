"""The limits of requests, on serialized bytes."""

from collections.abc import Iterator
from types import ModuleType

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from scaar.core.errors import InvalidRequest
from scaar.v1 import (
    evaluator_pb2,
    generator_pb2,
    limits_pb2,
    orchestrator_pb2,
    policy_pb2,
    query_builder_pb2,
    retriever_pb2,
    scorer_pb2,
)
from scaar.wire.request_limits import DEFAULT_MAX_BYTES, ServiceLimits

MODULES = (
    evaluator_pb2,
    generator_pb2,
    orchestrator_pb2,
    query_builder_pb2,
    retriever_pb2,
    scorer_pb2,
)
REQUESTS: dict[str, Descriptor] = {
    method.input_type.full_name: method.input_type
    for module in MODULES
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
UNKNOWN = bytes((0xF8, 0x7C, 0))
"""A field that the contract has not."""


def limits_of(module: ModuleType, service: str) -> ServiceLimits:
    return ServiceLimits(module.DESCRIPTOR.services_by_name[service])


ORCHESTRATOR = limits_of(orchestrator_pb2, "OrchestratorService")
GENERATOR = limits_of(generator_pb2, "GeneratorService")
RETRIEVER = limits_of(retriever_pb2, "RetrieverService")
EVALUATOR = limits_of(evaluator_pb2, "EvaluatorService")


def wrong(limits: ServiceLimits, method: str, request: Message | bytes) -> tuple[str, str]:
    """The field that is refused, and why."""
    data = request if isinstance(request, bytes) else request.SerializeToString()
    with pytest.raises(InvalidRequest) as caught:
        limits.check(method, data)
    (violation,) = caught.value.violations
    return violation.field, violation.description


def fields_of(message: Descriptor) -> Iterator[FieldDescriptor]:
    for each in message.fields:
        yield each
        if each.message_type is not None:
            yield from fields_of(each.message_type)


@pytest.mark.parametrize("message", REQUESTS.values(), ids=list(REQUESTS))
def test_every_field_of_a_request_that_can_grow_has_a_limit(message: Descriptor) -> None:
    for each in fields_of(message):
        limits = each.GetOptions().Extensions[limits_pb2.field_limits]
        assert bool(limits.max_items) == each.is_repeated, each.full_name
        grows = each.type in (each.TYPE_STRING, each.TYPE_BYTES)
        assert bool(limits.max_characters) == grows, each.full_name


def test_a_request_at_its_limits_passes() -> None:
    filters = [retriever_pb2.Filter(field="a" * 64, values=["x" * 256] * 256)] * 3
    filters += [retriever_pb2.Filter(field="a" * 64, values=["x"])] * 13
    request = orchestrator_pb2.AnswerRequest(question="q" * 8_000, filters=filters)
    request.policy.CopyFrom(policy_pb2.Policy(scaar=policy_pb2.ScaarPolicy(theta=0.5)))
    ORCHESTRATOR.check("Answer", request.SerializeToString())
    search = orchestrator_pb2.SearchRequest(
        query="q" * 32_768,
        filters=[retriever_pb2.Filter(field="a" * 64, values=["x" * 32] * 256)] * 4,
        excluded_ids=["x" * 32] * 1_024,
    )
    ORCHESTRATOR.check("Search", search.SerializeToString())


@pytest.mark.parametrize(
    ("ids", "field"),
    [(["x"] * 1_025, "excluded_ids"), (["x", "é" * 513], "excluded_ids[1]")],
)
def test_excluded_ids_are_limited_in_searches_and_retrievals(ids: list[str], field: str) -> None:
    for limits, method, request in (
        (ORCHESTRATOR, "Search", orchestrator_pb2.SearchRequest(query="a", excluded_ids=ids)),
        (RETRIEVER, "Retrieve", retriever_pb2.RetrieveRequest(queries=["a"], excluded_ids=ids)),
    ):
        assert wrong(limits, method, request)[0] == field


@pytest.mark.parametrize("character", ["x", "é", "日", "🎬"])
def test_characters_are_counted_and_not_bytes(character: str) -> None:
    longest = orchestrator_pb2.JudgeDraftRequest(draft=character * 8_000)
    ORCHESTRATOR.check("JudgeDraft", longest.SerializeToString())
    longer = orchestrator_pb2.JudgeDraftRequest(draft=character * 8_001)
    expected = ("draft", "must have at most 8,000 characters, not 8,001")
    assert wrong(ORCHESTRATOR, "JudgeDraft", longer) == expected


def test_millions_of_empty_values_are_refused_at_the_first_too_many() -> None:
    found = wrong(ORCHESTRATOR, "Answer", bytes((0x42, 0)) * 7_000_000)
    assert found == ("filters", "must be at most 16, not 17 or more")


def test_a_field_within_others_is_named_by_its_place() -> None:
    filters = [retriever_pb2.Filter(field="lang", values=["de"])] * 2
    filters.append(retriever_pb2.Filter(field="lang", values=["de", "x" * 257]))
    request = retriever_pb2.RetrieveRequest(queries=["a"], filters=filters)
    expected = ("filters[2].values[1]", "must have at most 256 characters, not 257")
    assert wrong(RETRIEVER, "Retrieve", request) == expected


def test_numbers_are_counted_packed_and_one_by_one() -> None:
    most = generator_pb2.GenerateRequest(prefix_token_ids=[300] * 131_072).SerializeToString()
    packed = generator_pb2.GenerateRequest(prefix_token_ids=[300]).SerializeToString()
    alone = bytes((0x18,)) + packed[2:]
    assert generator_pb2.GenerateRequest.FromString(alone).prefix_token_ids == [300]
    GENERATOR.check("Generate", most)
    for more in (packed, alone):
        assert wrong(GENERATOR, "Generate", most + more)[0] == "prefix_token_ids"


def test_packed_doubles_are_counted() -> None:
    grid = evaluator_pb2.EvaluationGrid(theta=[0.5] * 201)
    request = evaluator_pb2.CreateEvaluationRequest(dataset="lab", grid=grid)
    assert wrong(EVALUATOR, "CreateEvaluation", request)[0] == "grid.theta"


def test_unknown_fields_and_single_fields_that_are_repeated_count_as_values() -> None:
    ORCHESTRATOR.check("Answer", UNKNOWN * 8_192)
    assert wrong(ORCHESTRATOR, "Answer", UNKNOWN * 8_193)[0] == "request"
    policy = orchestrator_pb2.AnswerRequest(policy=policy_pb2.Policy()).SerializeToString()
    assert wrong(ORCHESTRATOR, "Answer", policy * 8_193)[0] == "request"


def test_a_request_without_limits_has_the_default_limits() -> None:
    data = bytes((0xFA, 0x7C, 0x80, 0x80, 0x04)) + b"x" * DEFAULT_MAX_BYTES
    field, text = wrong(RETRIEVER, "ListIndexes", data)
    assert field == "request"
    assert text.startswith("must have at most 65,536 bytes, not ")


@pytest.mark.parametrize(
    "data",
    [
        b"\x0a",
        b"\x0a\x05abc",
        b"\x0a\xff",
        b"\x80",
        b"\x08" + b"\xff" * 11,
        b"\x0b\x0c",
        b"\x0f\x00",
        b"\x09\x00",
        b"\x42\x02\x0a\x05aaaaa",
    ],
)
def test_invalid_bytes_are_refused_as_a_message(data: bytes) -> None:
    expected = ("request", "is not a message of the contract")
    assert wrong(ORCHESTRATOR, "Answer", data) == expected


def test_the_largest_request_of_a_service_is_that_of_its_methods() -> None:
    assert ORCHESTRATOR.max_request_bytes == 256 * 1024
    assert RETRIEVER.max_request_bytes == 16 * 1024 * 1024
