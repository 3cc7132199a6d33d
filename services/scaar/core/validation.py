"""Validation of requests before any work."""

import re
from collections.abc import Collection

from scaar.core.errors import InvalidRequest, Violation, shown
from scaar.core.filters import MAX_ID_CHARACTERS, wrong_excluded, wrong_filters
from scaar.core.policies.checks import check_policy, is_known
from scaar.core.policies.settings import MAX_TOP_K
from scaar.core.search_stages import wrong_stages
from scaar.core.text.sentence_counts import count_sentences
from scaar.core.text.sentences import split_sentences
from scaar.core.types import (
    DEFAULT_POLICY,
    AnswerRequest,
    BudgetLimits,
    JudgeDraftRequest,
    Message,
    MessageRole,
    PassageRequest,
    SearchRequest,
)
from scaar.core.types.retrieval import MAX_QUERY_CHARACTERS

MAX_QUESTION_CHARACTERS = 131_072
MAX_MESSAGES = 256
MAX_IGNORED = 64
MAX_MESSAGE_CHARACTERS = 131_072
MAX_CONVERSATION_CHARACTERS = 131_072
MAX_DRAFT_CHARACTERS = 8_000
MAX_ACCEPTED_CHARACTERS = 32_768
MAX_REQUEST_ID_CHARACTERS = 128
MAX_SENTENCES = 100
MAX_TOKENS = 8_192
MAX_RETRIEVALS = 100
MAX_TIMEOUT_S = 3_600.0

INDEX_NAME_RULE = "must be 1 to 64 of a-z, 0-9, '.', '_' and '-', starting with a letter or digit"

_INDEX_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
OPTIONAL_INDEX_NAME = rf"^({_INDEX_NAME.pattern})?$"
"""Regular expression of the name of an index, or of no name."""
# The Unicode categories Cc and Cs, except tabs and line breaks.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def validate(request: AnswerRequest, *, remote: bool = False, tuned: Collection[str] = ()) -> None:
    """Pass a request whose fields are within their limits.

    A ``remote`` request can name policies, triggers, queries and gates that only the service has.
    ``tuned`` are the names of tuned policies, for the error of an unknown name.

    Raises:
        InvalidRequest: naming every wrong field and its limit.
    """
    if wrong := _violations(request, remote=remote, tuned=tuned):
        raise InvalidRequest(wrong)


def validate_draft(
    request: JudgeDraftRequest, *, remote: bool = False, tuned: Collection[str] = ()
) -> None:
    """Pass a request to judge a draft whose fields are within their limits, as :func:`validate`.

    Raises:
        InvalidRequest: naming every wrong field and its limit.
    """
    wrong = _violations(request.for_answer(), remote=remote, tuned=tuned)
    draft = _check_size("draft", request.draft, MAX_DRAFT_CHARACTERS)
    draft += _check_size("accepted", request.accepted, MAX_ACCEPTED_CHARACTERS)
    draft = draft or check_text("draft", request.draft)
    if request.accepted and not draft:
        draft += check_text("accepted", request.accepted)
    accepted = request.accepted
    sentences = count_sentences(
        (*split_sentences(accepted), *split_sentences(request.draft.rstrip(), accepted))
    )
    if not draft and sentences > (limit := request.budget.max_sentences):
        text = f"must have at most {limit} sentences together with accepted, not {sentences}"
        draft.append(Violation("draft", f"{text}: set budget.max_sentences, or send fewer"))
    if wrong := [*wrong, *draft]:
        raise InvalidRequest(wrong)


def _violations(request: AnswerRequest, *, remote: bool, tuned: Collection[str]) -> list[Violation]:
    policy = request.policy
    # The default policy of an orchestrator is not known here.
    checked = is_known(policy) or not (remote or policy == DEFAULT_POLICY)
    wrong = [
        *(_check_messages(request) if request.messages else _check_question(request.question)),
        *(check_policy(policy, tuned) if checked else ()),
        *_check_budget(request.budget),
        *_check_request_id(request.request_id),
        *wrong_filters(request.filters),
    ]
    if request.index and not is_index_name(request.index):
        wrong.append(_index_name_violation("index", request.index))
    return wrong


def validate_search(request: SearchRequest) -> None:
    """Pass a search whose fields are within their limits.

    Raises:
        InvalidRequest: naming every wrong field and its limit.
    """
    wrong = []
    if len(request.query) > MAX_QUERY_CHARACTERS:
        text = f"must have at most {MAX_QUERY_CHARACTERS:,} characters, not {len(request.query):,}"
        wrong.append(Violation("query", text))
    else:
        wrong += check_text("query", request.query)
    if request.index and not is_index_name(request.index):
        wrong.append(_index_name_violation("index", request.index))
    if not 1 <= request.top_k <= MAX_TOP_K:
        wrong.append(Violation("top_k", f"must be 1 to {MAX_TOP_K}, not {request.top_k}"))
    wrong += wrong_filters(request.filters)
    wrong += wrong_excluded(request.excluded_ids)
    wrong += wrong_stages(request)
    if wrong:
        raise InvalidRequest(wrong)


