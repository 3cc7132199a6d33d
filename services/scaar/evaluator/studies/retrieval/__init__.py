"""Evaluation of retrieval: topics with judged passages, their rankings, and measures of them."""
