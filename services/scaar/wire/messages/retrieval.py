"""What crosses the retriever's port."""

from collections.abc import Iterable, Sequence

from scaar.core.types import (
    Filter,
    IndexCheck,
    IndexDescription,
    IndexMode,
    IndexResult,
    IndexVerification,
    MetadataField,
    Passage,
    RetrievedPassage,
    RetrieveRequest,
    RetrieveResult,
)
from scaar.v1 import retriever_pb2 as pb
from scaar.wire.messages.dense import dense_from_pb, dense_to_pb
from scaar.wire.messages.enums import EnumPair
from scaar.wire.messages.fields import carried_int, carried_text, finite

INDEX_MODE = EnumPair(IndexMode, pb.IndexMode)


def retrieve_request_to_pb(request: RetrieveRequest) -> pb.RetrieveRequest:
    return pb.RetrieveRequest(
        queries=[carried_text("queries", query) for query in request.queries],
        top_k=carried_int("top_k", request.top_k),
        index=carried_text("index", request.index),
        filters=filters_to_pb(request.filters),
    )


def retrieve_request_from_pb(message: pb.RetrieveRequest) -> RetrieveRequest:
    return RetrieveRequest(
        queries=tuple(message.queries),
        top_k=message.top_k,
        index=message.index,
        filters=filters_from_pb(message.filters),
    )


def filters_to_pb(filters: Sequence[Filter]) -> list[pb.Filter]:
    return [
        pb.Filter(
            field=carried_text(f"filters[{position}].field", each.field),
            values=[carried_text(f"filters[{position}].values", value) for value in each.values],
        )
        for position, each in enumerate(filters)
    ]


def filters_from_pb(messages: Iterable[pb.Filter]) -> tuple[Filter, ...]:
    return tuple(Filter(each.field, tuple(each.values)) for each in messages)


def metadata_to_pb(metadata: Sequence[MetadataField]) -> list[pb.MetadataField]:
    return [
        pb.MetadataField(
            name=carried_text("passages.metadata", each.name),
            values=[carried_text(f"passages.metadata.{each.name}", value) for value in each.values],
        )
        for each in metadata
    ]


def metadata_from_pb(messages: Iterable[pb.MetadataField]) -> tuple[MetadataField, ...]:
    return tuple(MetadataField(each.name, tuple(each.values)) for each in messages)


def retrieve_result_to_pb(result: RetrieveResult) -> pb.RetrieveResponse:
    return pb.RetrieveResponse(
        index=result.index,
        version=result.version,
        results=[
            pb.QueryResult(passages=[retrieved_to_pb(passage) for passage in passages])
            for passages in result.results
        ],
    )


def retrieve_result_from_pb(message: pb.RetrieveResponse) -> RetrieveResult:
    return RetrieveResult(
        index=message.index,
        version=message.version,
        results=tuple(
            tuple(retrieved_from_pb(passage) for passage in result.passages)
            for result in message.results
        ),
    )


def retrieved_to_pb(passage: RetrievedPassage) -> pb.RetrievedPassage:
    return pb.RetrievedPassage(
        id=passage.id,
        title=passage.title,
        text=passage.text,
        score=passage.score,
        rank=passage.rank,
        metadata=metadata_to_pb(passage.metadata),
    )


def retrieved_from_pb(message: pb.RetrievedPassage) -> RetrievedPassage:
    return RetrievedPassage(
        id=message.id,
        title=message.title,
        text=message.text,
        score=finite("passages.score", message.score),
        rank=message.rank,
        metadata=metadata_from_pb(message.metadata),
    )


def passage_to_pb(passage: Passage) -> pb.Passage:
    return pb.Passage(
        id=carried_text("passages.id", passage.id),
        title=carried_text("passages.title", passage.title),
        text=carried_text("passages.text", passage.text),
        metadata=metadata_to_pb(passage.metadata),
    )


def passage_from_pb(message: pb.Passage) -> Passage:
    metadata = metadata_from_pb(message.metadata)
    return Passage(message.id, message.title, message.text, metadata)


def index_to_pb(index: IndexDescription) -> pb.IndexDescription:
    return pb.IndexDescription(
        name=index.name,
        version=index.version,
        passages=index.passages,
        engine=index.engine,
        k1=index.k1,
        b=index.b,
        created=index.created,
        size_bytes=index.size_bytes,
        metadata_fields=index.metadata_fields,
        damage=index.damage,
        dense=dense_to_pb(index.dense),
        content=index.content,
    )


def index_from_pb(message: pb.IndexDescription) -> IndexDescription:
    return IndexDescription(
        name=message.name,
        version=message.version,
        passages=message.passages,
        engine=message.engine,
        k1=finite("index.k1", message.k1),
        b=finite("index.b", message.b),
        created=message.created,
        size_bytes=message.size_bytes,
        metadata_fields=tuple(message.metadata_fields),
        damage=message.damage,
        dense=dense_from_pb(message.dense) if message.HasField("dense") else None,
        content=message.content,
    )


def verification_to_pb(verification: IndexVerification) -> pb.VerifyIndexResponse:
    return pb.VerifyIndexResponse(
        index=verification.index,
        version=verification.version,
        checks=[
            pb.IndexCheck(name=each.name, found=each.found, right=each.right)
            for each in verification.checks
        ],
    )


def verification_from_pb(message: pb.VerifyIndexResponse) -> IndexVerification:
    return IndexVerification(
        index=message.index,
        version=message.version,
        checks=tuple(IndexCheck(each.name, each.found, each.right) for each in message.checks),
    )


def index_mode_from_pb(value: int) -> IndexMode:
    return INDEX_MODE.from_pb(value, "mode") if value else IndexMode.CREATE


def index_result_to_pb(result: IndexResult) -> pb.IndexPassagesResponse:
    return pb.IndexPassagesResponse(
        index=index_to_pb(result.index), added=result.added, replaced=result.replaced
    )


def index_result_from_pb(message: pb.IndexPassagesResponse) -> IndexResult:
    return IndexResult(index_from_pb(message.index), message.added, message.replaced)
