"""A figure that matplotlib wrote as SVG, rewritten small and plain.

What is left are paths and lines of text with their colours as attributes, so that a page's style
can give them others: no style sheets, no dates, no names drawn at random but those of clips, which
are counted. Positions are rounded to a tenth of a point; shapes that follow each other alike are one path.
"""

import itertools
import math
import re
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.sax.saxutils import escape

FACES = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif"
CLOUD = 200  # points from which on a cloud is one path, and its points do not shine through
SCALE = 1.5  # pixels of a screen for a point of the figure
GROUND = '<rect width="100%" height="100%" fill="#ffffff"/>'
HALO = ' stroke="#fdfdfb" stroke-width="3" style="paint-order:stroke"'
# What holds where nothing else is said: SVG's own, and what the root of ours says.
DEFAULTS = {
    "fill": "#000000",
    "fill-opacity": "1",
    "stroke": "none",
    "stroke-width": "1",
    "stroke-opacity": "1",
    "stroke-dasharray": "none",
    "stroke-linecap": "butt",
    "opacity": "1",
    "font-size": "10.5",
    "font-weight": "400",
    "font-style": "normal",
    "text-anchor": "start",
}
FONT = re.compile(r"^(?:(italic|oblique) )?(?:(\d+) )?([\d.]+)px")
NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?")
MINUS = re.compile(r"(?<![\w.])-(?=\.?\d)")  # a hyphen in its place
STEP = re.compile(r"([MLCQz])([^MLCQz]*)")
XLINK = "{http://www.w3.org/1999/xlink}href"


def compact_svg(svg: str) -> str:
    """`svg`, as matplotlib writes it with its text as text, small and plain.

    The first rectangle, `GROUND`, is the paper it stands on. Raises ValueError for an element that
    is not known.
    """
    root = ElementTree.fromstring(svg)
    _, _, width, height = map(float, root.get("viewBox", "").split())
    writer = _Writer({e.get("id", ""): e for e in root.iter()})
    body = "".join(_joined(writer.shapes(root, {})))
    clips = "".join(
        f'<clipPath id="{name}">{shape}</clipPath>' for name, shape in writer.clips.values()
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_tenth(width)} {_tenth(height)}" '
        f'width="{SCALE * width:.0f}" height="{SCALE * height:.0f}" font-family="{FACES}" '
        f'font-size="10.5" stroke-linejoin="round">{GROUND}{clips}{body}</svg>'
    )


