"""What stands under `GAPfm`: the loop of Algorithm 2, the objectives it climbs, its files.

Read `training` first, then `printed` (the paper's objective), then `consistent` (the repaired one).
"""
