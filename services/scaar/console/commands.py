"""An answer as a command and as a call that ask the same question again."""

import json
import shlex

from scaar.core.types import AnswerForm, AnswerRequest
from scaar.wire.orchestrator import request_to_json

_METHOD = "scaar.v1.OrchestratorService/Answer"


def ask_command(request: AnswerRequest, target: str) -> str:
    """Return the command that asks the question of a request; empty for a conversation."""
    if not request.question:
        return ""
    words = ["scaar", "ask", request.question, "--index", request.index]
    if request.policy.label:
        words += ["--policy", request.policy.label]
    for name, value in request.policy.overrides.given().items():
        words += ["--set", f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"]
    for each in request.filters:
        words += ["--filter", f"{each.field}={','.join(each.values)}"]
    if request.answer is not AnswerForm.TEXT:
        words += ["--answer", request.answer]
    return shlex.join([*words, "--address", _address(target)])


def grpc_call(request: AnswerRequest, target: str) -> str:
    """Return the call of grpcurl that asks the question of a request."""
    data = json.dumps(request_to_json(request), ensure_ascii=False)
    return f"grpcurl -plaintext -d {shlex.quote(data)} {shlex.quote(_address(target))} {_METHOD}"


def _address(target: str) -> str:
    return target.removeprefix("dns:///")
