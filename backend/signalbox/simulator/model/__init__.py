"""The rule-based model: what a message asks for, which tools are called, what the answer says."""
