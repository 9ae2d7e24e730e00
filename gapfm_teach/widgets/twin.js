// Turns each div.gapfm-twin that is still a picture into sliders over its stored settings.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const RIGHT = 12, TOP = 10, BOTTOM = 44;

  function make(tag, attributes, ...children) {
    const svg = ["svg", "g", "path", "line", "text", "circle", "rect", "clipPath"].includes(tag);
    const element = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  // Round numbers inside [low, high], about `count` of them.
  function ticks([low, high], count) {
    const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((s) => s * power >= rough) * power;
    const found = [];
    for (let k = Math.ceil(low / step); k * step <= high; k += 1) found.push(Number((k * step).toPrecision(12)));
    return found;
  }

  const written = (v) => (Math.abs(v) >= 1e5 || (v && Math.abs(v) < 1e-3) ? v.toExponential() : String(v)).replace("-", "\u2212");

  function decode(text, data) {
    const [low, high] = data.scale, y = [];
    for (let i = 0; i < text.length; i += 2) {
      const code = 64 * data.digits.indexOf(text[i]) + data.digits.indexOf(text[i + 1]);
      y.push(code > 4094 ? null : low + ((high - low) * code) / 4094);
    }
    return y;
  }

  // Mixed with the text's colour: lighter on a dark page, darker on a light one.
  const colour = (data, i) => `color-mix(in srgb, ${data.colours[i % data.colours.length]} 80%, currentColor)`;
  const dash = (data, i) => data.dashes[i % data.dashes.length];

  // Rows of names take a line each, and room at their left.
  const heightOf = (data) => (data.yNames.length ? Math.max(300, TOP + BOTTOM + 21 * data.yNames.length) : 300);
  const leftOf = (data) => (data.yNames.length ? 12 + 6.3 * Math.max(...data.yNames.map((name) => name.length)) : 56);

  function axes(data, x, y, width, left, height) {
    const right = width - RIGHT, bottom = height - BOTTOM, parts = [];
    for (const v of ticks(data.xRange, width / 70)) {
      parts.push(make("line", { class: "gapfm-grid", x1: x(v), x2: x(v), y1: TOP, y2: bottom }));
      parts.push(make("text", { x: x(v), y: bottom + 17, "text-anchor": "middle" }, written(v)));
    }
    const named = data.yNames.map((name, k) => [k, name]);
    for (const [v, text] of named.length ? named : ticks(data.yRange, 5).map((v) => [v, written(v)])) {
      parts.push(make("line", { class: "gapfm-grid", x1: left, x2: right, y1: y(v), y2: y(v) }));
      parts.push(make("text", { x: left - 7, y: y(v), dy: "0.32em", "text-anchor": "end" }, text));
    }
    parts.push(make("path", { class: "gapfm-axis", d: `M${left} ${TOP}V${bottom}H${right}` }));
    parts.push(make("text", { x: (left + right) / 2, y: height - 8, "text-anchor": "middle" }, data.x));
    const middle = (TOP + bottom) / 2;
    parts.push(make("text", { x: 13, y: middle, "text-anchor": "middle", transform: `rotate(-90 13 ${middle})` }, data.y));
    return parts;
  }

  function line(data, [, axis, values, dotsAlone], i, x, y) {
    const xs = data.axes[axis], ys = decode(data.strings[values], data);
    let d = "", pen = "M";
    const dots = [];
    ys.forEach((v, k) => {
      if (v === null) { pen = "M"; return; }
      d += `${pen}${x(xs[k]).toFixed(1)} ${y(v).toFixed(1)}`;
      pen = "L";
      if (dotsAlone || xs.length <= data.fewPoints) dots.push(make("circle", { cx: x(xs[k]), cy: y(v), r: dotsAlone ? 4.5 : 3.5, style: `fill: ${colour(data, i)}` }));
    });
    return dotsAlone ? dots : [make("path", { class: "gapfm-curve", d, style: `stroke: ${colour(data, i)}`, "stroke-dasharray": dash(data, i) }), ...dots];
  }

  function chart(data, setting, width, clip) {
    const height = heightOf(data), left = leftOf(data), bottom = height - BOTTOM;
    const [x0, x1] = data.xRange, [y0, y1] = data.yRange;
    const x = (v) => left + ((v - x0) / (x1 - x0)) * (width - left - RIGHT);
    const y = (v) => bottom - ((v - y0) / (y1 - y0)) * (bottom - TOP);
    const inside = make("g", { "clip-path": `url(#${clip})` }, ...setting[0].flatMap((c, i) => line(data, c, i, x, y)));
    for (const [mx, my, text] of setting[3]) {
      const late = x(mx) > width / 2;
      inside.append(make("circle", { class: "gapfm-mark", cx: x(mx), cy: y(my), r: 6 }),
        make("text", { x: x(mx) + (late ? -10 : 10), y: y(my) - 8, "text-anchor": late ? "end" : "start" }, data.strings[text]));
    }
    const box = make("rect", { x: left, y: TOP - 4, width: Math.max(0, width - left - RIGHT + 4), height: bottom - TOP + 8 });
    return make("svg", { role: "img", "aria-label": data.alt, viewBox: `0 0 ${width} ${height}`, style: `height: ${height}px` },
      make("clipPath", { id: clip }, box), ...axes(data, x, y, width, left, height), inside);
  }

  function legend(data, setting) {
    return setting[0].map(([name, , , dotsAlone], i) => make("li", {},
      make("svg", { width: dotsAlone ? 12 : 30, height: 10, "aria-hidden": "true" },
        dotsAlone ? make("circle", { cx: 6, cy: 5, r: 4.5, style: `fill: ${colour(data, i)}` }) : make("line", { x1: 1, x2: 29, y1: 5, y2: 5, "stroke-width": 2.4, style: `stroke: ${colour(data, i)}`, "stroke-dasharray": dash(data, i) })),
      data.strings[name]));
  }

  // One labelled control; `moved` runs after each change.
  function control(parameter, id, moved) {
    const shown = (k) => parameter.texts[k] + (parameter.unit ? " " + parameter.unit : "");
    const label = make("label", { for: id }, parameter.label);
    const common = { id, "data-lm-suppress-shortcuts": "true" };
    if (parameter.choice) {
      const select = make("select", common, ...parameter.texts.map((t, k) => make("option", { value: k }, t)));
      select.value = parameter.start;
      select.addEventListener("input", moved);
      return { dial: make("div", { class: "gapfm-dial" }, label, select), input: select };
    }
    const input = make("input", { ...common, type: "range", min: 0, max: parameter.texts.length - 1, step: 1, value: parameter.start });
    const output = make("output", { class: "gapfm-value", for: id });
    const say = () => { output.textContent = shown(input.value); input.setAttribute("aria-valuetext", shown(input.value)); };
    input.addEventListener("input", () => { say(); moved(); });
    say();
    return { dial: make("div", { class: "gapfm-dial" }, label, input, output), input };
  }

  function start(root) {
    const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    window.gapfmTwins = (window.gapfmTwins || 0) + 1;
    const id = `gapfm-${window.gapfmTwins}`;
    const controls = data.parameters.map((p, i) => control(p, `${id}-${i}`, () => redraw()));
    const readout = make("p", { class: "gapfm-readout", role: "status" });
    const plot = make("div", { class: "gapfm-chart" });
    const key = make("ul", { class: "gapfm-legend" });
    const list = make("ol");
    const hasCurves = data.axes.length > 0, hasRows = data.settings.some((s) => s[1].length);
    const body = make("div", { class: "gapfm-body" + (hasCurves && hasRows ? " gapfm-both" : "") });
    if (hasCurves) body.append(make("div", {}, key, plot));
    if (hasRows) body.append(make("div", { class: "gapfm-rows" }, make("p", {}, data.rowsTitle), list));

    const setting = () => data.settings[controls.reduce((at, c, i) => at * data.parameters[i].texts.length + Number(c.input.value), 0)];
    function redrawChart() {
      if (plot.clientWidth) plot.replaceChildren(chart(data, setting(), plot.clientWidth, `${id}-clip`));
    }
    function redraw() {
      const now = setting();
      readout.textContent = data.strings[now[2]];
      key.replaceChildren(...legend(data, now));
      list.replaceChildren(...now[1].map((row) => make("li", {}, data.strings[row])));
      redrawChart();
    }

    root.replaceChildren(
      make("p", { class: "gapfm-title" }, data.title),
      make("div", { class: "gapfm-controls" }, ...controls.map((c) => c.dial)),
      readout, body, ...(data.note ? [make("p", { class: "gapfm-note" }, data.note)] : []));
    redraw();
    new ResizeObserver(redrawChart).observe(plot);
  }

  for (const root of document.querySelectorAll("div.gapfm-twin:not([data-gapfm-ready])")) {
    root.setAttribute("data-gapfm-ready", "");
    start(root);
  }
})();
