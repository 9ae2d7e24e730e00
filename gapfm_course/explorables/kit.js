// What every explorable is made of: controls over values, a picture that follows, the same in words,
// a link that keeps the setting, and the way back to the start.

const SVG = "http://www.w3.org/2000/svg";
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const ANNOUNCE_AFTER = 500; // ms without a move before a screen reader is told: not at each step
const SLIDER_STEPS = 400;

// An element with attributes and children; text children are never read as HTML.
export function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

// The same for a part of a picture.
export function draw(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

// A number as one writes it: `digits` significant ones, a true minus sign, powers of ten as such.
export function written(value, digits = 3) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "none";
  const size = Math.abs(value);
  let text;
  if (size && (size < 1e-4 || size >= 1e7)) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    const power = String(Math.abs(exponent)).replace(/\d/g, (d) => SUPERSCRIPTS[d]);
    const factor = Number(mantissa);
    text = `${factor === 1 ? "" : factor + " · "}10${exponent < 0 ? "⁻" : ""}${power}`;
  } else if (size >= 10 ** digits) {
    text = String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  } else {
    text = String(Number(value.toPrecision(digits)));
  }
  return text.replaceAll("-", "−");
}

// How many there are of what, as "1 laptop" or "2.5 laptops".
export function counted(value, noun, digits = 3) {
  const text = written(value, digits);
  return `${text} ${noun}${text === "1" ? "" : "s"}`;
}

// A laboratory in `place`. `controls` are sliders and menus (see `dial`); `held` are values that have
// none and are moved in the picture, numbers, words or lists of them. `render(values, lab)` is called
// once a frame after a change: it draws into `lab.figure` and says in `lab.say(words)` what is to be
// seen; it may return a promise. `orders` names the held values that are orders of things, 0 to n - 1. `lab.set({name: value})` changes values; `lab.values` are those of now.
export function laboratory(place, { name, title, ask = "", note = "", controls = [], held = {}, orders = [], render }) {
  const start = { ...held, ...Object.fromEntries(controls.map((c) => [c.name, c.start])) };
  const values = { ...structuredClone(start), ...fromLink(name, start, orders) };
  const figure = make("div", { class: "gx-figure" });
  const said = make("p", { class: "gx-said" });
  const announced = make("p", { class: "gx-hidden", role: "status" });
  const copied = make("span", { class: "gx-copied", role: "status" });
  let frame = 0, quiet = 0, turn = 0;

  const lab = {
    values, figure,
    say(words) {
      said.textContent = words;
      clearTimeout(quiet);
      quiet = setTimeout(() => { announced.textContent = words; }, ANNOUNCE_AFTER);
    },
    set(changes) {
      Object.assign(values, changes);
      for (const one of dials) one.show();
      lab.redraw();
    },
    redraw() {
      frame = frame || requestAnimationFrame(now);
    },
  };

  async function now() {
    frame = 0;
    const mine = ++turn;
    try {
      await render(values, lab);
    } catch (error) {
      if (mine === turn) lab.say(`No result here. ${error.message}`);
    }
    place.dataset.drawn = mine; // what a test waits for
  }

  const dials = controls.map((control) => dial(control, lab, `${name}-${control.name}`));
  const reset = make("button", { type: "button", onclick: () => lab.set(structuredClone(start)) }, "Reset");
  reset.addEventListener("click", () => dials.forEach((one) => one.stop?.()));
  const link = make("button", { type: "button", onclick: () => copyLink(name, values, start, copied) }, "Link to this setting");
  place.append(
    make("p", { class: "gx-title" }, title), ...(ask ? [make("p", { class: "gx-ask" }, ask)] : []),
    make("div", { class: "gx-body" }, make("div", { class: "gx-controls" }, make("div", { class: "gx-dials" }, ...dials.map((one) => one.row))),
      figure, said, announced, make("p", { class: "gx-foot" }, reset, link, copied)), ...(note ? [make("p", { class: "gx-note" }, note)] : []));
  place.id = place.id || `explore-${name}`;
  if (linked(name)) place.scrollIntoView();
  addEventListener("hashchange", () => { // a link pasted into the open page
    if (!linked(name) || !place.isConnected) return;
    lab.set({ ...structuredClone(start), ...fromLink(name, start, orders) });
    place.scrollIntoView();
  });
  let width = 0;
  new ResizeObserver(() => {
    if (figure.clientWidth !== width) { width = figure.clientWidth; lab.redraw(); }
  }).observe(figure);
  lab.redraw();
  return lab;
}

