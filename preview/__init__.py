"""A small renderer for this book: `_quarto.yml` and its chapters to plain HTML.

It covers the part of Quarto's syntax that the book uses and stops at anything else,
so that whatever it accepts, Quarto renders as well.
"""
