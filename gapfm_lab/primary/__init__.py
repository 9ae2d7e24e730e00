"""The primary table: what is compared, declared before it is run; the search; the measurements."""
