"""The tables of the system page: services and their readiness, models, settings of the console."""

from collections.abc import Sequence
from dataclasses import dataclass

from scaar.console.data_tables import Cell, Column, DataTable, Mark, data_table
from scaar.console.number_text import count
from scaar.core.types import ModelDescription, OrchestratorDescription, ScorerDescription

_FACTS = (Column("Fact", "What is stated."), Column("Value", "Its value."))
_SERVICES = (
    Column("Service", "The service."),
    Column("State", "Whether the service reports that it can do its work now (gRPC health)."),
    Column("Target", "The target of the console's channel."),
    Column("Pages", "The pages that need the service."),
)
_SETTINGS = (
    Column("Setting", "The variable of the environment."),
    Column("Value", "The value in effect."),
)


@dataclass(frozen=True, slots=True)
class ServiceState:
    """A service that the console calls. ``target`` is empty if none is configured."""

    name: str
    target: str
    serving: bool
    pages: str


def service_table(services: Sequence[ServiceState]) -> DataTable:
    """Return the services with their readiness."""
    rows = [
        (
            Cell(each.name),
            Cell(marks=(_state(each),)),
            Cell(each.target or "none", code=bool(each.target)),
            Cell(each.pages),
        )
        for each in services
    ]
    return data_table("Services", _SERVICES, rows)


def description_tables(described: OrchestratorDescription, console: str) -> tuple[DataTable, ...]:
    """Return the versions, the language model and the scorer. ``console`` is its version."""
    versions = [
        ("Console", Cell(console)),
        ("Orchestrator", Cell(described.version or "unknown")),
        ("Default policy", Cell(described.default_policy or "none")),
        ("Gate (digest)", Cell(described.gate_revision or "none", code=True)),
        ("Sentence filter (digest)", Cell(described.sentence_filter_digest or "none", code=True)),
    ]
    return (
        _facts("Versions", versions),
        _model(described.model),
        _scorer(described.scorer),
    )


def settings_table(settings: Sequence[tuple[str, str]]) -> DataTable:
    """Return settings by variable."""
    rows = [
        (Cell(name, code=True), Cell(value or "empty", foreign=True)) for name, value in settings
    ]
    return data_table("Settings", _SETTINGS, rows)


def _state(service: ServiceState) -> Mark:
    if not service.target:
        return Mark("not configured", "warn")
    return Mark("ready", "good") if service.serving else Mark("not ready", "bad")


def _model(model: ModelDescription) -> DataTable:
    limit = model.max_concurrent_generations
    facts = [
        ("Model", Cell(model.model, foreign=True)),
        ("Revision", Cell(model.revision or "unknown", code=True)),
        ("Engine", Cell(model.engine)),
        ("Capabilities", Cell(", ".join(sorted(model.capabilities)) or "none")),
        ("Logprobs", Cell(model.logprob_kind.value)),
        ("Context (tokens)", count(model.max_total_tokens)),
        ("Prompt profile", Cell(model.prompt_profile)),
        ("Concurrent generations", Cell("unknown") if limit is None else count(limit)),
    ]
    return _facts("Language model", facts)


def _scorer(scorer: ScorerDescription) -> DataTable:
    facts = [
        ("Model", Cell(scorer.model, foreign=True)),
        ("Revision", Cell(scorer.revision or "unknown", code=True)),
        ("Engine", Cell(scorer.engine)),
        ("Pair of texts (tokens)", count(scorer.max_pair_tokens)),
    ]
    return _facts("Contribution scorer", facts)


def _facts(caption: str, facts: Sequence[tuple[str, Cell]]) -> DataTable:
    return data_table(caption, _FACTS, [(Cell(name), value) for name, value in facts])
