"""Fakes of the ports: they follow a script, and record their requests."""

import asyncio
import hashlib
import re
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

from scaar.core.errors import AlreadyExists, CapabilityMissing, InvalidRequest, NotFound
from scaar.core.filters import check_declared, fits, wrong_excluded, wrong_filters, wrong_scored
from scaar.core.search_stages import mode_of, wrong_stages
from scaar.core.types import (
    AnswerEvent,
    AnswerRequest,
    AttendRequest,
    Attention,
    AttentionKind,
    Capability,
    DenseSettings,
    FinishReason,
    GenerateRequest,
    GenerationEnd,
    GenerationEvent,
    GenerationStart,
    IndexCheck,
    IndexDescription,
    IndexMode,
    IndexResult,
    IndexVerification,
    LogprobKind,
    LogprobsRequest,
    ModelDescription,
    Passage,
    PassageInContext,
    PassageRequest,
    RetrievedPassage,
    RetrieveRequest,
    RetrieveResult,
    ScorerDescription,
    ScoreRequest,
    TextLogprobs,
    Token,
    TopToken,
)
from scaar.core.validation import check_index_name, validate, validate_passage
from scaar.generator.samples import each_sample
from scaar.generator.validation import check_capabilities
from scaar.retriever.metadata import (
    check_fields,
    metadata_violations,
    unchanged_fields,
    undeclared_fields,
)
from scaar.scorer.validation import check_requests

Piece = tuple[str, float | None]
"""The text of a token and its log-probability."""

GenerationScript = (
    Callable[[GenerateRequest], Iterable[Piece | Exception]]
    | Mapping[str, Sequence[Piece | Exception]]
)
"""Continuation of a request: a function, or a mapping from the text so far (prompt + prefix). An
exception among the pieces is raised at its position."""

SCRIPTED_MODEL = ModelDescription(
    model="scripted",
    revision="1",
    engine="fake",
    logprob_kind=LogprobKind.RAW,
    capabilities=frozenset({Capability.LOGPROBS, Capability.RESUME_BY_IDS}),
    max_total_tokens=4096,
    prompt_profile="lab",
)


WHITE_BOX_MODEL = replace(
    SCRIPTED_MODEL,
    capabilities=SCRIPTED_MODEL.capabilities | {Capability.ENTROPY, Capability.ATTENTION},
)
"""The same model with entropies (twice the surprisal of a token) and attention (by characters, so
that it does not depend on the boundaries of tokens)."""


SAMPLED_MODEL = replace(
    SCRIPTED_MODEL,
    capabilities=SCRIPTED_MODEL.capabilities
    | {
        Capability.SAMPLING,
        Capability.SEED,
        Capability.NAMED_TOKENS,
        Capability.TEXT_LOGPROBS,
        Capability.HIDDEN_STATES,
    },
    hidden_layers=2,
)
"""The same model with samples, named tokens, given texts and hidden states.

A named token has the log-probability of the written token if it is that one, otherwise -9. A given
text has the log-probability -0.1 per character. A hidden state is the layer and the number of
characters read."""


