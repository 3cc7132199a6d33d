"""The record of tuned policies: those of the lab's other models on unseen worlds."""
