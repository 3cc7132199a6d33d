"""The record of the long tail: its detection by GECE, and the value of a gate."""
