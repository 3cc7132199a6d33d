"""Query formulations measured on existing drafts, without a language model."""
