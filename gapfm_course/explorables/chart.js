// Pictures with axes: curves named where they end, bars, dots, levels, and handles to be dragged.

import { draw, make, written } from "./kit.js";

const TYPE = 12.5; // px of a chart's type on a page; where the style sheet says more, the whole chart grows
const TOP = 14, BOTTOM = 44, RIGHT = 14, LINE = 15, LETTER = 6.6, BOLD = 7.5; // the height of a name, and the width of letters
export const COLOURS = ["var(--gx-blue)", "var(--gx-red)", "var(--gx-green)", "var(--gx-pink)", "var(--gx-orange)", "var(--gx-sky)"];
const STEPS = [0, -8, 8, -16, 16, -24, 24, -32, 32, -48, 48, -64, 64]; // px by which a name may leave its place
const DASHES = ["", "7 4", "2 3", "9 3 2 3", "4 2", "12 3"];

// A picture in `place`, whose words are `alt`. The axes {from, to, label, scale: "linear" or "log",
// names: words at 0, 1, ..., text(value), ticks: values} are given with each `show`.
export function chart(place, { alt, height = 300 }) {
  const clip = `gx-clip-${++chart.made}`;
  // Handles outlive a drawing, so that neither focus nor a screen reader loses the one in use.
  const drawing = draw("g"), held = new Map(), grips = new Map(); // the handle of each finger; elements by key
  const svg = draw("svg", { role: "group", "aria-label": alt, class: "gx-chart" }, drawing);
  let handles = new Map(), scales = null;
  place.append(svg);

  const handleAt = ({ target }) => handles.get(target.closest("[data-handle]")?.dataset.handle);
  const move = (handle, value) => handle.move(clamped(value, handle.from, handle.to));
  svg.addEventListener("pointerdown", (event) => {
    const handle = handleAt(event);
    if (!handle || event.button) return;
    held.set(event.pointerId, handle.key);
    svg.setPointerCapture(event.pointerId);
    grips.get(handle.key).focus({ preventScroll: true });
    event.preventDefault();
  });
  svg.addEventListener("pointermove", (event) => {
    const handle = handles.get(held.get(event.pointerId));
    if (!handle) return;
    const { left, top } = svg.getBoundingClientRect(), pixels = handle.along === "x" ? event.clientX - left : event.clientY - top;
    move(handle, scales[handle.along].back(pixels / zoomOf(svg)));
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, ({ pointerId }) => held.delete(pointerId));
  // Inside an SVG browsers take no notice of touch-action: a finger on a handle would scroll the page.
  svg.addEventListener("touchstart", (event) => { if (handleAt(event)) event.preventDefault(); }, { passive: false });
  svg.addEventListener("keydown", (event) => {
    const handle = handleAt(event);
    if (!handle || event.ctrlKey || event.metaKey || event.altKey) return;
    const { from, to, value, step } = handle, { stepped, stepsIn } = scales[handle.along];
    const tenth = Math.max(1, Math.round(stepsIn(from, to, step) / 10));
    const count = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -tenth, PageUp: tenth }[event.key];
    const next = { Home: from, End: to }[event.key] ?? (count && stepped(value, count, step));
    if (next === undefined) return;
    event.preventDefault();
    move(handle, next);
  });

  return {
    svg,
    // parts: curves {name, x, y, dots, colour, dash, plain, beyond}, bars {x, y, from, width, colour,
    // name}, bands {x, low, high, colour}, levels {y or x, name}, dots {x, y, name, colour, ring},
    // arrows {x, y, toX, toY, colour, name, under}, handles {key, x, y, along: "x" or "y", from, to, step,
    // label, text, move(value), colour}: sliders between two values along an axis, which are added to by
    // `step`, or multiplied on a logarithmic axis; `value` is given where it may lie outside the picture.
    show({ x, y, curves = [], bands = [], bars = [], levels = [], dots = [], arrows = [], handles: wanted = [] }) {
      const width = fit(svg, place, height);
      const marksX = marks(x, width / 75), marksY = marks(y, 5), longest = Math.max(...marksY.map(([, text]) => text.length));
      const left = y.names ? 14 + LETTER * longest : Math.max(54, 31 + LETTER * longest);
      scales = { x: axis(x, left, width - RIGHT), y: axis(y, height - BOTTOM, TOP) };
      const at = [scales.x.place, scales.y.place];
      const inside = draw("g", { "clip-path": `url(#${clip})` },
        ...bands.map((one) => band(one, at)), ...bars.map((one) => bar(one, at, y)), ...levels.map((one) => level(one, at, [left, width - RIGHT, TOP, height - BOTTOM])),
        ...curves.flatMap((one, k) => curve(one, k, at)));
      drawing.replaceChildren(
        draw("clipPath", { id: clip }, draw("rect", { x: left, y: TOP - 6, width: Math.max(0, width - left - RIGHT + 6), height: height - TOP - BOTTOM + 12 })),
        ...frame(x, y, scales, { marksX, marksY, left, right: width - RIGHT, bottom: height - BOTTOM, height }), inside,
        ...arrows.map((one) => arrow(one, at)), ...dots.map((one) => dot(one, at)),
        ...names({ curves, levels, dots, handles: wanted }, at, [left, width - RIGHT, TOP, height - BOTTOM]));
      handles = new Map(wanted.map((one) => [one.key, { value: one[one.along], ...one }]));
      for (const [key, grip] of grips) if (!handles.has(key)) { grip.remove(); grips.delete(key); }
      for (const [key, one] of handles) {
        if (!grips.has(key)) grips.set(key, svg.appendChild(newGrip(key)));
        putGrip(grips.get(key), one, [clamped(at[0](one.x), left, width - RIGHT), clamped(at[1](one.y), TOP, height - BOTTOM)]);
      }
    },
  };
}
chart.made = 0;