// ---------------------------------------------------------------- links that keep a setting

// What stands behind the page's address; nothing where that has been cut within a letter.
function addressed() {
  try {
    return decodeURIComponent(location.hash);
  } catch {
    return "";
  }
}

const linked = (name) => addressed().startsWith(`#explore-${name}:`);
const isOrder = (list) => [...list].sort((a, b) => a - b).every((value, k) => value === k);

function fromLink(name, start, orders) {
  if (!linked(name)) return {};
  const found = {};
  for (const pair of addressed().slice(`#explore-${name}:`.length).split(";")) {
    const [key, text] = pair.split("=");
    if (key in start && text !== undefined) {
      const value = read(text, start[key]);
      if (value !== null && (!orders.includes(key) || isOrder(value))) found[key] = value;
    }
  }
  return found;
}

// `text` in the form of `like`, or null where it has another.
function read(text, like) {
  if (typeof like === "number") return Number.isFinite(Number(text)) ? Number(text) : null;
  if (!Array.isArray(like)) return text;
  const all = text.split(",").map((part) => read(part, like[0]));
  return all.length === like.length && !all.includes(null) ? all : null;
}

async function copyLink(name, values, start, copied) {
  const pairs = Object.keys(start).map((key) => `${key}=${values[key]}`);
  history.replaceState(null, "", `#explore-${name}:${encodeURIComponent(pairs.join(";"))}`);
  try {
    await navigator.clipboard.writeText(location.href);
    copied.textContent = "copied";
  } catch {
    copied.textContent = "now in the address bar"; // where a page may not write to the clipboard
  }
}

// ---------------------------------------------------------------- controls

// Browsers bring controls back after Back and Reload, but not what was drawn for them: so no control takes that.
const CONTROL = { autocomplete: "off", "data-lm-suppress-shortcuts": "true" };

// A slider {name, label, from, to, start, scale: "linear" or "log", step, unit, text(value), play},
// or a menu {name, label, options, start}. `step` rounds, `play` adds a button that runs through.
function dial(control, lab, id) {
  return control.options ? menu(control, lab, id) : slider(control, lab, id);
}

function menu(control, lab, id) {
  const select = make("select", { id, ...CONTROL },
    ...control.options.map((option) => make("option", { value: option }, option)));
  select.addEventListener("input", () => lab.set({ [control.name]: select.value }));
  const show = () => {
    if (!control.options.includes(lab.values[control.name])) lab.values[control.name] = control.start;
    select.value = lab.values[control.name];
  };
  show();
  return { row: make("div", { class: "gx-dial" }, make("label", { for: id }, control.label), select), show };
}

function slider(control, lab, id) {
  const { from, to, scale = "linear", step = 0, unit = "" } = control;
  const way = scale === "log" ? [Math.log, Math.exp] : [(v) => v, (v) => v];
  const [low, high] = [way[0](from), way[0](to)];
  const steps = step && scale === "linear" ? Math.round((to - from) / step) : SLIDER_STEPS;
  const valueAt = (place) => {
    const value = way[1](low + (place / steps) * (high - low));
    const whole = step ? from + Math.round((value - from) / step) * step : Number(value.toPrecision(3));
    return Math.min(to, Math.max(from, Number(whole.toPrecision(12))));
  };
  const placeOf = (value) => Math.round(((way[0](value) - low) / (high - low)) * steps);
  const text = (value) => (control.text ? control.text(value) : written(value)) + (unit && ` ${unit}`);

  const input = make("input", { id, type: "range", min: 0, max: steps, step: 1, ...CONTROL });
  const output = make("output", { class: "gx-value", for: id });
  const show = () => {
    const wished = lab.values[control.name], whole = step ? from + Math.round((wished - from) / step) * step : wished;
    const value = Math.min(to, Math.max(from, Number(whole.toPrecision(12))));
    lab.values[control.name] = value;
    if (placeOf(value) !== Number(input.value)) input.value = placeOf(value);
    output.textContent = text(value);
    input.setAttribute("aria-valuetext", text(value));
  };
  const moveTo = (place) => lab.set({ [control.name]: valueAt(place) });
  input.addEventListener("input", () => moveTo(Number(input.value)));
  show();
  const { button, stop } = control.play ? player(input, steps, moveTo) : {};
  const row = make("div", { class: "gx-dial" }, make("label", { for: id }, control.label), input, output, ...(button ? [button] : []));
  return { row, show, stop };
}