class _Writer:
    """Shapes of a drawing in the order in which they are drawn, as (attributes, path or element)."""

    def __init__(self, named: dict[str, ElementTree.Element]):
        self.named = named
        self.clips: dict[str, tuple[str, str]] = {}

    def shapes(self, element, outer: dict) -> Iterator[tuple[str, str]]:
        """What `element` draws, where `outer` holds around it."""
        tag = element.tag.partition("}")[2]
        if tag in ("metadata", "defs", "style"):
            return
        given = outer | _given(element)
        if tag == "g" and "transform" in element.attrib:  # a formula
            yield "", f'<g{_attributes(given)} transform="{_moved(element)}">'
            for child in element:
                yield from self.shapes(child, {})
            yield "", "</g>"
        elif tag in ("svg", "g"):
            if len(element) > CLOUD:
                given["cloud"] = "yes"
            for child in element:
                yield from self.shapes(child, given)
        elif tag == "text":
            yield "", _text(element, given)
        elif tag == "path":
            yield from self.path(element.get("d", ""), given, (0, 0))
        elif tag == "use":
            marker = self.named[element.get(XLINK, element.get("href", ""))[1:]]
            at = float(element.get("x", 0)), float(element.get("y", 0))
            yield from self.path(marker.get("d", ""), given | _given(marker), at)
        elif tag == "image":
            yield "", self.image(element, given)
        else:
            raise ValueError(f"{tag} is no element that matplotlib's figures had so far")

    def path(self, steps: str, given: dict, at) -> Iterator[tuple[str, str]]:
        shown = {**DEFAULTS, **given}
        fill, stroke = shown["fill"], shown["stroke"]
        if fill == stroke == "none" or not steps.strip():
            return
        if "url" in fill:
            raise ValueError(
                "a hatched shape has no colour of its own; give it one instead"
            )
        parts = _parts(steps)
        circle = _circle(parts)
        if circle and stroke in ("none", fill):
            outline = f"M{_pair(circle[0] + at[0], circle[1] + at[1])}h.01"
            given = _as_dot(shown, 2 * circle[2], given)
        else:
            outline = _outline(parts, at)
        attributes = _attributes(given) + self.clip(given)
        # Where they lie on each other, opaque shapes of one colour look the same as one path.
        plain = "none" in (fill, stroke) or fill == stroke
        if (plain and "opacity" not in attributes) or "cloud" in given:
            yield attributes, outline
        else:
            yield "", f'<path d="{outline}"{attributes}/>'

    def clip(self, given: dict) -> str:
        name = given.get("clip-path", "")[5:-1]
        if not name:
            return ""
        if name not in self.clips:
            [shape] = self.named[name]
            sides = " ".join(
                f'{side}="{_tenth(float(shape.get(side, 0)))}"'
                for side in ("x", "y", "width", "height")
            )
            outline = f"<rect {sides}/>"
            if shape.get("d"):
                outline = f'<path d="{_outline(_parts(shape.get("d", "")), (0, 0))}"/>'
            self.clips[name] = f"c{len(self.clips)}", outline
        return f' clip-path="url(#{self.clips[name][0]})"'

    def image(self, element, given: dict) -> str:
        kept = " ".join(
            f'{name}="{element.get(name)}"'
            for name in ("x", "y", "width", "height", "transform")
            if element.get(name)
        )
        data = "".join(element.get(XLINK, "").split())
        picture = f'<image {kept} style="image-rendering:pixelated" href="{data}"/>'
        return f"<g{self.clip(given)}>{picture}</g>"


def _joined(shapes: Iterator[tuple[str, str]]) -> Iterator[str]:
    """The shapes as elements, those with the same attributes in a row as one path."""
    for attributes, row in itertools.groupby(shapes, key=lambda shape: shape[0]):
        drawn = "".join(outline for _, outline in row)
        yield f'<path d="{drawn}"{attributes}/>' if attributes else drawn


def _given(element) -> dict[str, str]:
    """The properties that stand in an element's style and attributes."""
    given = {k: v for k, v in element.attrib.items() if k in DEFAULTS or k == "clip-path"}
    for part in element.get("style", "").split(";"):
        name, _, value = (piece.strip() for piece in part.partition(":"))
        if name == "font" and (font := FONT.match(value)):
            style, weight, size = font.groups()
            given |= {"font-style": style or "normal", "font-weight": weight or "400"}
            given["font-size"] = size
        elif name in DEFAULTS:
            given[name] = value.removesuffix("px")
    if element.get("id", "").startswith("halo"):
        given["halo"] = "yes"
    return given


def _attributes(given: dict) -> str:
    """What differs from the defaults, as attributes."""
    stroked = given.get("stroke", "none") != "none"
    parts = []
    for name, value in given.items():
        if value == DEFAULTS.get(name, value) or (
            name.startswith("stroke-") and not stroked
        ):
            continue
        numbers = [_short(float(number), 2) for number in NUMBER.findall(value)]
        parts.append(
            f' {name}="{value if value[0] in "#n" or not numbers else " ".join(numbers)}"'
        )
    return "".join(sorted(parts))


