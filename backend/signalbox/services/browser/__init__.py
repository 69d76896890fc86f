"""Screenshots of pages by a headless Chromium that reaches nothing but the files of a conversation."""
