"""The tools that make images with a model and store them as files of the conversation."""
