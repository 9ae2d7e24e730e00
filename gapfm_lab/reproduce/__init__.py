"""`python -m gapfm_teach reproduce`: a table or figure of the paper, from a command to files.

`command` reads what was typed, `run` is what it asks for, `make` does it; the rest are its parts.
"""
