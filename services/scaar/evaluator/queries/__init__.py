"""Query formulations measured on drafts that stand written, without a language model."""
