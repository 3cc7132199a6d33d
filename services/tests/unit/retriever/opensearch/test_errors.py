import pytest

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    InvalidRequest,
    NotFound,
    Overloaded,
    ScaarError,
)
from scaar.retriever.opensearch.errors import condition, kind_of

SECRET = "a passage's own words"


@pytest.mark.parametrize(
    ("status", "kind", "error", "reported"),
    [
        (
            401,
            "",
            CapabilityMissing,
            "rejects the user or the password: correct SCAAR_RETRIEVER_OPENSEARCH",
        ),
        (403, "security_exception", CapabilityMissing, "does not allow this user to load it"),
        (403, "cluster_block_exception", CapabilityMissing, "is read-only and cannot load it"),
        # A full disk is reported with the status of an overload.
        (429, "cluster_block_exception", CapabilityMissing, "is read-only and cannot load it"),
        (429, "rejected_execution_exception", Overloaded, "is overloaded and cannot load it now"),
        (404, "index_not_found_exception", NotFound, "cannot load it: not found"),
        (500, "x", BackendUnavailable, r"cannot load it now: status 500 \(x\)"),
        (503, "", BackendUnavailable, "cannot load it now: status 503"),
        (400, "index_closed_exception", CapabilityMissing, "cannot load it, which is closed"),
        (
            400,
            "too_many_clauses",
            InvalidRequest,
            "queries: must not have more distinct words than",
        ),
        (400, "mapper_parsing_exception", ScaarError, "refused to load it: status 400"),
    ],
)
def test_a_status_becomes_a_condition(
    status: int, kind: str, error: type[ScaarError], reported: str
) -> None:
    found = condition(status, kind, "load it")
    assert type(found) is error
    with pytest.raises(error, match=reported):
        raise found


def test_only_the_type_of_the_innermost_cause_is_returned() -> None:
    def caused(kind: str, **inner: object) -> dict[str, object]:
        return {"type": kind, "reason": SECRET, **inner}

    shard = {"reason": caused("query_shard_exception", caused_by=caused("too_many_clauses"))}
    info = {
        "error": caused(
            "search_phase_execution_exception",
            root_cause=[caused("query_shard_exception")],
            failed_shards=[shard],
        ),
        "status": 400,
    }
    assert kind_of(info) == "too_many_clauses"
    assert kind_of({"error": caused("x", failed_shards=[])}) == "x"
    assert kind_of({"error": SECRET}) == ""
    assert kind_of(SECRET) == kind_of(None) == ""
    assert SECRET not in condition(400, kind_of({"error": caused("y")}), "load it").message
