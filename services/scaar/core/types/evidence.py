"""Kinds of evidence by which drafts are judged."""

import enum


class EvidenceKind(enum.StrEnum):
    """A kind of evidence about a draft; each has a provider (:mod:`scaar.core.evidence`)."""

    PROBABILITIES = "probabilities"
    """The probability of every token, which the tokens carry."""
    ENTROPY = "entropy"
    """The entropy of every token over the full vocabulary, which the tokens carry."""
    TOP_TOKENS = "top_tokens"
    """The two most probable tokens at the place of every token, which the tokens carry."""
    CONTRIBUTIONS = "contributions"
    """The contribution of every word to the meaning of the sentence (SCAAR Eq. 1)."""
    ATTENTION = "attention"
    """The last-layer attention of the draft's tokens after the prompt, averaged over heads."""
    OWN_ATTENTION = "own_attention"
    """The last-layer attention that the draft's tokens receive in the draft alone, without the
    prompt: the maximum of each head, averaged over heads (the code of DRAGIN's authors)."""
    WORD_CLASSES = "word_classes"
    """The class of every word: stop word, content word or other."""
    CORPUS_COUNTS = "corpus_counts"
    """How often the entities of the sentence occur in a corpus, alone and together."""
    SUPPORT = "support"
    """Which words are new to the question, and whether a passage in the prompt has them."""
