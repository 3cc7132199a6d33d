"""Commands that print the lab's world and serve its model."""