def _text(element, given: dict) -> str:
    """A line of words where matplotlib puts it, or a formula."""
    move = _moved(element)
    place = [_tenth(float(element.get(side, 0))) for side in "xy"]
    if at := re.fullmatch(r"translate\((\S+) (\S+)\)", move):
        place, move = list(at.groups()), ""
    if move.startswith("rotate(0"):
        move = ""
    where = f' x="{place[0]}" y="{place[1]}"' + (f' transform="{move}"' if move else "")
    plain = MINUS.sub("\N{MINUS SIGN}", element.text or "")
    words = "".join(map(_span, element)) or escape(plain)
    shown = {k: v for k, v in given.items() if k != "halo"}
    return (
        f"<text{where}{_attributes(shown)}{HALO if 'halo' in given else ''}>{words}</text>"
    )


def _span(element) -> str:
    """A piece of a formula: signs at places of their own."""
    place = "".join(
        f' {side}="{" ".join(_tenth(float(n)) for n in element.get(side, "0").split())}"'
        for side in "xy"
    )
    return (
        f"<tspan{place}{_attributes(_given(element))}>{escape(element.text or '')}</tspan>"
    )


def _moved(element) -> str:
    return NUMBER.sub(lambda n: _tenth(float(n[0])), element.get("transform", ""))


def _parts(steps: str) -> list[tuple[str, list[float]]]:
    """The commands of a path, each with its numbers."""
    return [(k, list(map(float, NUMBER.findall(rest)))) for k, rest in STEP.findall(steps)]


def _outline(parts, at: tuple[float, float]) -> str:
    """A path moved by `at`, in relative steps between rounded corners."""
    out, last, start, pen = "", "", (0.0, 0.0), (0.0, 0.0)
    for name, numbers in parts:
        corners = [
            (round(x + at[0], 1), round(y + at[1], 1))
            for x, y in zip(numbers[::2], numbers[1::2], strict=True)
        ]
        if name == "z":
            command, step, pen = "z", "", start
        elif name == "M":
            command, step = "M", _pair(*corners[0])
            start = pen = corners[0]
        else:
            command, step = (
                name.lower(),
                "".join(_between(x - pen[0], y - pen[1]) for x, y in corners),
            )
            across, down = corners[-1][0] - pen[0], corners[-1][1] - pen[1]
            pen = corners[-1]
            if name == "L" and not round(across, 1) and not round(down, 1) and last != "M":
                continue
            if name == "L" and not round(down, 1):
                command, step = "h", _between(across)
            elif name == "L" and not round(across, 1):
                command, step = "v", _between(down)
        out += step if command == last else command + step.lstrip()
        last = command
    return out


def _as_dot(shown: dict, width: float, given: dict) -> dict:
    """A filled circle as a point drawn with a round pen, which takes a third of the room."""
    if shown["stroke"] != "none":
        width += float(shown["stroke-width"])
    dot = {k: v for k, v in given.items() if not k.startswith(("fill", "stroke"))}
    dot |= {"fill": "none", "stroke": shown["fill"], "stroke-width": str(width)}
    return dot | {"stroke-linecap": "round", "stroke-opacity": shown["fill-opacity"]}


def _circle(parts) -> tuple[float, float, float] | None:
    """The middle and the radius, if eight curves go round a circle as matplotlib's markers do."""
    if [name for name, _ in parts] != ["M", *["C"] * 8, "z"]:
        return None
    points = [numbers[-2:] for _, numbers in parts[:-1]]
    x = sum(p[0] for p in points[:-1]) / 8
    y = sum(p[1] for p in points[:-1]) / 8
    radii = [math.hypot(p[0] - x, p[1] - y) for p in points]
    return (x, y, radii[0]) if max(radii) - min(radii) < 1e-3 else None


def _pair(x: float, y: float) -> str:
    return f"{_tenth(x)}{_between(y)}"


def _between(*numbers: float) -> str:
    """Numbers with a space before each that has no sign to part it from the one before."""
    return "".join(n if n.startswith("-") else " " + n for n in map(_tenth, numbers))


def _tenth(number: float) -> str:
    return _short(number, 1)


def _short(number: float, digits: int) -> str:
    text = f"{number:.{digits}f}".rstrip("0").rstrip(".")
    text = re.sub(r"^(-?)0\.", r"\1.", text)
    return "0" if text in ("-0", "", "-") else text
