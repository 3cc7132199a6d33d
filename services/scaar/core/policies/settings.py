"""The settings of policies: one table, read by checks, provenance, command line and docs.

A setting is a field of :class:`~scaar.core.types.PolicyOverrides`, on the wire a field of the same
name. Its value is that of the request, else the model's recommendation, else the default.
"""

import enum
from collections.abc import Callable, Collection, Mapping
from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import Any

from scaar.core.gates import GATES
from scaar.core.policies.preset import Preset
from scaar.core.queries import FORMULATIONS
from scaar.core.queries.formulation import FormulationRule
from scaar.core.queries.next_hop import NEXT_HOP
from scaar.core.queries.pseudo_passage import PSEUDO_PASSAGE
from scaar.core.queries.question import QUESTION
from scaar.core.queries.uncovered_question import UNCOVERED_QUESTION
from scaar.core.registry import Names, Registry
from scaar.core.search_stages import MAX_RERANK_DEPTH
from scaar.core.triggers import TRIGGERS
from scaar.core.types import (
    AttentionSpan,
    EvidenceKind,
    ExcludeSeen,
    FirstSearch,
    Fusion,
    Granularity,
    Moment,
    Rerank,
    RerankSettings,
    SearchDialect,
    SearchMode,
    SentenceFilter,
    SettingSource,
    Truncation,
    WordOrder,
)

MAX_TOP_K = 100
MIN_COUNT = 20


@dataclass(frozen=True, slots=True)
class Combination:
    """What decides whether a setting has an effect, and its default."""

    trigger: str | None
    query: str
    gate: str | None = None
    attention_span: AttentionSpan = AttentionSpan.SENTENCE
    rerank: Rerank = Rerank.NONE


@dataclass(frozen=True, slots=True)
class Limit:
    """The valid values of a number: (0, ``maximum``], or 1 to ``maximum`` if it is whole."""

    maximum: int
    whole: bool = False

    def holds(self, value: float) -> bool:
        """Return whether the value is valid."""
        return (1 if self.whole else 0) <= value <= self.maximum and value > 0

    def __str__(self) -> str:
        return f"1 to {self.maximum}" if self.whole else f"in (0, {self.maximum}]"


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of a default, for the given policies, triggers or queries.

    ``paper`` is a value that a method's paper, or its authors' code, states; ``default`` is the
    project's own choice. An origin that names none of the three is for all that no origin before
    it names.
    """

    source: SettingSource
    reason: str
    _: KW_ONLY
    policies: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()

    def covers(self, policy: str, given: Combination) -> bool:
        """Return whether the origin is that of a policy's default."""
        return not (self.policies or self.triggers or self.queries) or (
            policy in self.policies or given.trigger in self.triggers or given.query in self.queries
        )


@dataclass(frozen=True, slots=True)
class PolicySetting:
    """One setting.

    ``kind`` is the type of a value; ``limit`` and ``unit`` are those of a number, except that the
    limit of theta is the trigger's; the values of a setting with a ``registry`` are its names.
    ``accepted_by`` returns whether a policy accepts the setting, ``default`` its value if neither
    request nor model gives one; ``default_text`` describes a default that the policy alone does not
    decide. The setting has an effect with ``triggers``, ``queries``, ``gates``, ``spans`` of the
    attention and ``reranks`` only, if they are given. A model may recommend a ``recommendable``
    setting. Settings of an evaluation that differ only in ``tuned`` ones are candidates of one
    policy variant.
    """

    name: str
    meaning: str
    _: KW_ONLY
    kind: type[float | int | bool | str]
    accepted_by: Callable[[Preset], bool]
    default: Callable[[Preset, Combination], Any]
    default_text: str = ""
    origins: tuple[Origin, ...] = ()
    limit: Limit | None = None
    unit: str = ""
    registry: Registry[Any] | None = None
    triggers: Collection[str] = ()
    queries: Collection[str] = ()
    gates: Collection[str] = ()
    spans: Collection[AttentionSpan] = ()
    reranks: Collection[Rerank] = ()
    recommendable: bool = False
    tuned: bool = False

    @property
    def range_text(self) -> str:
        """The valid values and their unit; without those that installed packages add."""
        if self.limit is not None:
            whole, maximum = self.limit.whole, self.limit.maximum
            return f"{f'1 to {maximum:,}' if whole else f'(0, {maximum}]'} {self.unit}".strip()
        if self.registry is not None:
            return ", ".join(self.registry.built_in)
        if issubclass(self.kind, enum.StrEnum):
            return ", ".join(self.kind)
        return "true or false" if self.kind is bool else "the trigger's"

    def source(self, policy: str, given: Combination) -> SettingSource:
        """Return the source of a policy's default."""
        return next(each.source for each in self.origins if each.covers(policy, given))

    def idle(self, given: Combination) -> str:
        """Return what makes the setting ineffective; empty if it has an effect."""
        if self.triggers and given.trigger is not None and given.trigger not in self.triggers:
            return f"trigger {given.trigger}"
        if self.queries and given.query not in self.queries:
            return f"query {given.query}"
        if self.spans and given.attention_span not in self.spans:
            return f"attention_span {given.attention_span}"
        if self.reranks and given.rerank not in self.reranks:
            return f"rerank {given.rerank}"
        return "no gate" if self.gates and given.gate not in self.gates else ""


