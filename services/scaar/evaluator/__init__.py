"""The evaluator: evaluations of policies on questions with known answers."""
