"""The tables of policies: what each does, its settings with their sources, and its artefact."""

import enum
from collections.abc import Sequence
from dataclasses import fields
from urllib.parse import quote, urlencode

from scaar.console.data_tables import NOTHING, Cell, Column, DataTable, Mark, data_table
from scaar.console.number_text import count, decimal, decimal_text, percent
from scaar.core.policies.settings import SETTINGS
from scaar.core.types import (
    ArtefactDescription,
    EffectivePolicy,
    Interval,
    Moment,
    PolicyDescription,
    QuerySettings,
    SettingSource,
)

_QUERY_SETTINGS = SETTINGS.keys() & {each.name for each in fields(QuerySettings)}
_MOMENTS = {
    Moment.BEFORE_ANSWER: "once, before the first sentence",
    Moment.BEFORE_SENTENCE: "before every sentence",
    Moment.BEFORE_WINDOW: "before every window of tokens",
    Moment.UNCERTAIN_DRAFT: "for every uncertain draft",
    Moment.AFTER_ANSWER: "after an answer, which is then written again",
    Moment.ON_REQUEST: "when the model requests a search",
    Moment.ON_REFLECTION: "when the model's reflection tokens request passages",
}
SOURCES = {
    SettingSource.PAPER: "the method's paper, or its authors' code",
    SettingSource.DEFAULT: "the project's own choice",
    SettingSource.MODEL: "the recommendation of the model",
    SettingSource.REQUEST: "the request",
    SettingSource.GATE: "the gate, by its file or its default",
    SettingSource.ARTEFACT: "the artefact of the tuned policy",
}
_NAME = Column("Policy", "The name by which requests select the policy.")
_SERVED = Column(
    "Served",
    "Whether model and orchestrator have what the policy needs.",
)
_THETA = Column(
    "Theta", "Threshold of the trigger; its range and direction depend on the trigger.", number=True
)
PUBLISHED = (
    _NAME,
    _SERVED,
    Column("Retrieves", "When an answer retrieves."),
    Column("Trigger", "Rule that decides whether a draft is uncertain."),
    _THETA,
    Column("Query", "Query formulation: what is searched for."),
    Column("Passages", "Maximum number of passages of a retrieval.", "top_k", number=True),
    Column("Uses", "The services that the policy calls besides the model."),
)
TUNED = (
    _NAME,
    _SERVED,
    Column("Starts from", "The published policy whose settings were tuned."),
    _THETA,
    Column(
        "Expected searches",
        "Mean number of searches of an answer on the questions that the policy was tuned on.",
        "per answer",
        number=True,
    ),
    Column(
        "Expected trigger rate",
        "Share of the judged drafts that triggered a retrieval on those questions.",
        "%",
        number=True,
    ),
    Column(
        "Quality",
        "Quality on those questions with its 95% interval, and the measure.",
        number=True,
    ),
    Column("Questions", "Number of questions that the policy was tuned on.", number=True),
    Column("Differences", "Differences between the tuning's model, scorer and index and today's."),
)
SETTING_COLUMNS = (
    Column("Setting", "The name of the setting in requests."),
    Column("Value", "The value that a request without overrides runs with."),
    Column("Source", "Where the value comes from."),
    Column("Values", "The valid values, with their unit."),
    Column("Meaning", "The effect of the setting."),
)
FACTS = (Column("Fact", "What is stated."), Column("Value", "Its value."))


def policy_href(name: str) -> str:
    """Return the path of the page of a policy."""
    return f"/policies/{quote(name, safe='')}"


def ask_href(name: str) -> str:
    """Return the path of the form for a question, with a policy chosen."""
    return f"/?{urlencode({'policy': name})}"


def published_table(policies: Sequence[PolicyDescription]) -> DataTable:
    """Return the table of the published policies."""
    rows = [_published(each) for each in policies if each.artefact is None]
    return data_table("Published policies", PUBLISHED, rows)


def tuned_table(policies: Sequence[PolicyDescription]) -> DataTable:
    """Return the table of the tuned policies."""
    rows = [_tuned(each, each.artefact) for each in policies if each.artefact is not None]
    return data_table("Tuned policies", TUNED, rows)


def settings_table(described: PolicyDescription) -> DataTable:
    """Return the settings that have an effect or that a request can override."""
    sources = dict(described.policy.sources)
    rows = []
    # Settings without an effect come last.
    names = sorted(SETTINGS.keys() & set(described.settings), key=list(SETTINGS).index)
    for name in sorted(names, key=lambda each: each not in sources):
        setting, source = SETTINGS[name], sources.get(name)
        note = SOURCES[source] if source is not None else "with the other settings"
        value = value_text(setting_value(described.policy, name))
        unit = setting.unit if setting.limit is not None and value not in ("", "–") else ""
        rows.append(
            (
                Cell(name, code=True),
                Cell(f"{value} {unit}".strip()),
                Cell("no effect" if source is None else source.value, note=note),
                Cell(setting.range_text),
                Cell(setting.meaning.replace("`", "")),
            )
        )
    return data_table(f"Settings of {described.name}", SETTING_COLUMNS, rows)