class ScriptedGenerator:
    """A generator that writes the pieces of a script, one token each.

    It returns what the capabilities of its ``model`` declare. A script that samples reads the
    temperature and the seed of the request. ``delay_s`` is the delay before each
    token. ``requests`` are the received requests, ``opened`` and ``closed`` the numbers of started
    and ended generations, ``released`` the released answers.
    """

    def __init__(
        self,
        script: GenerationScript,
        *,
        model: ModelDescription = SCRIPTED_MODEL,
        attention: Callable[[AttendRequest], Attention] | None = None,
        delay_s: float = 0.0,
    ) -> None:
        self._script = script
        self._model = model
        self._attention = attention
        self._delay_s = delay_s
        self._ids: dict[str, int] = {}
        self.requests: list[GenerateRequest] = []
        self.opened = 0
        self.closed = 0
        self.released: list[str] = []

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Yield the pieces of the script as tokens, up to a stop string or ``max_tokens``."""
        async with aclosing(each_sample(request, self._one)) as events:
            async for event in events:
                yield event

    async def _one(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        if request.max_tokens < 1:
            raise InvalidRequest.of("max_tokens", f"must be at least 1, not {request.max_tokens}")
        if not request.prompt and not request.prefix:
            raise InvalidRequest.of("prompt", "must not be empty where prefix is")
        check_capabilities(request, self._model.capabilities)
        self.requests.append(request)
        self.opened += 1
        try:
            prompt_tokens = len((request.prompt + request.prefix).split())
            read = _tokens(request.prompt + request.prefix) if request.attention else ()
            yield GenerationStart(prompt_tokens, read)
            seen = list(read)
            text, count, reason = "", 0, FinishReason.END_OF_SEQUENCE
            stop_at = self._stop_at(request)
            for piece in self._pieces(request):
                await asyncio.sleep(self._delay_s)
                if isinstance(piece, Exception):
                    raise piece
                written, logprob = piece
                count += 1
                stopped = stop_at is not None and len(text) + len(written) > stop_at
                shown = written[: stop_at - len(text)] if stopped and stop_at else written
                if shown and not (stopped and stop_at == len(text)):
                    token = self._token(request, shown, len(text), logprob)
                    if request.attention:
                        token = replace(token, attention=_row(seen))
                        seen.append(_after(seen, shown))
                    token = replace(token, hidden_state=_state(request, len(text)))
                    yield token
                    text += shown
                if stopped or count == request.max_tokens:
                    reason = FinishReason.STOP if stopped else FinishReason.LENGTH
                    break
            ended = reason is FinishReason.END_OF_SEQUENCE
            yield GenerationEnd(
                reason,
                prompt_tokens,
                count,
                attention=_row(seen) if ended and request.attention else (),
                hidden_state=_state(request, len(text)) if ended else (),
            )
        finally:
            self.closed += 1

    async def attend(self, request: AttendRequest) -> Attention:
        if self._attention is not None:
            return self._attention(request)
        if Capability.ATTENTION not in self._model.capabilities:
            raise CapabilityMissing(f"{self._model.model} gives no attention")
        prompt, text = _tokens(request.prompt), _tokens(request.prompt + request.text)
        first = next((at for at, token in enumerate(text) if token.end > len(request.prompt)), 0)
        rows = tuple(_row(text[: at + 1]) for at in range(first, len(text)))
        before = first if prompt else 0
        if request.attention is AttentionKind.MEAN_HEADS:
            return Attention(text, before, rows)
        if request.ended:
            rows = (*rows, _row((*text, _after(text, "</s>"))))
        received = (max(row[at] for row in rows[at - first :]) for at in range(first, len(text)))
        return Attention(text, before, received=tuple(received))

    async def compute_logprobs(self, request: LogprobsRequest) -> TextLogprobs:
        if Capability.TEXT_LOGPROBS not in self._model.capabilities:
            raise CapabilityMissing(
                f"{self._model.model} gives no log-probabilities of given texts"
            )
        tokens = tuple(
            replace(token, logprob=-0.1 * len(token.text), named=_named(request, token.text, -1.0))
            for token in _tokens(request.text)
        )
        return TextLogprobs(tokens, len(request.prompt.split()))

    async def release_answer(self, answer_id: str) -> None:
        self.released.append(answer_id)

    async def describe_model(self) -> ModelDescription:
        return self._model

    def _pieces(self, request: GenerateRequest) -> Iterable[Piece | Exception]:
        if callable(self._script):
            return self._script(request)
        so_far = request.prompt + request.prefix
        if so_far not in self._script:
            raise LookupError(f"the script has nothing to follow {so_far!r}")
        return self._script[so_far]

    def _stop_at(self, request: GenerateRequest) -> int | None:
        """Return the start of the first stop string in the text of the script."""
        if not request.stop:
            return None
        text = ""
        for piece, _ in zip(self._pieces(request), range(request.max_tokens), strict=False):
            if isinstance(piece, Exception):
                break
            text += piece[0]
        found = [at for stop in request.stop if (at := text.find(stop)) >= 0]
        return min(found, default=None)

    def _token(
        self, request: GenerateRequest, text: str, start: int, logprob: float | None
    ) -> Token:
        number = self._ids.setdefault(text, len(self._ids))
        top = (TopToken(number, text, logprob or 0.0),) if request.top_tokens else ()
        white_box = Capability.ENTROPY in self._model.capabilities
        entropy = -2.0 * logprob if white_box and logprob is not None else None
        named = _named(request, text, logprob)
        return Token(number, text, start, start + len(text), logprob, entropy, top, named=named)


def _named(
    request: GenerateRequest | LogprobsRequest, text: str, logprob: float | None
) -> tuple[TopToken, ...]:
    return tuple(
        TopToken(0, name, logprob if name == text and logprob is not None else -9.0)
        for name in request.named_tokens
    )


def _state(request: GenerateRequest, written: int) -> tuple[float, ...]:
    if request.hidden_layer is None:
        return ()
    return (float(request.hidden_layer), float(len(request.prompt + request.prefix) + written))


def _tokens(text: str) -> tuple[Token, ...]:
    """Return the words of a text, with the space before them, as tokens."""
    found = re.finditer(r"\s*\S+|\s+", text)
    return tuple(Token(0, match[0], match.start(), match.end()) for match in found)


def _after(seen: Sequence[Token], text: str) -> Token:
    end = seen[-1].end if seen else 0
    return Token(0, text, end, end + len(text))


def _row(seen: Sequence[Token]) -> tuple[float, ...]:
    """Return what the last token pays: to each character by its distance from the end, modulo 11.

    In whole units of 2 ** -40, so that a word gets exactly the same however tokens divide it.
    """

    def within(distance: int) -> int:
        return distance // 11 * 66 + sum(range(distance % 11 + 1))

    end = seen[-1].end if seen else 0
    total = within(end) or 1

    def units(distance: int) -> int:
        return (within(distance) << 40) // total

    return tuple((units(end - token.start) - units(end - token.end)) / 2**40 for token in seen)


class ScriptedScorer:
    """A scorer with a function of the sentence, or a mapping from words (0 for others)."""

    def __init__(
        self, script: Callable[[ScoreRequest], Sequence[float]] | Mapping[str, float]
    ) -> None:
        self._script = script
        self.requests: list[ScoreRequest] = []

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        check_requests(requests)
        self.requests.extend(requests)
        return tuple(self._score(request) for request in requests)

    async def describe_model(self) -> ScorerDescription:
        return ScorerDescription("scripted", "1", "fake", max_pair_tokens=512)

    def _score(self, request: ScoreRequest) -> tuple[float, ...]:
        if callable(self._script):
            return tuple(self._script(request))
        return tuple(self._script.get(word, 0.0) for word in request.words)


class ScriptedAnswerer:
    """An answerer that validates requests, and yields the events of a script.

    ``delay_s`` is the delay before each event. An exception among the events is raised at its
    position.
    """

    def __init__(
        self,
        script: Callable[[AnswerRequest], Iterable[AnswerEvent | Exception]],
        *,
        delay_s: float = 0.0,
    ) -> None:
        self._script = script
        self._delay_s = delay_s
        self.requests: list[AnswerRequest] = []
        self.opened = 0
        self.closed = 0

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events of the script."""
        validate(request)
        self.requests.append(request)
        self.opened += 1
        try:
            for event in self._script(request):
                await asyncio.sleep(self._delay_s)
                if isinstance(event, Exception):
                    raise event
                yield event
                if request.provenance_only:
                    return
        finally:
            self.closed += 1


