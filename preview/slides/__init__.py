"""The slides: `slides/*.qmd` to decks of one file each, with figures and formulas of the chapters.

A slide is a section `##`; `::: {.notes}` in it is for the speaker. A deck needs nothing beside itself: no
network, no kernel, no other file. `embed` takes from a notebook, by label, what a slide shows of it.
"""
