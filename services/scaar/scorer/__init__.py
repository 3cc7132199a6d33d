"""The scorer, which computes how much each word of a sentence contributes to its meaning."""
