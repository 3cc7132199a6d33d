"""What crosses the generator's port."""

import math
from collections.abc import Sequence
from typing import assert_never

from scaar.core.types import (
    AttendRequest,
    Attention,
    ContinuationKind,
    GenerateRequest,
    GenerationEnd,
    GenerationEvent,
    GenerationStart,
    ModelDescription,
    RecommendedSettings,
    Token,
    TopToken,
)
from scaar.v1 import generator_pb2 as pb
from scaar.wire.messages.enums import (
    CAPABILITY,
    CONTINUATION_KIND,
    FINISH_REASON,
    LOGPROB_KIND,
)
from scaar.wire.messages.fields import carried_int, carried_text, finite, finite_or_none

_MAX_TOKENS = GenerateRequest("").max_tokens


def generate_request_to_pb(request: GenerateRequest) -> pb.GenerateRequest:
    return pb.GenerateRequest(
        prompt=carried_text("prompt", request.prompt),
        prefix=carried_text("prefix", request.prefix),
        prefix_token_ids=request.prefix_token_ids,
        max_tokens=carried_int("max_tokens", request.max_tokens),
        stop=[carried_text("stop", each) for each in request.stop],
        top_tokens=carried_int("top_tokens", request.top_tokens),
        attention=request.attention,
    )


def generate_request_from_pb(message: pb.GenerateRequest) -> GenerateRequest:
    return GenerateRequest(
        prompt=message.prompt,
        prefix=message.prefix,
        prefix_token_ids=tuple(message.prefix_token_ids),
        max_tokens=message.max_tokens if message.HasField("max_tokens") else _MAX_TOKENS,
        stop=tuple(message.stop),
        top_tokens=message.top_tokens,
        attention=message.attention,
    )


def generation_event_to_pb(event: GenerationEvent) -> pb.GenerateResponse:
    match event:
        case GenerationStart(prompt_tokens, tokens):
            start = pb.GenerationStart(
                prompt_tokens=prompt_tokens, tokens=[token_to_pb(token) for token in tokens]
            )
            return pb.GenerateResponse(start=start)
        case Token():
            return pb.GenerateResponse(token=token_to_pb(event))
        case GenerationEnd(finish_reason, prompt_tokens, generated_tokens, attention):
            end = pb.GenerationEnd(
                finish_reason=FINISH_REASON.to_pb(finish_reason),
                prompt_tokens=prompt_tokens,
                generated_tokens=generated_tokens,
                attention=attention,
            )
            return pb.GenerateResponse(end=end)
        case _:
            assert_never(event)


def generation_event_from_pb(message: pb.GenerateResponse) -> GenerationEvent | None:
    """The event; None for one that this version does not know."""
    match message.WhichOneof("event"):
        case "start":
            tokens = tuple(token_from_pb(token) for token in message.start.tokens)
            return GenerationStart(message.start.prompt_tokens, tokens)
        case "token":
            return token_from_pb(message.token)
        case "end":
            end = message.end
            return GenerationEnd(
                finish_reason=FINISH_REASON.from_pb(end.finish_reason, "end.finish_reason"),
                prompt_tokens=end.prompt_tokens,
                generated_tokens=end.generated_tokens,
                attention=_attention("end.attention", end.attention),
            )
        case None:
            return None


def token_to_pb(token: Token) -> pb.Token:
    message = pb.Token(id=token.id, text=token.text, start=token.start, end=token.end)
    # A prompt's tokens come by the thousand and have no more than that.
    if token.logprob is not None:
        message.logprob = token.logprob
    if token.entropy is not None:
        message.entropy = token.entropy
    if token.top:
        message.top.extend(
            pb.TopToken(id=top.id, text=top.text, logprob=top.logprob) for top in token.top
        )
    if token.attention:
        message.attention.extend(token.attention)
    return message


def token_from_pb(message: pb.Token) -> Token:
    return Token(
        id=message.id,
        text=message.text,
        start=message.start,
        end=message.end,
        logprob=finite_or_none(message.logprob) if message.HasField("logprob") else None,
        entropy=finite_or_none(message.entropy) if message.HasField("entropy") else None,
        top=tuple(TopToken(top.id, top.text, top.logprob) for top in message.top)
        if message.top
        else (),
        attention=_attention("token.attention", message.attention) if message.attention else (),
    )


def _attention(field: str, weights: Sequence[float]) -> tuple[float, ...]:
    found = tuple(weights)
    # A row has a weight for every token read: its sum tells at once that each is a number.
    if not math.isfinite(sum(found)):
        for weight in found:
            finite(field, weight)
    return found


def attend_request_to_pb(request: AttendRequest) -> pb.AttendRequest:
    return pb.AttendRequest(
        prompt=carried_text("prompt", request.prompt),
        text=carried_text("text", request.text),
        text_token_ids=request.text_token_ids,
    )


def attend_request_from_pb(message: pb.AttendRequest) -> AttendRequest:
    return AttendRequest(message.prompt, message.text, tuple(message.text_token_ids))


def attention_to_pb(attention: Attention) -> pb.Attention:
    return pb.Attention(
        tokens=[token_to_pb(token) for token in attention.tokens],
        prompt_tokens=attention.prompt_tokens,
        rows=[pb.AttentionRow(weights=row) for row in attention.weights],
    )


def attention_from_pb(message: pb.Attention) -> Attention:
    return Attention(
        tokens=tuple(token_from_pb(token) for token in message.tokens),
        prompt_tokens=message.prompt_tokens,
        weights=tuple(_attention("rows.weights", row.weights) for row in message.rows),
    )


def model_to_pb(model: ModelDescription) -> pb.ModelDescription:
    return pb.ModelDescription(
        model=model.model,
        revision=model.revision,
        engine=model.engine,
        logprob_kind=LOGPROB_KIND.to_pb(model.logprob_kind),
        capabilities=[CAPABILITY.to_pb(each) for each in sorted(model.capabilities)],
        max_total_tokens=model.max_total_tokens,
        prompt_profile=model.prompt_profile,
        recommended=[
            pb.RecommendedSettings(
                policy=each.policy, theta=each.theta, alpha=each.alpha, top_k=each.top_k
            )
            for each in model.recommended
        ],
        continuation=CONTINUATION_KIND.to_pb(model.continuation),
        max_concurrent_generations=model.max_concurrent_generations,
    )


def model_from_pb(message: pb.ModelDescription) -> ModelDescription:
    return ModelDescription(
        model=message.model,
        revision=message.revision,
        engine=message.engine,
        logprob_kind=LOGPROB_KIND.from_pb(message.logprob_kind, "logprob_kind"),
        capabilities=frozenset(
            CAPABILITY.from_pb(each, "capabilities") for each in message.capabilities
        ),
        max_total_tokens=message.max_total_tokens,
        prompt_profile=message.prompt_profile,
        recommended=tuple(
            RecommendedSettings(
                policy=each.policy,
                theta=finite("recommended.theta", each.theta) if each.HasField("theta") else None,
                alpha=finite("recommended.alpha", each.alpha) if each.HasField("alpha") else None,
                top_k=each.top_k if each.HasField("top_k") else None,
            )
            for each in message.recommended
        ),
        # An engine of before it could be told goes on from the very text.
        continuation=(
            CONTINUATION_KIND.from_pb(message.continuation, "continuation")
            if message.continuation
            else ContinuationKind.NATIVE
        ),
        max_concurrent_generations=(
            message.max_concurrent_generations
            if message.HasField("max_concurrent_generations")
            else None
        ),
    )