class InMemoryRetriever:
    """A retriever in memory. The score of a passage is its number of words of the query."""

    def __init__(
        self,
        indexes: Mapping[str, Sequence[Passage]] | None = None,
        *,
        fields: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self._indexes = {name: list(passages) for name, passages in (indexes or {}).items()}
        self._fields = dict(fields or {})
        self.requests: list[RetrieveRequest] = []

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        for position, query in enumerate(request.queries):
            if not query.strip():
                raise InvalidRequest.of(f"queries[{position}]", "must not be empty")
        if not 1 <= request.top_k <= 100:
            raise InvalidRequest.of("top_k", f"must be 1 to 100, not {request.top_k}")
        wrong = [*wrong_filters(request.filters), *wrong_excluded(request.excluded_ids)]
        wrong += wrong_scored(request.queries, score_all=request.score_all)
        wrong += wrong_stages(request)
        if wrong:
            raise InvalidRequest(wrong)
        passages = self._passages(request.index)
        declared = self._fields.get(request.index, ())
        check_declared(request.filters, declared, index=request.index)
        mode_of(request, await self.describe_index(request.index))
        self.requests.append(request)
        fitting = [
            each
            for each in passages
            if fits(each.metadata, request.filters) and each.id not in request.excluded_ids
        ]
        results = tuple(_best(query, fitting)[: request.top_k] for query in request.queries)
        if request.score_all:
            found = {each.id for result in results for each in result}
            every = [each for each in fitting if each.id in found]
            results = tuple(_best(query, every, least=0) for query in request.queries)
        return RetrieveResult(request.index, _version(passages, declared), results)

    async def get_passage(self, request: PassageRequest) -> PassageInContext:
        validate_passage(request)
        passages = self._passages(request.index)
        version = _version(passages, self._fields.get(request.index, ()))
        for before, passage, after in zip(
            (None, *passages), passages, (*passages[1:], None), strict=False
        ):
            if passage.id == request.id:
                return PassageInContext.between(request.index, version, before, passage, after)
        raise NotFound.of_passage(request.index, request.id)

    async def index_passages(
        self,
        index: str,
        passages: AsyncIterable[Passage],
        *,
        mode: IndexMode = IndexMode.CREATE,
        metadata_fields: Sequence[str] = (),
        dense: DenseSettings | None = None,
    ) -> IndexResult:
        if dense:
            raise CapabilityMissing("a retriever in memory has no encoder")
        check_index_name(index)
        if mode is IndexMode.CREATE and index in self._indexes:
            raise AlreadyExists(f"there is an index {index!r}", index=index)
        declared = check_fields(metadata_fields)
        upsert = mode is IndexMode.UPSERT
        if upsert and index in self._indexes:
            declared = unchanged_fields(index, self._fields.get(index, ()), declared=declared)
        found: dict[str, Passage] = {}
        async for passage in passages:
            for field in ("id", "text"):
                if not getattr(passage, field).strip():
                    raise InvalidRequest.of(f"passages[{len(found)}].{field}", "must not be empty")
            wrong = [
                *metadata_violations(passage.metadata),
                *undeclared_fields(passage.id, passage.metadata, declared),
            ]
            if wrong:
                field = f"passages[{len(found)}].{wrong[0].field}"
                raise InvalidRequest.of(field, wrong[0].description)
            if passage.id in found:
                text = f"{passage.id!r} was seen before"
                raise InvalidRequest.of(f"passages[{len(found)}].id", text)
            found[passage.id] = passage
        if not found:
            raise InvalidRequest.of("passages", "must be at least one")
        old = {each.id: each for each in self._indexes.get(index, ())} if upsert else {}
        replaced = len(old.keys() & found.keys())
        self._indexes[index] = list((old | found).values())
        self._fields[index] = declared
        return IndexResult(await self.describe_index(index), len(found) - replaced, replaced)

    async def delete_passages(self, index: str, passage_ids: Sequence[str]) -> int:
        before = self._passages(index)
        self._indexes[index] = [each for each in before if each.id not in passage_ids]
        return len(before) - len(self._indexes[index])

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        return tuple([await self.describe_index(name) for name in sorted(self._indexes)])

    async def describe_index(self, index: str) -> IndexDescription:
        passages = self._passages(index)
        declared = self._fields.get(index, ())
        return IndexDescription(
            name=index,
            version=_version(passages, declared),
            passages=len(passages),
            engine="in_memory",
            k1=0.0,
            b=0.0,
            created="1970-01-01T00:00:00Z",
            size_bytes=sum(len(passage.text.encode()) for passage in passages),
            metadata_fields=declared,
            content=_version(sorted(passages, key=lambda each: each.id), ()),
        )

    async def verify_index(self, index: str) -> IndexVerification:
        described = await self.describe_index(index)
        check = IndexCheck("passages", f"{described.passages:,} are there", passed=True)
        return IndexVerification(index, described.version, (check,))

    async def drop_index(self, index: str) -> None:
        self._passages(index)
        del self._indexes[index]
        self._fields.pop(index, None)

    def _passages(self, index: str) -> list[Passage]:
        if index not in self._indexes:
            raise NotFound(f"there is no index {index!r}", index=index)
        return self._indexes[index]


def _version(passages: Sequence[Passage], declared: Sequence[str]) -> str:
    return hashlib.sha256(repr((passages, declared)).encode()).hexdigest()[:12]


def _best(
    query: str, passages: Sequence[Passage], *, least: int = 1
) -> tuple[RetrievedPassage, ...]:
    wanted = _words(query)
    found = [
        RetrievedPassage(each.id, each.title, each.text, float(score), 0, each.metadata)
        for each in passages
        if (score := len(wanted & _words(f"{each.title} {each.text}"))) >= least
    ]
    found.sort(key=lambda each: (-each.score, each.id))
    return tuple(replace(each, rank=rank) for rank, each in enumerate(found, start=1))


def _words(text: str) -> set[str]:
    return {word.strip(".,;:!?\"'()").casefold() for word in text.split()} - {""}
