"""Gates: which questions a policy is to retrieve for at all."""
