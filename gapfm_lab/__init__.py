"""Everything about experiments: other systems, tuning, protocols, and the command `reproduce`.

`baselines`: what GAPfm is compared with; `primary`: how systems are searched, split and measured, and the
declared comparison; `protocols`: the same for the paper's tables and those of the other objectives;
`catalogue`: lists of all items; `paper`: what the paper prints; `experiments`: what several
notebooks call, and `chapter_NN`: what only one does; `reproduce`: the command.
"""
