"""Studies on the evaluator's parts: grids, joined reports, long tail, query formulations."""
