"""The consistent objective and related measures in plain NumPy, for one user: chapters 8 to 10.

`ranks`: a smooth rank that tends to the rank, and the gradient that all its measures have in
common; `gap`: GAP and AP with such ranks; `power_mean`: GAP as one of a family of means;
`related_measures`: GP@n, GR@n and ERR; `measures`: which of them `GAPfm` maximises, and over what;
`fast_sums`: (8) and consistent GAP without a sum over pairs. None of it is in the paper.
"""
