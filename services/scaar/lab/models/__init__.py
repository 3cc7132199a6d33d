"""The lab's trained models, each in a checkpoint folder with its training report."""

from pathlib import Path

LAB_LM = "lab-lm"
LAB_LM_B = "lab-lm-b"
LAB_LM_CONFIDENT = "lab-lm-confident"
LAB_LM_FORMS = "lab-lm-forms"
LAB_LM_FORMS_B = "lab-lm-forms-b"
LAB_CROSS_ENCODER = "lab-cross-encoder"

LANGUAGE_MODELS = (LAB_LM, LAB_LM_B, LAB_LM_CONFIDENT)
"""Language models of the same shape. The last one is overconfident on purpose."""

LAB_MEANING_ENCODER = "lab-meaning-encoder"
"""Cross-encoder of pairs labelled as same or other meaning, of another grammar and lexicon."""

FORM_MODELS = (LAB_LM_FORMS, LAB_LM_FORMS_B)
"""Language models of sentence forms (:mod:`scaar.lab.sentences`), from two training seeds."""

LAB_LM_FREE = "lab-lm-free"
LAB_LM_FREE_B = "lab-lm-free-b"
FREE_MODELS = (LAB_LM_FREE, LAB_LM_FREE_B)
"""``lab-lm`` and ``lab-lm-b`` trained further: they write words without facts, at a given rate."""

LAB_RERANKER = "lab-reranker"
"""Cross-encoder of a query and a passage, trained for relevance."""

LAB_LM_CHAT = "lab-lm-chat"
LAB_LM_REFLECT = "lab-lm-reflect"
LAB_LM_SEARCH = "lab-lm-search"
TAGGED_MODELS = (LAB_LM_REFLECT, LAB_LM_SEARCH, LAB_LM_CHAT)
"""``lab-lm`` trained further: one writes Self-RAG's reflection tokens, one Search-R1's tags, and
one rewrites the last question of a conversation."""


def model_folder(name: str) -> Path:
    """Return the checkpoint folder of a lab model."""
    return Path(__file__).parent / name


SHIPPED_MODELS = (
    *LANGUAGE_MODELS,
    *TAGGED_MODELS,
    *FORM_MODELS,
    *FREE_MODELS,
    LAB_CROSS_ENCODER,
    LAB_MEANING_ENCODER,
    LAB_RERANKER,
)
"""The models that a package contains."""
