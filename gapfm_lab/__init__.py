"""Everything about experiments: other systems, tuning, protocols, and the command `reproduce`.

`baselines`: what GAPfm is compared with; `systems`: all of them, with what may be tuned; `tuning`:
the same search for each; `protocols`: which systems, splits and measures make a table;
`catalogue`: lists of all items; `paper`: what the paper prints; `experiments`: what several
notebooks call, and `chapter_NN`: what only one does; `reproduce`: the command.
"""
