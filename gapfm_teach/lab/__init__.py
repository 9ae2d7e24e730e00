"""Everything about experiments: other systems, tuning, protocols, and the command `reproduce`.

`baselines`: the systems that GAPfm is compared with; `tuning`: the same search for each of them;
`protocols`: which systems, splits and measures make a table; `catalogue`: lists of all items;
`paper`: what the paper prints; `experiments`: functions that the notebooks call; `reproduce`: the
command, which uses them all.
"""
