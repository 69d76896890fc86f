"""Runs made once more: from a journal, with tools answered from it, on either loop; and what then differs."""