def artefact_table(artefact: ArtefactDescription) -> DataTable:
    """Return the facts of an artefact: its origin, its expected cost and its quality."""
    on, figures, risk = artefact.tuned_on, artefact.development, artefact.risk
    facts = [
        ("Digest", Cell(artefact.digest, code=True)),
        ("Starts from", Cell(artefact.policy, href=policy_href(artefact.policy))),
        ("Model", Cell(_with(on.model, on.model_revision), foreign=True)),
        ("Prompt profile", Cell(on.prompt_profile or "unknown")),
        ("Scorer", Cell(_with(on.scorer, on.scorer_revision) or "none used", foreign=True)),
        ("Index", Cell(_with(on.index, on.index_version) or "none used", foreign=True)),
        ("Labels of drafts", Cell(artefact.label_kind.value)),
        ("Questions", count(figures.questions)),
        ("Compared policies", count(figures.candidates)),
        ("Quality", Cell(_quality(artefact))),
        ("Optimism (inner minus outer estimate)", decimal(figures.optimism, 3, sign="+")),
        ("Expected searches per answer", decimal(artefact.expected.searches_per_answer)),
        ("Expected trigger rate (%)", percent(artefact.expected.trigger_rate)),
    ]
    if risk is not None:
        facts += [
            ("Maximum risk (%)", percent(risk.max_risk)),
            ("Confidence (%)", percent(1 - risk.delta)),
            ("Risk on the calibration split (%)", percent(risk.risk)),
            ("Calibration answers", count(risk.answers)),
            ("Wrong drafts caught (%)", percent(risk.caught)),
            ("Right drafts that retrieve (%)", percent(risk.false_alarms)),
        ]
    return data_table("Artefact", FACTS, [(Cell(name), value) for name, value in facts])


def moments_text(policy: EffectivePolicy) -> str:
    """Return when a policy retrieves."""
    return "; ".join(_MOMENTS[each] for each in policy.moments) or "never"


def setting_value(policy: EffectivePolicy, name: str) -> object:
    """Return the value of a setting of a policy."""
    if name == "query":
        return policy.query.formulation
    return getattr(policy.query if name in _QUERY_SETTINGS else policy, name)


def value_text(value: object) -> str:
    """Return the text of a value of a setting."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, enum.Enum):
        return str(value.value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def missing_text(described: PolicyDescription) -> str:
    """Return what model and orchestrator lack for a policy; empty if they lack nothing."""
    lacking = (
        ("model lacks", [each.value for each in described.missing_capabilities]),
        ("orchestrator lacks the", [name.replace("_", " ") for name in described.missing_files]),
    )
    return "; ".join(f"the {who} {', '.join(names)}" for who, names in lacking if names)


def served_cell(described: PolicyDescription) -> Cell:
    """Return whether a policy can be served."""
    missing = missing_text(described)
    if missing:
        return Cell(marks=(Mark("no", "bad"),), note=missing)
    return Cell(marks=(Mark("yes", "good"),))


def _published(described: PolicyDescription) -> tuple[Cell, ...]:
    policy = described.policy
    return (
        Cell(described.name, href=policy_href(described.name)),
        served_cell(described),
        Cell(moments_text(policy)),
        Cell(policy.trigger, code=True) if policy.trigger else Cell("none"),
        Cell(f"{policy.theta:g}") if policy.trigger else NOTHING,
        Cell(policy.query.formulation, code=True) if described.uses_retriever else NOTHING,
        count(policy.top_k) if described.uses_retriever else NOTHING,
        Cell(_uses(described)),
    )


def _tuned(described: PolicyDescription, artefact: ArtefactDescription) -> tuple[Cell, ...]:
    differences = tuple(Mark("differs", "warn") for _ in artefact.mismatches[:1])
    return (
        Cell(described.name, href=policy_href(described.name), foreign=True),
        served_cell(described),
        Cell(artefact.policy, href=policy_href(artefact.policy)),
        Cell(f"{described.policy.theta:g}") if described.policy.trigger else NOTHING,
        decimal(artefact.expected.searches_per_answer),
        percent(artefact.expected.trigger_rate),
        Cell(_quality(artefact)),
        count(artefact.development.questions),
        Cell("; ".join(artefact.mismatches) or "none", marks=differences, foreign=True),
    )


def _uses(described: PolicyDescription) -> str:
    used = {"scorer": described.uses_scorer, "retriever": described.uses_retriever}
    return ", ".join(name for name, used in used.items() if used) or "nothing"


def _quality(artefact: ArtefactDescription) -> str:
    quality, measure = artefact.development.quality, artefact.development.measure
    return "no labels" if quality is None else f"{interval_text(quality)} {measure}".strip()


def interval_text(interval: Interval) -> str:
    """Return ``0.940 [0.920, 0.960]``."""
    value, low, high = (
        decimal_text(each, 3) for each in (interval.value, interval.low, interval.high)
    )
    return f"{value} [{low}, {high}]"


def _with(name: str, revision: str) -> str:
    return f"{name} ({revision})" if name and revision else name
