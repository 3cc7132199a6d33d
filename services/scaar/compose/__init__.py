"""The composition root: opens ports at targets, and builds the loop over them.

A target is ``embedded`` or the gRPC target of a running service (``dns:///host:port``). A laptop
and the process of an orchestrator differ in their targets only. An engine is imported where it is
opened, so that a process needs only the libraries of its own engines.
"""

from scaar.compose.access import with_access_rules, with_filter_limits
from scaar.compose.answerers import (
    open_answerer,
    open_answerers,
    open_catalog,
    open_orchestrator,
    tuned_policies_of,
)
from scaar.compose.databases import (
    default_records_database,
    evaluator_broker,
    evaluator_database,
    records_database,
)
from scaar.compose.defaults import can_index_vectors, default_index_name, missing_scorer
from scaar.compose.evaluators import (
    FOLDER,
    check_folder_target,
    open_evaluator,
    open_hosted_evaluator,
)
from scaar.compose.indexes import (
    ensure_default_indexes_in,
    ensure_lab_index,
    ensure_lab_index_in,
    index_place,
    indexes_are_local,
    lab_index_name,
    open_embedded_indexes,
    open_indexes,
    open_retriever,
    reranker_folder,
    with_breaker,
)
from scaar.compose.loop import (
    OrchestratorFiles,
    build_catalog,
    build_loop,
    needs_of,
    open_control_loops,
    open_counts,
    open_files,
    open_gate,
    read_filter,
    read_policies,
)
from scaar.compose.models import build_model_store, resolve_model
from scaar.compose.ports import (
    open_differentiable,
    open_generator,
    open_ports,
    open_query_builder,
    open_scorer,
)
from scaar.compose.records import open_recorder, open_records, open_stored_records
from scaar.compose.scorer_check import check_scorer, policy_with_contributions
from scaar.compose.targets import EMBEDDED, read_breakers, scaar_home
from scaar.core.distributions import LAB_SEED

__all__ = [
    "EMBEDDED",
    "FOLDER",
    "LAB_SEED",
    "OrchestratorFiles",
    "build_catalog",
    "build_loop",
    "build_model_store",
    "can_index_vectors",
    "check_folder_target",
    "check_scorer",
    "default_index_name",
    "default_records_database",
    "ensure_default_indexes_in",
    "ensure_lab_index",
    "ensure_lab_index_in",
    "evaluator_broker",
    "evaluator_database",
    "index_place",
    "indexes_are_local",
    "lab_index_name",
    "missing_scorer",
    "needs_of",
    "open_answerer",
    "open_answerers",
    "open_catalog",
    "open_control_loops",
    "open_counts",
    "open_differentiable",
    "open_embedded_indexes",
    "open_evaluator",
    "open_files",
    "open_gate",
    "open_generator",
    "open_hosted_evaluator",
    "open_indexes",
    "open_orchestrator",
    "open_ports",
    "open_query_builder",
    "open_recorder",
    "open_records",
    "open_retriever",
    "open_scorer",
    "open_stored_records",
    "policy_with_contributions",
    "read_breakers",
    "read_filter",
    "read_policies",
    "records_database",
    "reranker_folder",
    "resolve_model",
    "scaar_home",
    "tuned_policies_of",
    "with_access_rules",
    "with_breaker",
    "with_filter_limits",
]
