"""The script that brings a page's explorables to life: one file for the site, no request elsewhere."""

from gapfm_teach.widgets.linked import for_page

NAME = "explorables.js"


def script() -> bytes:
    return for_page().encode()


def alive(page: str, root: str) -> str:
    """`page`, whose site begins at the relative address `root`, with the script where it is needed."""
    if 'class="gapfm-explorable"' not in page or f'{NAME}" defer' in page:
        return page
    return page.replace("</body>", f'<script src="{root}{NAME}" defer></script>\n</body>')