def adjustable(preset: Preset) -> frozenset[str]:
    """Return the settings that a policy accepts."""
    return frozenset(name for name, each in SETTINGS.items() if each.accepted_by(preset))


def idle(given: Combination) -> dict[str, str]:
    """Return the settings without effect, each with the query, trigger or gate that ignores it."""
    return {name: reason for name, each in SETTINGS.items() if (reason := each.idle(given))}


def _judges(preset: Preset) -> bool:
    return Moment.UNCERTAIN_DRAFT in preset.moments


def _has_trigger(preset: Preset) -> bool:
    return preset.trigger is not None


def _repeats(preset: Preset) -> bool:
    return not {Moment.BEFORE_ANSWER, Moment.ON_REQUEST}.issuperset(preset.moments)


def _retrieves(preset: Preset) -> bool:
    return bool(preset.moments)


def _on_request(preset: Preset) -> bool:
    return Moment.ON_REQUEST in preset.moments


def _reflects(preset: Preset) -> bool:
    return Moment.ON_REFLECTION in preset.moments


def _includes_question(preset: Preset, given: Combination) -> bool:
    if given.query == preset.query.formulation:
        return preset.query.include_question
    return FORMULATIONS[given.query].includes_question


_PAPER, _OWN = SettingSource.PAPER, SettingSource.DEFAULT
_FLARE_REFERENCE = ("flare_reference",)
_FLARE_CONFIGURATION = "the configuration of FLARE's authors for 2WikiMultihopQA"
_BY_WORD = Names(TRIGGERS, lambda rule: rule.by_word)
_SPARING = Names(
    TRIGGERS, lambda rule: rule.by_word and EvidenceKind.WORD_CLASSES not in rule.needs
)


_SPANNING = Names(TRIGGERS, lambda rule: rule.attention_span is not None)


def _using(setting: str) -> Names[FormulationRule]:
    """Return the query formulations that use a setting."""
    return Names(FORMULATIONS, lambda rule: setting in rule.settings)


