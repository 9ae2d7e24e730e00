"""A page that has the explorables' modules as `modules`, to call what a view only shows."""

from gapfm_course.explorables.linked import for_page


def open_bare(browser, folder):
    """The page, opened from a file with the network shut."""
    start = "modules.mount.mountAll(views);"
    script = for_page()
    assert script.count(start) == 1
    script = script.replace(start, "window.modules = modules;").replace(
        "</script", "<\\/script"
    )
    path = folder / "bare.html"
    path.write_text(
        f'<!doctype html><meta charset="utf-8"><script>{script}</script>', encoding="utf-8"
    )
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(path.as_uri())
    return page
