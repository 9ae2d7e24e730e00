"""The repair of (7) and (8), its relatives, and that of "linear", in plain NumPy: notebooks 08 to 10.

`ranks`: a smooth rank that tends to the rank, and the gradient that all its measures share;
`gap`: GAP and AP with such ranks; `power_mean`: GAP as one of a family of means; `relatives`: GP@n, GR@n and ERR; `measures`: which of them
`GAPfm` maximises, and over what; `fast_sums`: (8) and the repair without going over pairs.
Nothing of it is in the paper.
"""
