"""`python -m preview` builds `_site/` with the small renderer."""

from preview.build import main

main()