// A button that moves a slider from where it is, or from its start, to its end in four seconds.
function player(input, steps, moveTo) {
  const button = make("button", { type: "button", class: "gx-play" }, "Play");
  let running = 0;
  const stop = () => { cancelAnimationFrame(running); running = 0; button.textContent = "Play"; };
  button.addEventListener("click", () => {
    if (running) return stop();
    const first = Number(input.value) >= steps ? 0 : Number(input.value), began = performance.now();
    button.textContent = "Pause";
    const tick = (time) => {
      const place = Math.min(steps, Math.round(first + Math.max(0, time - began) / 4000 * steps));
      input.value = place;
      moveTo(place);
      if (place >= steps || !button.isConnected) return stop();
      running = requestAnimationFrame(tick);
    };
    running = requestAnimationFrame(tick);
  });
  for (const taken of ["pointerdown", "keydown"]) input.addEventListener(taken, stop);
  return { button, stop };
}

// ---------------------------------------------------------------- lists

// A numbered list; a row is a text or {text, note, bar (0 to 1), on}. `bar` is drawn under it,
// `on` marks it.
export function ranked(rows, heading = "") {
  const list = make("ol", {}, ...rows.map((row) => {
    const { text, note = "", bar = null, on = false } = typeof row === "string" ? { text: row } : row;
    const item = make("li", { class: on ? "gx-on" : null });
    if (note) item.append(make("span", { class: "gx-row-note" }, note)); // first, to float beside
    item.append(make("span", { class: "gx-text" }, text));
    if (bar !== null) item.append(make("span", { class: "gx-bar", style: `width: ${(100 * bar).toFixed(1)}%` }));
    return item;
  }));
  return make("div", { class: "gx-rows" }, ...(heading ? [make("p", {}, heading)] : []), list);
}

// A list whose rows are dragged, or moved with the arrow keys, into another order. `order` are
// indices into `rows`; `moved(order, row)` gets the new one and which row was taken. `draw()` again
// after each change.
export function sortable(place, rows, moved, describe = "use the arrow keys to move it") {
  const list = make("ol", { class: "gx-sortable" });
  const items = rows.map((row, index) => make("li", {
    tabindex: 0, "data-row": index, "data-lm-suppress-shortcuts": "true", "aria-roledescription": "film to be moved",
  }, make("span", { class: "gx-grip", "aria-hidden": "true" }, "⠿"), row, make("span", { class: "gx-row-note" })));
  let order = rows.map((_, k) => k), held = null, finger = null;
  const put = (row, to) => {
    const at = Math.max(0, Math.min(order.length - 1, to));
    if (order.indexOf(row) === at) return;
    const next = order.filter((other) => other !== row);
    next.splice(at, 0, row);
    order = next; // two keys may come before the next frame
    moved(next, row);
  };
  list.addEventListener("keydown", (event) => {
    const row = Number(event.target.dataset.row), at = order.indexOf(row);
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: order.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    put(row, to);
  });
  list.addEventListener("pointerdown", (event) => {
    const item = event.target.closest("li");
    if (!item || event.button || held !== null) return; // a second finger waits
    [held, finger] = [Number(item.dataset.row), event.pointerId];
    list.setPointerCapture(event.pointerId);
    item.focus({ preventScroll: true });
    event.preventDefault();
  });
  list.addEventListener("pointermove", (event) => {
    if (held === null || event.pointerId !== finger) return;
    const above = order.filter((row) => row !== held).filter((row) => {
      const box = items[row].getBoundingClientRect();
      return box.top + box.height / 2 < event.clientY;
    });
    put(held, above.length);
  });
  for (const end of ["pointerup", "pointercancel"]) list.addEventListener(end, ({ pointerId }) => { if (pointerId === finger) held = finger = null; });
  place.append(list);
  return {
    // `notes` stand at the right of the rows, by index into `rows`.
    show(now, notes = []) {
      order = [...now];
      const focused = document.activeElement;
      const places = order.map((row) => items[row]);
      if (places.some((item, k) => list.children[k] !== item)) list.append(...places);
      if (items.includes(focused)) focused.focus({ preventScroll: true });
      items.forEach((item, row) => {
        item.lastChild.textContent = notes[row] ?? "";
        item.setAttribute("aria-label", `${rows[row]}, rank ${order.indexOf(row) + 1}; ${describe}`);
      });
    },
  };
}
