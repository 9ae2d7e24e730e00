"""The class edition: the notebooks as a student opens them, and keeps them.

`edition` makes it from the sources, which are written for Quarto; `folder` writes it where a student
works, and `merge` brings a newer one to students without losing an answer of theirs.
"""
