"""How an index of vectors is searched, and what it was made by."""

from scaar.core.types import DenseDescription, DenseSettings, HnswSettings, VectorMetric
from scaar.v1 import retriever_pb2 as pb
from scaar.wire.messages.enums import EnumPair
from scaar.wire.messages.fields import carried_int, carried_text

VECTOR_METRIC = EnumPair(VectorMetric, pb.VectorMetric)


def dense_settings_to_pb(settings: DenseSettings | None) -> pb.DenseSettings | None:
    if settings is None:
        return None
    graph = settings.hnsw
    return pb.DenseSettings(
        metric=VECTOR_METRIC.to_pb(settings.metric),
        hnsw=None if graph is None else _hnsw_to_pb(graph),
    )


def dense_settings_from_pb(message: pb.DenseSettings) -> DenseSettings:
    graph = message.hnsw
    hnsw = HnswSettings(graph.m, graph.ef_construction, graph.ef_search)
    return DenseSettings(
        metric=VECTOR_METRIC.from_pb(message.metric, "dense.metric")
        if message.metric
        else VectorMetric.INNER_PRODUCT,
        hnsw=hnsw if message.HasField("hnsw") else None,
    )


def dense_to_pb(dense: DenseDescription | None) -> pb.DenseDescription | None:
    if dense is None:
        return None
    return pb.DenseDescription(
        encoder=carried_text("dense.encoder", dense.encoder),
        encoder_revision=dense.encoder_revision,
        width=dense.width,
        settings=dense_settings_to_pb(dense.settings),
    )


def dense_from_pb(message: pb.DenseDescription) -> DenseDescription:
    return DenseDescription(
        encoder=message.encoder,
        encoder_revision=message.encoder_revision,
        width=message.width,
        settings=dense_settings_from_pb(message.settings),
    )


def _hnsw_to_pb(graph: HnswSettings) -> pb.HnswSettings:
    return pb.HnswSettings(
        m=carried_int("dense.hnsw.m", graph.m),
        ef_construction=carried_int("dense.hnsw.ef_construction", graph.ef_construction),
        ef_search=carried_int("dense.hnsw.ef_search", graph.ef_search),
    )
