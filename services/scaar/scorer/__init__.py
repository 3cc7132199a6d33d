"""The scorer: how much each word of a sentence contributes to its meaning."""
