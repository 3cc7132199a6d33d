"""JSON of chunks and models in each dialect."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from scaar.core.types import ModelDescription, Token
from scaar.generator.engines.openai_server.dialects import Dialect, DialectName
from scaar.lab_servers.openai_wire import Json

_CREATED = 1_700_000_000
_OWNERS = {
    "generic": "lab",
    "openai": "system",
    "vllm": "vllm",
    "sglang": "sglang",
    "llama_cpp": "llamacpp",
}


@dataclass(frozen=True, slots=True)
class ReportedToken:
    """A reported token: ``shown`` is the token alone, ``text`` the text that it adds."""

    shown: str
    text: str
    token: Token

    @property
    def bytes(self) -> list[int]:
        """Bytes of the token; the first byte of an incomplete character."""
        return list(self.text.encode()) or ([0xF0] if self.token.text == "" else [])


class Layout:
    """JSON layout of one stream in a dialect; counts the length of the text.

    ``ends_apart``: the finish reason is sent in a chunk of its own. ``reports_end``: the
    end-of-sequence token is among the tokens. ``no_logprob`` represents a log-probability of -inf.
    """

    def __init__(self, dialect: Dialect, model: str, *, chat: bool, logprobs: bool) -> None:
        self.dialect = dialect
        self._model = model
        self._chat = chat
        self._logprobs = logprobs
        self._offset = 0
        self.ends_apart = dialect.name in ("generic", "openai", "llama_cpp")
        self.reports_end = dialect.name in ("vllm", "sglang")
        self.no_logprob = -sys.float_info.max if dialect.name == "llama_cpp" else -9999.0

    def chunk(
        self,
        text: str,
        reported: Sequence[ReportedToken],
        *,
        reason: str | None = None,
        first: bool = False,
    ) -> Json:
        """Return a chunk with its text and tokens; ``first`` opens a chat."""
        logprobs = self._logprobs_json(reported) if self._logprobs and reported else None
        choice: Json = {"index": 0, "logprobs": logprobs, "finish_reason": reason}
        if self._chat:
            choice["delta"] = {"role": "assistant", "content": ""} if first else {"content": text}
        else:
            choice["text"] = text
        self._offset += len(text)
        return {**self._head(), "choices": [choice]}

    def thought(self, text: str, reported: ReportedToken) -> Json:
        """Return a chunk with a thought, whose token is reported as those of the answer are."""
        chunk = self.chunk("", [reported])
        name = "reasoning" if self.dialect.name in ("vllm", "generic") else "reasoning_content"
        chunk["choices"][0]["delta"] = {name: text}
        return chunk

    def usage(self, prompt_tokens: int, generated: int, *, thinking: int = 0) -> Json:
        """Return the last chunk, which has no choice."""
        usage = {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": generated,
            "total_tokens": prompt_tokens + generated,
        }
        details = {"completion_tokens_details": {"reasoning_tokens": thinking}}
        hidden = details if self.dialect.name == "openai" else {}
        return {**self._head(), "choices": [], "usage": usage | hidden}

    def _head(self) -> Json:
        kind = "chat.completion.chunk" if self._chat else "text_completion"
        return {"id": "lab", "object": kind, "created": _CREATED, "model": self._model}

    def _logprobs_json(self, reported: Sequence[ReportedToken]) -> Json:
        if self._chat or self.dialect.name == "llama_cpp":
            return {"content": [self._content(each) for each in reported]}
        known = self.dialect.name != "sglang"
        offsets, offset = [], self._offset
        for each in reported:
            offsets.append(offset if known else -1)
            offset += len(each.text)
        return {
            "tokens": [each.shown for each in reported],
            "token_logprobs": [each.token.logprob for each in reported],
            "top_logprobs": [
                {top.text: top.logprob for top in each.token.top} or None for each in reported
            ],
            "text_offset": offsets,
        }

    def _content(self, reported: ReportedToken) -> Json:
        likely = [
            {"token": top.text, "logprob": top.logprob, "bytes": list(top.text.encode())}
            for top in reported.token.top
        ]
        content: Json = {
            "token": reported.shown if reported.text else "\\xf0",
            "logprob": reported.token.logprob,
            "bytes": reported.bytes,
            "top_logprobs": likely,
        }
        return {"id": reported.token.id, **content} if self.dialect.name == "llama_cpp" else content


def models_json(name: DialectName, model: ModelDescription, max_total_tokens: int) -> Json:
    """Return the list of models, which has one model."""
    entry: Json = {"id": model.model, "object": "model", "created": _CREATED}
    entry["owned_by"] = _OWNERS[name]
    match name:
        case "vllm" | "sglang":
            entry |= {"root": model.model, "max_model_len": max_total_tokens}
        case "llama_cpp":
            entry["meta"] = {"n_ctx": max_total_tokens, "n_ctx_train": model.max_total_tokens}
    return {"object": "list", "data": [entry]}