def validate_passage(request: PassageRequest) -> None:
    """Pass a request for a passage whose fields are within their limits.

    Raises:
        InvalidRequest: naming every wrong field and its limit.
    """
    wrong = []
    if request.index and not is_index_name(request.index):
        wrong.append(_index_name_violation("index", request.index))
    if not 1 <= len(request.id) <= MAX_ID_CHARACTERS:
        text = f"must have 1 to {MAX_ID_CHARACTERS} characters, not {len(request.id):,}"
        wrong.append(Violation("id", text))
    if wrong:
        raise InvalidRequest(wrong)


def is_index_name(name: str) -> bool:
    """Return whether the name is valid for an index, and so for its folder."""
    return _INDEX_NAME.fullmatch(name) is not None


def check_index_name(name: str, *, field: str = "index") -> None:
    """Validate the name of an index.

    Raises:
        InvalidRequest: the name is invalid.
    """
    if not is_index_name(name):
        raise InvalidRequest((_index_name_violation(field, name),))


def check_text(field: str, text: str) -> list[Violation]:
    """Return the violations of a text: empty, control characters, or unpaired surrogates."""
    if not text.strip():
        return [Violation(field, "must not be empty")]
    if found := _CONTROL.search(text):
        code = f"U+{ord(found[0]):04X}"
        return [Violation(field, f"holds the control character {code} at {found.start()}")]
    return []


def _index_name_violation(field: str, name: str) -> Violation:
    return Violation(field, f"{INDEX_NAME_RULE}, not {name[:80]!r}")


def _check_messages(request: AnswerRequest) -> list[Violation]:
    messages = request.messages
    if request.question:
        return [Violation("question", "must be empty if messages are given")]
    if len(messages) > MAX_MESSAGES:
        text = f"must have at most {MAX_MESSAGES} messages, not {len(messages)}"
        return [Violation("messages", text)]
    if (characters := sum(len(each.content) for each in messages)) > MAX_CONVERSATION_CHARACTERS:
        text = f"must have at most {MAX_CONVERSATION_CHARACTERS:,} characters, not {characters:,}"
        return [Violation("messages", text)]
    wrong = []
    for number, message in enumerate(messages):
        if number > 0 and message.role is MessageRole.SYSTEM:
            text = "only the first message may be of the system"
            wrong.append(Violation(f"messages[{number}].role", text))
        wrong += _check_message(f"messages[{number}].content", message)
    last = f"messages[{len(messages) - 1}]"
    if messages[-1].role is not MessageRole.USER:
        wrong.append(Violation(f"{last}.role", "the last message must be of the user"))
    elif not wrong:
        wrong += _check_question(messages[-1].content, field=f"{last}.content")
    return wrong


def _check_message(field: str, message: Message) -> list[Violation]:
    return _check_size(field, message.content, MAX_MESSAGE_CHARACTERS) or check_text(
        field, message.content
    )


def _check_size(field: str, text: str, limit: int) -> list[Violation]:
    if len(text) <= limit:
        return []
    return [Violation(field, f"must have at most {limit:,} characters, not {len(text):,}")]


def _check_question(question: str, *, field: str = "question") -> list[Violation]:
    return _check_size(field, question, MAX_QUESTION_CHARACTERS) or check_text(field, question)


def _check_budget(limits: BudgetLimits) -> list[Violation]:
    timeout_s = MAX_TIMEOUT_S if limits.timeout_s is None else limits.timeout_s
    checks = (
        ("max_sentences", limits.max_sentences, 1 <= limits.max_sentences <= MAX_SENTENCES),
        ("max_tokens", limits.max_tokens, 1 <= limits.max_tokens <= MAX_TOKENS),
        ("max_retrievals", limits.max_retrievals, 0 <= limits.max_retrievals <= MAX_RETRIEVALS),
        ("timeout_s", timeout_s, 0 < timeout_s <= MAX_TIMEOUT_S),
    )
    ranges = {
        "max_sentences": f"1 to {MAX_SENTENCES}",
        "max_tokens": f"1 to {MAX_TOKENS}",
        "max_retrievals": f"0 to {MAX_RETRIEVALS}",
        "timeout_s": f"in (0, {MAX_TIMEOUT_S:g}]",
    }
    return [
        Violation(f"budget.{name}", f"must be {ranges[name]}, not {shown(value)}")
        for name, value, fits in checks
        if not fits
    ]


def _check_request_id(request_id: str) -> list[Violation]:
    fits = request_id.isascii() and (request_id.isprintable() or not request_id)
    if len(request_id) > MAX_REQUEST_ID_CHARACTERS or not fits:
        limit = f"must be at most {MAX_REQUEST_ID_CHARACTERS} printable ASCII characters"
        return [Violation("request_id", limit)]
    return []