SETTING_ROWS = (
    PolicySetting(
        "trigger",
        "Rule that decides whether a draft is uncertain, and therefore when to retrieve.",
        kind=str,
        registry=TRIGGERS,
        accepted_by=_judges,
        default=lambda preset, given: preset.trigger,
        default_text="the policy's",
        origins=(Origin(_PAPER, "each method's paper"),),
    ),
    PolicySetting(
        "theta",
        "Threshold of the trigger: a higher theta retrieves more often if the trigger compares "
        "probabilities, and less often otherwise.",
        kind=float,
        accepted_by=_has_trigger,
        default=lambda preset, given: (
            TRIGGERS[given.trigger].theta.default if given.trigger else 0.0
        ),
        default_text="the trigger's",
        origins=(
            Origin(_PAPER, _FLARE_CONFIGURATION, policies=_FLARE_REFERENCE),
            Origin(
                _PAPER,
                "middle of SCAAR's range of 0.7 to 0.9",
                triggers=("flare", "exp_raw"),
            ),
            Origin(
                _PAPER,
                "within DRAGIN's range of 0.75 to 1.5",
                triggers=("rind", "rind_reference"),
            ),
            Origin(
                _PAPER,
                "the authors' configuration for IIRC",
                triggers=("etc_reference",),
            ),
            Origin(
                _PAPER,
                "QuCo-RAG: two entities never occur together",
                triggers=("corpus_counts",),
            ),
            Origin(
                _PAPER,
                "the default of DTR's code",
                triggers=("surprisal_mean",),
            ),
            Origin(_OWN, "the papers tune it by data set, or there is none"),
        ),
        recommendable=True,
        tuned=True,
    ),
    PolicySetting(
        "min_count",
        "Number of occurrences in the corpus below which the only entity of a sentence makes the "
        "sentence uncertain.",
        kind=int,
        accepted_by=_judges,
        default=lambda preset, given: MIN_COUNT,
        origins=(Origin(_PAPER, "the code of QuCo-RAG's authors"),),
        limit=Limit(10**9, whole=True),
        unit="occurrences",
        triggers=Names(TRIGGERS, lambda rule: EvidenceKind.CORPUS_COUNTS in rule.needs),
        tuned=True,
    ),
    PolicySetting(
        "theta_cap",
        "Maximum threshold of a word after weighting by its contribution.",
        kind=float,
        accepted_by=_judges,
        default=lambda preset, given: preset.theta_cap,
        origins=(Origin(_PAPER, "SCAAR Eq. 3 as printed: no threshold is capped below 1"),),
        limit=Limit(1),
        triggers=Names(TRIGGERS, lambda rule: rule.uses_theta_cap),
        tuned=True,
    ),
    PolicySetting(
        "granularity",
        "Unit that the trigger compares with the threshold.",
        kind=Granularity,
        accepted_by=_judges,
        default=lambda preset, given: (
            preset.granularity if given.trigger == preset.trigger else Granularity.WORD
        ),
        default_text="`token` for `flare_reference`, `word` for the others",
        origins=(
            Origin(_PAPER, "the code of FLARE's authors", policies=_FLARE_REFERENCE),
            Origin(_PAPER, "SCAAR Eq. 4 and 5", triggers=("flare", "exp_raw")),
            Origin(
                _PAPER,
                "the code of DRAGIN's and ETC's authors",
                triggers=("rind", "rind_reference", "etc_reference"),
            ),
            Origin(_OWN, "ETC prints tokens; for the other triggers there is no paper"),
        ),
        triggers=_BY_WORD,
    ),
    PolicySetting(
        "spare_stop_words",
        "Whether stop words never count as uncertain.",
        kind=bool,
        accepted_by=_judges,
        default=lambda preset, given: bool(
            given.trigger and TRIGGERS[given.trigger].spares_stop_words
        ),
        default_text="true for `rind`",
        origins=(
            Origin(
                _OWN,
                "the trigger is the project's own",
                triggers=("surprisal", "attention"),
            ),
            Origin(_PAPER, "DRAGIN Eq. 4; FLARE and SCAAR judge every word"),
        ),
        triggers=_SPARING,
    ),
    PolicySetting(
        "attention_span",
        "Text over which the attention to a word is taken: the sentence, or the whole draft, which "
        "the model then writes on before a sentence is judged.",
        kind=AttentionSpan,
        accepted_by=_judges,
        default=lambda preset, given: given.attention_span,
        default_text="`draft` for `rind_reference`, `sentence` for the others",
        origins=(
            Origin(_OWN, "the trigger is the project's own", triggers=("attention",)),
            Origin(_PAPER, "DRAGIN Eq. 3; for `rind_reference` the authors' code"),
        ),
        triggers=_SPANNING,
    ),
    PolicySetting(
        "draft_tokens",
        "Maximum length of a draft over which attention is taken; a longer draft ends with the "
        "judged sentence.",
        kind=int,
        accepted_by=_judges,
        default=lambda preset, given: 128,
        origins=(Origin(_PAPER, "the largest of the authors' configurations, 64 to 128"),),
        limit=Limit(1024, whole=True),
        unit="tokens",
        triggers=_SPANNING,
        spans=(AttentionSpan.DRAFT,),
    ),
    PolicySetting(
        "truncate",
        "Part of an uncertain draft that is rewritten: the sentence, or its text from the "
        "triggering word on.",
        kind=Truncation,
        accepted_by=_judges,
        default=lambda preset, given: Truncation.SENTENCE,
        origins=(
            Origin(
                _PAPER,
                "FLARE and SCAAR 3.4; the code of DRAGIN's authors",
                policies=("flare", "flare_reference", "scaar", "dragin_reference"),
            ),
            Origin(_OWN, "DRAGIN (Eq. 6) and ETC print `token`; for the others there is no paper"),
        ),
    ),
    PolicySetting(
        "judge_conclusion",
        "Whether a draft with the answer phrase is judged like any other, and not just accepted.",
        kind=bool,
        accepted_by=_judges,
        default=lambda preset, given: True,
        default_text="true; false for a model that was trained to conclude, such as the lab's",
        origins=(
            Origin(
                _PAPER,
                "the code of FLARE's and DRAGIN's authors",
                policies=("flare", "flare_reference", "dragin", "dragin_reference"),
            ),
            Origin(_OWN, "a short answer may have no other sentence"),
        ),
    ),
    PolicySetting(
        "query",
        "Query formulation, which decides what to search for.",
        kind=str,
        registry=FORMULATIONS,
        accepted_by=_repeats,
        default=lambda preset, given: preset.query.formulation,
        default_text="the policy's",
        origins=(
            Origin(
                _OWN,
                "AdaRAGUE retrieves once, for the question",
                policies=("mean_entropy", "perplexity"),
            ),
            Origin(_PAPER, "each method's paper"),
        ),
    ),
    PolicySetting(
        "include_question",
        "Whether the query starts with the question.",
        kind=bool,
        accepted_by=_repeats,
        default=_includes_question,
        default_text="true for `pfq`, `fused`, `bridged`, `iter_retgen` and `self_rag`",
        origins=(
            Origin(_PAPER, "the query of ITER-RETGEN", policies=("iter_retgen",)),
            Origin(_PAPER, "Self-RAG Algorithm 1", policies=("self_rag",)),
            Origin(
                _OWN,
                "no paper, or its code puts the question first",
                queries=("content_words", "full_context"),
            ),
            Origin(_PAPER, "SCAAR Algorithm 1; the other papers leave it out"),
        ),
        queries=Names(
            FORMULATIONS,
            lambda rule: rule not in (QUESTION, UNCOVERED_QUESTION, PSEUDO_PASSAGE, NEXT_HOP),
        ),
    ),
    PolicySetting(
        "alpha",
        "Share of the draft's words that the query can use, those with the largest contributions; "
        "uncertain words are dropped.",
        kind=float,
        accepted_by=_judges,
        default=lambda preset, given: preset.query.alpha,
        origins=(Origin(_OWN, "SCAAR tunes it by data set"),),
        limit=Limit(100),
        unit="percent",
        queries=_using("alpha"),
        recommendable=True,
        tuned=True,
    ),
    PolicySetting(
        "mask_below",
        "Probability below which a word counts as uncertain in the query, whatever the trigger; "
        "triggers that judge whole sentences mark no word.",
        kind=float,
        accepted_by=_judges,
        default=lambda preset, given: preset.mask_below,
        default_text="0.4 for `flare_reference`; for the others, the words that the trigger finds "
        "uncertain",
        limit=Limit(1),
        queries=Names(FORMULATIONS, lambda rule: rule.masks),
        tuned=True,
    ),
    PolicySetting(
        "word_order",
        "Order of the words in the query: that of the draft, or the largest contribution first.",
        kind=WordOrder,
        accepted_by=_judges,
        default=lambda preset, given: preset.query.word_order,
        origins=(Origin(_OWN, "SCAAR Algorithm 1 prints `contribution`"),),
        queries=_using("alpha"),
        tuned=True,
    ),
    PolicySetting(
        "top_words",
        "Number of words in the query, those with the most attention.",
        kind=int,
        accepted_by=_judges,
        default=lambda preset, given: preset.query.top_words,
        origins=(Origin(_PAPER, "DRAGIN's lowest value of 25 to 40"),),
        limit=Limit(256, whole=True),
        unit="words",
        queries=_using("top_words"),
        tuned=True,
    ),
    PolicySetting(
        "last_n_tokens",
        "Number of accepted tokens in the query, the last ones.",
        kind=int,
        accepted_by=_repeats,
        default=lambda preset, given: preset.query.last_n_tokens,
        origins=(Origin(_PAPER, "DRAGIN's query of FL-RAG"),),
        limit=Limit(1024, whole=True),
        unit="tokens",
        queries=_using("last_n_tokens"),
        tuned=True,
    ),
    PolicySetting(
        "top_k",
        "Maximum number of passages of a retrieval.",
        kind=int,
        accepted_by=_retrieves,
        default=lambda preset, given: preset.top_k,
        default_text="2 for `flare_reference`, 3 for the others",
        origins=(
            Origin(_PAPER, _FLARE_CONFIGURATION, policies=_FLARE_REFERENCE),
            Origin(_PAPER, "SCAAR and DRAGIN"),
        ),
        limit=Limit(MAX_TOP_K, whole=True),
        unit="passages per query",
        recommendable=True,
        tuned=True,
    ),
    PolicySetting(
        "first_search",
        "What is searched for before the first sentence: the question, or the question and then "
        "what it still asks for, in passages whose title is mentioned.",
        kind=FirstSearch,
        accepted_by=lambda preset: Moment.BEFORE_ANSWER in preset.moments,
        default=lambda preset, given: FirstSearch.QUESTION,
        origins=(Origin(_PAPER, "the papers search for the question"),),
        tuned=True,
    ),
    PolicySetting(
        "window_tokens",
        "Length of a window; the policy retrieves before every window.",
        kind=int,
        accepted_by=lambda preset: Moment.BEFORE_WINDOW in preset.moments,
        default=lambda preset, given: preset.window_tokens,
        origins=(Origin(_OWN, "fits the retrieval counts of DRAGIN's Table 2"),),
        limit=Limit(1024, whole=True),
        unit="tokens",
        tuned=True,
    ),
    PolicySetting(
        "max_passages",
        "Maximum number of passages that accumulate over an answer; the oldest are dropped first.",
        kind=int,
        accepted_by=lambda preset: preset.max_passages > 0,
        default=lambda preset, given: preset.max_passages,
        default_text="2 for `flare_reference`, 12 for `verified`, 15 for `ircot`",
        origins=(
            Origin(
                _PAPER,
                "passages replace earlier ones, as in the code of FLARE's authors",
                policies=_FLARE_REFERENCE,
            ),
            Origin(_OWN, "keeps the passages within a prompt"),
        ),
        limit=Limit(100, whole=True),
        unit="passages",
        tuned=True,
    ),
    PolicySetting(
        "rounds",
        "Number of rounds: in every round the answer is written again, from the passages for the "
        "question and the previous answer.",
        kind=int,
        accepted_by=lambda preset: Moment.AFTER_ANSWER in preset.moments and preset.trigger is None,
        default=lambda preset, given: preset.rounds,
        origins=(Origin(_OWN, "as in FlashRAG's pipeline"),),
        limit=Limit(10, whole=True),
        unit="rounds",
        tuned=True,
    ),
    PolicySetting(
        "dialect",
        "Tags in which the model requests searches, and the prompt that explains them.",
        kind=SearchDialect,
        accepted_by=_on_request,
        default=lambda preset, given: SearchDialect.SEARCH_R1,
        origins=(Origin(_OWN, "the tags of the model that answers"),),
    ),
    PolicySetting(
        "max_searches",
        "Maximum number of searches that the model can request, made or not.",
        kind=int,
        accepted_by=_on_request,
        default=lambda preset, given: 5,
        origins=(Origin(_OWN, "as in FlashRAG's pipelines"),),
        limit=Limit(50, whole=True),
        unit="searches",
        tuned=True,
    ),
    PolicySetting(
        "skip_above",
        "Smallest probability of a query's tokens from which the requested search is skipped.",
        kind=float,
        accepted_by=_on_request,
        default=lambda preset, given: None,
        default_text="no search is skipped",
        limit=Limit(1),
        tuned=True,
    ),
    PolicySetting(
        "retrieve_above",
        "Probability of `[Retrieval]`, as a share of `[Retrieval]` and `[No Retrieval]`, above "
        "which passages are retrieved before a segment.",
        kind=float,
        accepted_by=_reflects,
        default=lambda preset, given: 0.2,
        origins=(Origin(_PAPER, "the threshold of most of Self-RAG's experiments"),),
        limit=Limit(1),
        tuned=True,
    ),
    PolicySetting(
        "exclude_seen",
        "Passages that later retrievals of the answer exclude: `seen`, all that the model has "
        "read; `unhelpful`, those after which the rewritten sentence was still uncertain.",
        kind=ExcludeSeen,
        accepted_by=_repeats,
        default=lambda preset, given: preset.exclude_seen,
        default_text="`seen` for `verified`, `none` for the others",
        origins=(
            Origin(_OWN, "the policy is the project's own", policies=("verified",)),
            Origin(_PAPER, "no paper or code excludes passages"),
        ),
    ),
    PolicySetting(
        "sentence_filter",
        "Sentences of the retrieved passages that reach the prompt: all, or those that a fitted "
        "filter finds useful.",
        kind=SentenceFilter,
        accepted_by=_retrieves,
        default=lambda preset, given: preset.sentence_filter,
        default_text="`learned` for `filco`, `none` for the others",
        origins=(Origin(_PAPER, "FILCO; no other paper filters sentences"),),
    ),
    PolicySetting(
        "fusion",
        "Order of the passages that two queries find: by reciprocal rank, by the cosine of the sum "
        "of their angles to both queries, or by the sum of these cosines. `angles` and `sum` need "
        "an index of vectors by inner product.",
        kind=Fusion,
        accepted_by=_repeats,
        default=lambda preset, given: preset.fusion,
        default_text="`angles` for `dtr`, `sum` for `dtr_reference`, `rank` for the others",
        origins=(
            Origin(_PAPER, "DTR as printed, and its code", policies=("dtr", "dtr_reference")),
            Origin(_OWN, "no other paper fuses the results of two queries"),
        ),
        queries=Names(FORMULATIONS, lambda rule: rule.fused_with is not None),
    ),
    PolicySetting(
        "search_mode",
        "How the index is searched: as it was built, by words (BM25), by vectors, or by both, "
        "fused by reciprocal rank. The index must have been built for the mode.",
        kind=SearchMode,
        accepted_by=_retrieves,
        default=lambda preset, given: SearchMode.INDEX,
        origins=(Origin(_PAPER, "the papers search their index in one way"),),
        tuned=True,
    ),
    PolicySetting(
        "rerank",
        "Order of the passages that a retrieval finds: that of the search, or by relevance "
        "according to the retriever's cross-encoder.",
        kind=Rerank,
        accepted_by=_retrieves,
        default=lambda preset, given: Rerank.NONE,
        origins=(Origin(_PAPER, "no paper of these policies reranks"),),
        tuned=True,
    ),
    PolicySetting(
        "rerank_depth",
        "Number of the best passages of a query that the cross-encoder reads; `top_k` if that is "
        "more.",
        kind=int,
        accepted_by=_retrieves,
        default=lambda preset, given: RerankSettings().depth,
        origins=(Origin(_PAPER, "no paper of these policies reranks"),),
        limit=Limit(MAX_RERANK_DEPTH, whole=True),
        unit="passages per query",
        reranks=(Rerank.CROSS_ENCODER,),
        tuned=True,
    ),
    PolicySetting(
        "gate",
        "Rule that decides whether the policy may retrieve for the question.",
        kind=str,
        registry=GATES,
        accepted_by=_retrieves,
        default=lambda preset, given: preset.gate,
        default_text="`quco` for `quco`, none for the others",
    ),
    PolicySetting(
        "gate_threshold",
        "Judgement of the gate from which the policy may retrieve for a question.",
        kind=float,
        accepted_by=_retrieves,
        default=lambda preset, given: None,
        default_text="the gate's",
        limit=Limit(1),
        gates=Names(GATES, lambda read: True),
    ),
)

SETTINGS: Mapping[str, PolicySetting] = MappingProxyType({each.name: each for each in SETTING_ROWS})

RECOMMENDED = tuple(name for name, each in SETTINGS.items() if each.recommendable)
"""The settings that can be recommended for a model."""

TUNED = tuple(name for name, each in SETTINGS.items() if each.tuned)
"""The settings of which an evaluation compares values as candidates of one policy variant."""
