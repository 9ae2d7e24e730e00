"""Everything about experiments: other systems, tuning, protocols, and the command `reproduce`.

`baselines`: what GAPfm is compared with; `systems`: all of them, with what may be tuned; `tuning`:
the same search for each;
`protocols`: which systems, splits and measures make a table; `catalogue`: lists of all items;
`paper`: what the paper prints; `experiments`: functions that the notebooks call; `chapter_NN`: those that
one notebook alone calls; `reproduce`: the command, which uses them all.
"""
