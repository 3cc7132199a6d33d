"""The experiment on sentence forms: detection of wrong drafts by form and by weighting."""
