"""The book on paper: one volume of the same sources, as PDF through Typst and as EPUB.

`gather` reads the chapters with the preview's reader and filter and joins them to one pandoc
document (`chapter.lua`, then `volume.lua`); `pdf` and `epub` each write it, with a filter and a
style of their own. Nothing of it needs Quarto, TeX or the network.
"""