const zoomOf = (svg) => parseFloat(getComputedStyle(svg).fontSize) / TYPE;

// Makes `svg` as wide as `place` and `height` high, both in units of a chart, of which it returns the width.
export function fit(svg, place, height) {
  const zoom = zoomOf(svg), width = (place.clientWidth || 640) / zoom;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.style.height = `${height * zoom}px`;
  return width;
}

// From values to places and back.
function axis({ from, to, scale = "linear" }, first, last) {
  const way = scale === "log" ? Math.log10 : (v) => v, home = scale === "log" ? (v) => 10 ** v : (v) => v;
  const [low, high] = [way(from), way(to)];
  return {
    place: (v) => first + ((way(v) - low) / (high - low)) * (last - first),
    back: (p) => home(low + ((p - first) / (last - first)) * (high - low)),
    stepped: (v, count, step) => (scale === "log" ? v * step ** count : v + count * step),
    stepsIn: (a, b, step) => (way(b) - way(a)) / way(step),
  };
}

const clamped = (value, low, high) => Math.min(high, Math.max(low, value));

// Round numbers from one end to the other, about `count`; powers of ten on a logarithmic axis.
export function ticks({ from, to, scale = "linear" }, count) {
  if (scale === "log") {
    const [low, high] = [Math.ceil(Math.log10(from) - 1e-9), Math.floor(Math.log10(to) + 1e-9)];
    const every = Math.max(1, Math.ceil((high - low) / Math.max(1, count)));
    return Array.from({ length: Math.floor((high - low) / every) + 1 }, (_, k) => 10 ** (low + k * every));
  }
  const [low, high] = [Math.min(from, to), Math.max(from, to)];
  const rough = (high - low) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}

// Values with their words along an axis.
function marks(axis, count) {
  return axis.names ? axis.names.map((name, k) => [k, name]) : (axis.ticks ?? ticks(axis, count)).map((v) => [v, (axis.text ?? written)(v)]);
}

