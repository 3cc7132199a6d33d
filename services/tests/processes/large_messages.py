"""Requests that are too large, field by field, and the largest that are permitted.

Each is a right request with one field grown on the serialized bytes, so that building it costs the
test nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor

from scaar.v1 import evaluator_pb2, limits_pb2, query_builder_pb2, retriever_pb2, scorer_pb2

from .seed_messages import QUESTION, SEEDS

FACTORS = (1, 10, 1000)
_VARINT, _FIXED64, _BYTES = 0, 1, 2
_UNKNOWN_FIELD = 1999
_NO_LIMIT = 1_000_000_000


@dataclass(frozen=True, slots=True)
class LargeMessage:
    """A serialized request; ``size`` says how its field compares with the limit of the contract."""

    method: MethodDescriptor
    field: str
    size: str
    data: bytes
    too_large: bool

    def __str__(self) -> str:
        return f"{self.method.name} {self.field} {self.size}"


def large_messages(method: MethodDescriptor, receive_bytes: int) -> Iterator[LargeMessage]:
    """Every repeated, map, string and bytes field at its limit, over it, and as large as fits.

    ``receive_bytes`` is the size above which the server refuses a message unread.
    """
    seed = SEEDS[method.containing_service.full_name][method.name][0].SerializeToString()
    for path in _paths(method.input_type.fields, ()):
        yield from _grown(method, seed, path, receive_bytes)
    unknown = _tag(_UNKNOWN_FIELD, _VARINT) + b"\0"
    most = (receive_bytes - len(seed)) // len(unknown)
    yield LargeMessage(method, "unknown fields", "most", seed + unknown * most, too_large=True)
    group = _tag(_UNKNOWN_FIELD, 3) * 100_000
    yield LargeMessage(method, "nested groups", "100,000", seed + group, too_large=True)
    over = b"\0" * (2 * receive_bytes)
    yield LargeMessage(method, "whole message", "over what is read", over, too_large=True)
    for name, data in _permitted(method.name):
        yield LargeMessage(method, name, "permitted", data, too_large=False)


def _paths(
    fields: Sequence[FieldDescriptor], above: tuple[FieldDescriptor, ...]
) -> Iterator[tuple[FieldDescriptor, ...]]:
    for each in fields:
        path = (*above, each)
        if each.is_repeated or each.type in (each.TYPE_STRING, each.TYPE_BYTES):
            yield path
        if each.message_type is not None:
            yield from _paths(each.message_type.fields, path)


def _grown(
    method: MethodDescriptor, seed: bytes, path: tuple[FieldDescriptor, ...], receive_bytes: int
) -> Iterator[LargeMessage]:
    leaf, name = path[-1], ".".join(each.name for each in path)
    limits = leaf.GetOptions().Extensions[limits_pb2.field_limits]
    room = receive_bytes - len(seed) - 16 * len(path)
    shapes = []
    if leaf.is_repeated:
        shapes.append((f"{name} (items)", limits.max_items, *_items(leaf)))
    if leaf.type in (leaf.TYPE_STRING, leaf.TYPE_BYTES):
        head = _tag(leaf.number, _BYTES)
        shapes.append((f"{name} (characters)", limits.max_characters, head, b"x", True))
    for place, limit, head, unit, has_length in shapes:
        limit = limit or _NO_LIMIT
        most = room // len(unit)
        counts = {f"{factor:,}x": factor * limit for factor in FACTORS if factor * limit < most}
        for size, count in (*counts.items(), ("most", most)):
            body = unit * count
            grown = head + (_varint(len(body)) if has_length else b"") + body
            for above in reversed(path[:-1]):
                grown = _tag(above.number, _BYTES) + _varint(len(grown)) + grown
            yield LargeMessage(method, place, size, seed + grown, too_large=count > limit)


def _items(leaf: FieldDescriptor) -> tuple[bytes, bytes, bool]:
    """What begins many items of a field, one more of them, and whether their length goes before."""
    if leaf.type in (leaf.TYPE_STRING, leaf.TYPE_BYTES, leaf.TYPE_MESSAGE):
        return b"", _tag(leaf.number, _BYTES) + b"\0", False
    unit = b"\0" * 8 if leaf.type == leaf.TYPE_DOUBLE else b"\1"
    return _tag(leaf.number, _BYTES), unit, True


def _permitted(method: str) -> Iterator[tuple[str, bytes]]:
    """Requests within every limit that cost the server the most."""
    words = [f"word{number}" for number in range(4_096)]
    match method:
        case "ScoreContributions":
            sentences = [
                scorer_pb2.SentenceToScore(question=QUESTION, words=words[at : at + 256])
                for at in range(0, len(words), 256)
            ]
            request = scorer_pb2.ScoreContributionsRequest(sentences=sentences)
            yield "4,096 words", request.SerializeToString()
        case "BuildQuery":
            (seed, *_) = SEEDS["scaar.v1.QueryBuilderService"]["BuildQuery"]
            built = query_builder_pb2.BuildQueryRequest()
            built.MergeFromString(seed.SerializeToString())
            built.attended.extend(
                query_builder_pb2.AttendedWord(text=word, attention=0.5) for word in words * 3
            )
            yield "12,288 attended words", built.SerializeToString()
        case "Retrieve":
            queries = [" ".join(words[at : at + 100]) for at in range(1_000)]
            found = retriever_pb2.RetrieveRequest(queries=queries, top_k=5, index="kept")
            yield "1,000 queries", found.SerializeToString()
        case "IndexPassages":
            small = [
                retriever_pb2.Passage(id=f"p{at}", title="Title", text=f"A text of {at} words.")
                for at in range(10_000)
            ]
            large = [
                retriever_pb2.Passage(id=f"p{at}", text=("a few words " * 90_000)[:1_000_000])
                for at in range(16)
            ]
            for name, passages in (("10,000 passages", small), ("16 MB of text", large)):
                mode = retriever_pb2.INDEX_MODE_REPLACE
                index = retriever_pb2.IndexPassagesRequest(
                    index="large", mode=mode, passages=passages
                )
                yield name, index.SerializeToString()
        case "DeletePassages":
            ids = [f"passage-{number}" for number in range(100_000)]
            deleted = retriever_pb2.DeletePassagesRequest(index="kept", passage_ids=ids)
            yield "100,000 ids", deleted.SerializeToString()
        case "CreateEvaluation":
            questions = [
                evaluator_pb2.EvaluationQuestion(id=f"q{at}", question=QUESTION, answers=["Ada"])
                for at in range(10_000)
            ]
            created = evaluator_pb2.CreateEvaluationRequest(questions=questions)
            created.policies.add().no_retrieval.SetInParent()
            yield "10,000 questions", created.SerializeToString()


def _tag(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
