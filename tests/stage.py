"""A page with explorables and nothing else, opened from a file with the network shut."""

from gapfm_course.explorables import Page
from gapfm_course.explorables.linked import for_page

HEAD = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Stage</title>'
    '<meta name="viewport" content="width=device-width"><style>:root { color-scheme: light dark }'
    " body { margin: 12px auto; max-width: 760px; background: light-dark(#fdfdfb, #16191d);"
    " color: light-dark(#22262b, #dfe2e5) }</style><body>"
)
TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
DRAWN = "root => Number(root.dataset.drawn || 0)"


class Stage:
    """One view on a page of its own; `root` is its element.

    `errors` are what the page has said to its console, and requests that left the file.
    """

    def __init__(
        self, browser, folder, shown: Page, *, width=900, dark=False, touch=False, hash=""
    ):
        path = folder / "stage.html"
        script = for_page().replace("</script", "<\\/script")
        path.write_text(f"{HEAD}{shown.html}<script>{script}</script>", encoding="utf-8")
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, has_touch=touch, offline=True,
            color_scheme="dark" if dark else "light",
        )  # fmt: skip
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda m: m.type == "error" and self.errors.append(m.text))
        self.page.on(
            "request",
            lambda r: (
                r.url.startswith(("file:", "data:", "blob:")) or self.errors.append(r.url)
            ),
        )
        self.page.goto(path.as_uri() + hash)
        self.root = self.page.locator(".gapfm-explorable").first
        self.page.wait_for_function(
            f"() => ({DRAWN})(document.querySelector('.gapfm-explorable')) > 0"
        )

    def after(self, act) -> str:
        """Do `act()`, wait until the view has been drawn anew, and return what it says."""
        before = self.root.evaluate(DRAWN)
        act()
        self.page.wait_for_function(
            f"n => ({DRAWN})(document.querySelector('.gapfm-explorable')) > n", arg=before
        )
        self.page.evaluate(TWO_FRAMES)  # where act() has moved more than once
        return self.said()

    def said(self) -> str:
        """The line of words, with plain spaces and minus signs, for a test to read numbers from."""
        words = self.root.locator(".gx-said").inner_text()
        return words.replace("\u202f", "").replace("−", "-")

    def settled(self) -> str:
        """What it says once a training in it has come to its end, and no other has begun."""
        words, since = self.said(), 0
        while since < 4:
            self.page.wait_for_timeout(100)
            now, busy = self.said(), self.root.get_attribute("data-settled") == "false"
            words, since = now, since + 1 if now == words and not busy else 0
        return words

    def slide(self, name: str, place: int) -> str:
        """Move the slider of the control `name` to `place` steps from its left end."""
        script = "(input, place) => { input.value = place; input.dispatchEvent(new Event('input')); }"
        slider = self.root.locator(f"input[id$='-{name}']")
        return self.after(lambda: slider.evaluate(script, place))

    def tap(self, name: str, share: float = 0.5) -> str:
        """Put a finger on the slider of the control `name`, at this share of its width."""
        box = self.root.locator(f"input[id$='-{name}']").bounding_box()
        place = box["x"] + share * box["width"], box["y"] + box["height"] / 2
        return self.after(lambda: self.page.touchscreen.tap(*place))

    def press(self, selector: str, *keys: str) -> str:
        """Give keys to the element that `selector` finds first."""
        self.root.locator(selector).first.focus()
        return self.after(lambda: [self.page.keyboard.press(key) for key in keys])

    def drag(self, selector: str, dx: float, dy: float, *, steps: int = 6) -> str:
        """Drag with the mouse what `selector` finds first, by so many pixels."""
        box = self.root.locator(selector).first.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        mouse = self.page.mouse

        def act():
            mouse.move(x, y)
            mouse.down()
            mouse.move(x + dx, y + dy, steps=steps)
            mouse.up()

        return self.after(act)

    def swipe(self, selector: str, dx: float, dy: float) -> str:
        """The same with a finger."""
        box = self.root.locator(selector).first.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        finger = self.context.new_cdp_session(self.page)

        def touch(kind, *points):
            finger.send(
                "Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)}
            )

        def act():
            touch("touchStart", {"x": x, "y": y})
            for k in range(1, 7):
                touch("touchMove", {"x": x + dx * k / 6, "y": y + dy * k / 6})
            touch("touchEnd")

        return self.after(act)

    def close(self) -> None:
        """Close the page, which must have had nothing to complain of."""
        self.context.close()
        assert not self.errors, self.errors