function frame(x, y, scales, { marksX, marksY, left, right, bottom, height }) {
  const parts = [];
  const tight = x.names && LETTER * Math.max(...x.names.map((name) => name.length)) + 10 > (right - left) / x.names.length;
  marksX.forEach(([v, text], k) => {
    const p = scales.x.place(v), beyond = p + (LETTER * text.length) / 2 > right + RIGHT;
    if (!x.names) parts.push(draw("line", { class: "gx-grid", x1: p, x2: p, y1: TOP, y2: bottom }));
    parts.push(draw("text", { x: beyond ? right + RIGHT : p, y: bottom + 17 + (tight && k % 2 ? LINE : 0), "text-anchor": beyond ? "end" : "middle" }, text));
  });
  for (const [v, text] of marksY) {
    const p = scales.y.place(v);
    parts.push(draw("line", { class: "gx-grid", x1: left, x2: right, y1: p, y2: p }));
    parts.push(draw("text", { x: left - 7, y: p, dy: "0.32em", "text-anchor": "end" }, text));
  }
  const middle = (TOP + bottom) / 2;
  parts.push(draw("path", { class: "gx-axis", d: `M${left} ${TOP}V${bottom}H${right}` }));
  const room = 6.5 * (x.label ?? "").length < right - left; // else it ends where the axis does
  parts.push(draw("text", { x: room ? (left + right) / 2 : right, y: height - 8, "text-anchor": room ? "middle" : "end" }, x.label ?? ""));
  if (y.label) parts.push(draw("text", { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` }, y.label));
  return parts;
}

const inColour = (one, k = 0) => one.colour ?? COLOURS[k % COLOURS.length];

function curve(one, k, [x, y]) {
  let path = "", pen = "M";
  const points = [];
  one.x.forEach((v, i) => {
    const value = one.y[i];
    if (!Number.isFinite(value)) { pen = "M"; return; }
    path += `${pen}${x(v).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = "L";
    if (one.dots) points.push(draw("circle", { cx: x(v).toFixed(1), cy: y(value).toFixed(1), r: 3.5, style: `fill: ${inColour(one, k)}` }));
  });
  const line = draw("path", { class: "gx-curve", d: path, style: `stroke: ${inColour(one, k)}`, "stroke-dasharray": one.dash ?? DASHES[k % DASHES.length] });
  return [line, ...points];
}

function band(one, [x, y]) {
  const edge = (values) => one.x.map((v, k) => `${x(v).toFixed(1)} ${y(values[k]).toFixed(1)}`);
  return draw("path", { d: `M${[...edge(one.low), ...edge(one.high).reverse()].join("L")}Z`, style: `fill: ${one.colour ?? "currentColor"}`, opacity: 0.14 });
}

function bar(one, [x, y], axisY) {
  const half = (one.width ?? 0.7) / 2, foot = one.from ?? Math.max(0, axisY.from);
  const [a, b] = [y(foot), y(one.y)];
  return draw("rect", { x: x(one.x - half), width: Math.max(0.5, x(one.x + half) - x(one.x - half)), y: Math.min(a, b), height: Math.abs(a - b), style: `fill: ${one.colour ?? COLOURS[0]}`, opacity: one.opacity ?? 1 });
}

function level(one, [x, y], [left, right, top, bottom]) {
  const across = one.y !== undefined;
  return draw("line", { class: "gx-level", style: `stroke: ${one.colour ?? "currentColor"}`,
    x1: across ? left : x(one.x), x2: across ? right : x(one.x), y1: across ? y(one.y) : top, y2: across ? y(one.y) : bottom });
}

function dot(one, [x, y]) {
  return draw("circle", { cx: x(one.x), cy: y(one.y), r: 5.5, class: `gx-dot ${one.ring ? "gx-ring" : ""}`, style: one.ring ? `stroke: ${one.colour ?? "currentColor"}` : `fill: ${one.colour ?? "currentColor"}` });
}

function arrow(one, [x, y]) {
  const [x1, y1, x2, y2] = [x(one.x), y(one.y), x(one.toX), y(one.toY)];
  const length = Math.hypot(x2 - x1, y2 - y1), colour = one.colour ?? "currentColor", parts = [];
  if (length >= 1) {
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length], head = Math.min(8, length);
    const tip = (side) => `${(x2 - head * ux + side * head * 0.6 * uy).toFixed(1)} ${(y2 - head * uy - side * head * 0.6 * ux).toFixed(1)}`;
    parts.push(draw("path", { d: `M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}M${tip(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}L${tip(-1)}` }));
  }
  // The name stands beyond the tip, or under the whole arrow.
  const below = one.under ? Math.max(y1, y2) + 18 : y2 + (y2 > y1 ? 16 : -7);
  if (one.name) parts.push(draw("text", { class: "gx-name", x: x2, y: below, "text-anchor": "middle", style: `fill: ${colour}; stroke: var(--gx-paper)` }, one.name));
  return draw("g", { class: "gx-arrow", style: `stroke: ${colour}` }, ...parts);
}

// A handle's element, and what changes of it.
function newGrip(key) {
  return draw("g", { class: "gx-handle", tabindex: 0, role: "slider", "data-handle": key, "data-lm-suppress-shortcuts": "true" },
    draw("circle", { class: "gx-reach", r: 22 }), draw("circle", { r: 8 }));
}

function putGrip(grip, { along, label, text, value, from, to, colour = COLOURS[0] }, [x, y]) {
  // In decimals: a number with an exponent is none to assistive technology.
  const short = (v) => v.toLocaleString("en", { useGrouping: false, maximumSignificantDigits: 6 });
  const said = { label, orientation: along === "x" ? "horizontal" : "vertical", valuemin: short(from), valuemax: short(to), valuenow: short(value), valuetext: text };
  for (const [name, what] of Object.entries(said)) grip.setAttribute(`aria-${name}`, what);
  grip.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  grip.lastChild.style.fill = colour;
}

// The curves' names at their ends, the levels' at the right or the top, and the dots' beside them, each where
// it meets the least of what is drawn.
function names({ curves, levels, dots, handles }, [x, y], edges) {
  const [left, right, top, bottom] = edges, middle = (left + right) / 2;
  const wanted = curves.map((one, k) => {
    const last = one.y.findLastIndex(Number.isFinite);
    if (last < 0 || !one.name || one.plain) return null;
    const end = { text: one.name, x: x(one.x[last]), y: y(one.y[last]) - 7, colour: inColour(one, k) };
    return one.beyond ? { ...end, x: end.x + 6, y: end.y + 11, side: "start" } : end; // where the axis goes on
  });
  for (const one of levels) {
    if (!one.name) continue;
    const at = one.x === undefined ? right : x(one.x), side = at > middle ? "end" : "start";
    const height = one.y === undefined ? top + 10 : y(one.y) - 5;
    wanted.push({ text: one.name, side, x: one.x === undefined ? at : at + (side === "end" ? -5 : 5), y: height, colour: one.colour ?? "currentColor" });
  }
  const met = [...curves.flatMap((one) => along(one, x, y)), ...[...dots, ...handles].flatMap((one) => around(x(one.x), y(one.y)))];
  const placed = [];
  const put = (name, places) => {
    const cost = (one) => {
      const box = boxOf(one), [from, to, high, low] = box;
      const apart = placed.reduce((sum, other) => sum + shared(box, boxOf(other)), 0);
      const hit = met.filter(([px, py]) => px > from && px < to && py > high && py < low).length;
      return 30 * apart + 12 * hit + Math.abs(one.y - name.y) + (from >= left && to <= right + RIGHT && high >= top - LINE && low <= bottom ? 0 : 1e6);
    };
    placed.push(places.reduce((best, one) => (cost(one) < cost(best) ? one : best)));
  };
  for (const one of wanted.filter(Boolean)) {
    const name = { side: one.x > middle ? "end" : "start", ...one, x: clamped(one.x, left, right), y: clamped(one.y, top + 8, bottom - 4) };
    put(name, STEPS.map((step) => ({ ...name, y: clamped(name.y + step, top + 8, bottom - 4) })));
  }
  for (const one of dots) {
    if (!one.name) continue;
    const name = { text: one.name, colour: "currentColor", x: x(one.x), y: y(one.y) };
    const sides = name.x > middle ? ["end", "start"] : ["start", "end"];
    put(name, [-8, 17, -8 - LINE, 17 + LINE, -8 - 2 * LINE, 17 + 2 * LINE].flatMap((up) => sides.map((side) => ({ ...name, side, x: name.x + (side === "end" ? -10 : 10), y: name.y + up }))));
  }
  return placed.map((one) => draw("text", { class: "gx-name", x: one.x, y: one.y, style: `fill: ${one.colour}`, "text-anchor": one.side }, one.text));
}

// Points of a curve every few pixels.
function along(one, x, y) {
  const points = [];
  for (let k = 1; k < one.x.length; k++) {
    const [x1, y1, x2, y2] = [x(one.x[k - 1]), y(one.y[k - 1]), x(one.x[k]), y(one.y[k])];
    const steps = Math.ceil(Math.hypot(x2 - x1, y2 - y1) / 4);
    for (let step = 0; step <= steps; step++) points.push([x1 + ((x2 - x1) * step) / (steps || 1), y1 + ((y2 - y1) * step) / (steps || 1)]);
  }
  return points;
}

// Points of a dot, or of a handle.
const around = (x, y) => [-5, 0, 5].flatMap((dx) => [-5, 0, 5].map((dy) => [x + dx, y + dy]));

// Left, right, top and bottom of a name, about; and the area that two of these share.
function boxOf({ text, x, y, side }) {
  const wide = BOLD * text.length + 6, from = side === "end" ? x - wide : x;
  return [from, from + wide, y - 12, y + 3];
}

const shared = ([a, b, c, d], [e, f, g, h]) => Math.max(0, Math.min(b, f) - Math.max(a, e)) * Math.max(0, Math.min(d, h) - Math.max(c, g));

// Two or more parts side by side where there is room, one under the other where there is not.
export function beside(...parts) {
  return make("div", { class: "gx-beside" }, ...parts);
}
