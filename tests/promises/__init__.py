"""What users of agent-memfas 0.4 were promised, done at the prompt as they would do it."""
