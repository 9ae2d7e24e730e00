"""Make the pages' faces from those that fontsource publishes: `tools/subset_fonts.py node_modules`.

The folder is what `npm install @fontsource/stix-two-math @fontsource-variable/stix-two-text`
leaves; needed besides are the packages fonttools and brotli. The text's face keeps all of its
letters of western Europe, and has those of its east in a file of their own, which a page without
them does not fetch; the one of mathematics what a book like this may come to use, with the variants
and pieces of brackets and large operators that its MATH table names.
"""

import sys
from pathlib import Path

from fontTools import subset

FONTS = Path(__file__).resolve().parent.parent / "preview" / "fonts"
TEXT = "@fontsource-variable/stix-two-text/files/stix-two-text-{}.woff2"
MATH = "@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2"
SOURCES = {
    "stix-two-text.woff2": TEXT.format("latin-wght-normal"),
    "stix-two-text-extended.woff2": TEXT.format("latin-ext-wght-normal"),
    "stix-two-text-italic.woff2": TEXT.format("latin-wght-italic"),
    "stix-two-math.woff2": MATH,
}
MATHEMATICS = [
    (0x0020, 0x00FF),  # Latin, signs
    (0x0131, 0x0131), (0x0237, 0x0237),  # i and j without a dot, under accents
    (0x0300, 0x030C), (0x0332, 0x0332), (0x0338, 0x0338),  # accents, bar, stroke
    (0x0391, 0x03F5),  # Greek
    (0x2013, 0x203E),  # dashes, quotation marks, primes, overline
    (0x2061, 0x2064),  # what is not seen: function application, times
    (0x2070, 0x208E),  # raised and lowered digits
    (0x2102, 0x2102), (0x210E, 0x210E), (0x2113, 0x2113), (0x2115, 0x2115), (0x211D, 0x211D),
    (0x2124, 0x2124),  # letters that stand outside their alphabets
    (0x215B, 0x215E),  # eighths
    (0x2190, 0x2199), (0x21A6, 0x21A9), (0x21D0, 0x21D5),  # arrows
    (0x2200, 0x22FF),  # operators
    (0x2308, 0x230B), (0x23B4, 0x23B5), (0x23DC, 0x23DF), (0x27E8, 0x27E9),  # brackets
    (0x1D400, 0x1D467), (0x1D49C, 0x1D4CF), (0x1D538, 0x1D56B),  # bold, italic, script, double
    (0x1D5A0, 0x1D607), (0x1D6A4, 0x1D71B), (0x1D7CE, 0x1D7E1),  # sans, italic Greek, digits
]  # fmt: skip
WANTED = {
    "stix-two-math.woff2": MATHEMATICS,
    "stix-two-text-extended.woff2": [(0x100, 0x17F)],
}


def characters(ranges: list[tuple[int, int]]) -> list[int]:
    return [code for first, last in ranges for code in range(first, last + 1)]


def main(packages: Path) -> None:
    for name, source in SOURCES.items():
        options = subset.Options(flavor="woff2", layout_features=["*"], hinting=False)
        font = subset.load_font(str(packages / source), options)
        subsetter = subset.Subsetter(options)
        everything = [(code, code) for code in font.getBestCmap()]
        subsetter.populate(unicodes=characters(WANTED.get(name, everything)))
        subsetter.subset(font)
        subset.save_font(font, str(FONTS / name), options)
        print(f"{name}: {(FONTS / name).stat().st_size // 1000} kB")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
