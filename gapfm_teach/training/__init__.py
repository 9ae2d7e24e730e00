"""What `GAPfm` is made of: the loop of Algorithm 2, what it maximises, how it steps, its files.

Read `loop` first, then `objectives` (what is maximised) and `optimizers` (how it steps).
"""
