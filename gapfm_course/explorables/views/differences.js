// Chapter 3: is this gradient right? Central differences at any step, under a microscope and as a V.

import { accumulated, logistic, smoothedGapGradient } from "../engine.js";
import { beside, chart, COLOURS } from "../chart.js";
import { counted, laboratory, make, written } from "../kit.js";

const FINEST = 15, PER_DECADE = 8, EPSILON = 2 ** -52, LOWEST = 1e-16;
// Steps h from 1 down to 10⁻¹⁵.
const GRID = Array.from({ length: FINEST * PER_DECADE + 1 }, (_, k) => 10 ** (-k / PER_DECADE));
const BEND = 2 * PER_DECADE, BEST = 5 * PER_DECADE; // where h is 10⁻², and 10⁻⁵
const BUGS = ["none: the right one", "A factor", "B row", "C objective", "D norm", "E overflow"];
const norm = (v) => Math.sqrt(v.reduce((sum, one) => sum + one * one, 0));

// data: {rows: for each user {items, grades}, U, V: flat factors, row after row, delta: δ_1, ...}
export function view(place, { rows, U, V, delta }) {
  const D = U.length / rows.length, split = U.length, Delta = accumulated(delta);
  const lists = rows.map(({ items, grades }) => {
    const worth = Array.from(grades, (grade) => Delta[grade]);
    return { items, grades, beta: worth.map((a) => worth.map((b) => Math.min(a, b))) };
  });
  const scoresOf = (x, m) => Array.from(lists[m].items, (item) => {
    let sum = 0;
    for (let d = 0; d < D; d++) sum += x[m * D + d] * x[split + item * D + d];
    return sum;
  });
  // The users whose scores the k-th number of the model enters.
  const touched = Array.from({ length: U.length + V.length }, (_, k) => lists.map((_, m) => m)
    .filter((m) => (k < split ? Math.floor(k / D) === m : lists[m].items.includes(Math.floor((k - split) / D)))));
  const largest = Math.max(...lists.flatMap((_, m) => Array.from({ length: V.length / D }, (_, item) => V.slice(item * D, item * D + D).reduce((sum, v, d) => sum + v * U[m * D + d], 0))));

  // The objective (9), its formula and nothing derived from it: the judge. x is U, then V.
  function valueOf(x, m) {
    const { beta } = lists[m], f = scoresOf(x, m), n = f.length;
    let value = 0;
    for (let i = 0; i < n; i++) {
      let above = 0;
      for (let j = 0; j < n; j++) above += beta[i][j] * logistic(f[j] - f[i]);
      value += logistic(f[i]) * above;
    }
    return value;
  }
  function objective(x, reg, values = lists.map((_, m) => valueOf(x, m))) {
    let squares = 0, sum = 0;
    for (const one of x) squares += one * one;
    for (const one of values) sum += one;
    return sum - (reg / 2) * squares;
  }

  // ∂F/∂f of a user, c, as each of the bugs has it; and what the loop around it does with c.
  function slopes(f, { grades, beta }, bug) {
    const c = Array.from(smoothedGapGradient(f, grades, { delta })), g = f.map(logistic);
    const sums = (term) => f.map((_, i) => f.reduce((sum, _, j) => sum + beta[i][j] * term(i, j), 0));
    const push = (above) => sums(above).map((sum, i) => g[i] * logistic(-f[i]) * sum);
    const t = (i, j) => logistic(f[j] - f[i]);
    if (bug === "A") return add(push(t), sums((i, j) => (g[j] - g[i]) * t(i, j)));
    if (bug === "C") return c.map((whole, i) => whole - g[i] * logistic(-f[i]) * beta[i][i] / 2);
    if (bug !== "E") return c;
    const e = f.map(Math.exp), ge = e.map((one) => one / (1 + one)), above = (i, j) => e[j] / (e[i] + e[j]);
    return add(sums(above).map((sum, i) => ge[i] * (1 - ge[i]) * sum), sums((i, j) => (ge[j] - ge[i]) * above(i, j) * above(j, i)));
  }
  const add = (a, b) => a.map((one, i) => one + b[i]);

  function gradient(x, reg, bug) {
    const parts = [x.slice(0, split), x.slice(split)];
    const held = bug === "D" ? parts.flatMap((part) => Array.from(part, (v) => -reg * v / norm(part))) : Array.from(x, (v) => -reg * v);
    lists.forEach((list, m) => slopes(scoresOf(x, m), list, bug).forEach((c, i) => {
      for (let d = 0; d < D; d++) {
        held[m * D + d] += c * x[split + list.items[i] * D + d];
        held[split + (bug === "B" ? i : list.items[i]) * D + d] += c * x[m * D + d];
      }
    }));
    return held;
  }

  function differences(start, reg, h) {
    const x = start.slice(), values = lists.map((_, m) => valueOf(x, m));
    return Array.from(start, (at, k) => {
      const [up, down] = [at + h, at - h].map((moved) => {
        x[k] = moved;
        const now = values.slice();
        for (const m of touched[k]) now[m] = valueOf(x, m);
        return objective(x, reg, now);
      });
      x[k] = at;
      return (up - down) / (at + h - (at - h)); // by what was really added
    });
  }

  // The judge's answers over all steps; only the size and λ change them.
  let kept = { key: null };
  function judged(size, reg) {
    const key = `${size} ${reg}`;
    if (kept.key !== key) {
      const x = Float64Array.of(...U, ...V).map((v) => v * Math.sqrt(size / largest));
      kept = { key, x, right: gradient(x, reg, ""), judge: GRID.map((h) => differences(x, reg, h)), F: objective(x, reg) };
    }
    return kept;
  }

  const left = make("div"), right = make("div");
  const V_curve = chart(left, { alt: "Relative error of central differences against the step, on logarithmic axes, as far as you have been.", height: 330 });
  const glass = chart(right, { alt: "The objective along one number of the model, magnified by the step, with the chord through the two points.", height: 330 });

  const lab = laboratory(place, {
    name: "differences", title: "The step and the error",
    ask: "The smaller the step h, the better? Say where the error will be smallest, then walk down from h = 1. Later, choose a bug: what will its curve do?",
    controls: [
      { name: "fine", label: "Step h", from: 0, to: FINEST, step: 0.05, start: 0, text: (fine) => written(10 ** -fine, 2), play: true },
      { name: "bug", label: "Bug in the gradient", options: BUGS, start: BUGS[0] },
      { name: "size", label: "Largest score", from: 0.1, to: 900, scale: "log", start: 3 },
      { name: "reg", label: "λ", from: 0, to: 0.1, step: 0.001, start: 0.1 },
    ],
    held: { seen: 0 }, // how fine the reader has been; the curve is drawn as far
    note: "The second picture: the objective along one number of the model, magnified so that the two points at −h and +h keep their places. Their chord is the central difference, the line is what the gradient claims.",
    render(values) {
      const { fine, bug, size, reg } = values, h = 10 ** -fine, letter = bug === BUGS[0] ? "" : bug[0];
      values.seen = Math.max(values.seen, fine);
      const { x, right: true_, judge, F } = judged(size, reg), claimed = letter ? gradient(x, reg, letter) : true_;
      const now = differences(x, reg, h), error = misfit(claimed, now), rightNow = misfit(true_, now);
      const walked = GRID.slice(0, Math.floor(values.seen * PER_DECADE + 1e-6) + 1);
      const curve = (claim, more) => ({ x: walked, y: walked.map((_, k) => Math.max(LOWEST, misfit(claim, judge[k]))), dash: "", ...more });
      const arms = expected(misfit(true_, judge[BEND]), Math.abs(F) / Math.max(...true_.map(Math.abs)));
      V_curve.show({
        x: { from: 10 ** -FINEST, to: 1, scale: "log", label: "step h" }, y: { from: LOWEST, to: 10, scale: "log", label: "relative error" },
        curves: [
          ...arms.filter((arm) => !letter && values.seen > arm.after),
          ...(letter ? [curve(true_, { name: "the right gradient", colour: "currentColor", dash: "2 4" })] : []),
          curve(claimed, { name: letter ? `bug ${letter}` : "", colour: letter ? COLOURS[1] : COLOURS[0] }),
        ],
        handles: [{
          key: "h", x: h, y: Number.isFinite(error) ? error : 10, along: "x", from: 10 ** -FINEST, to: 1, step: 10 ** 0.1, label: "step h, on the curve of errors", text: `${written(h, 2)}, error ${written(error, 2)}`,
          colour: letter ? COLOURS[1] : COLOURS[0], move: (to) => lab.set({ fine: Number(-Math.log10(to).toFixed(2)) }),
        }],
      });
      magnify(x, reg, h, claimed, now, shown(claimed, judge, letter));
      lab.say(`h = ${written(h)}: gradient and central differences disagree by ${written(error, 2)} of the largest entry. ${told(error, rightNow, letter, h, arms)}`);
    },
  });
  lab.figure.append(beside(left, right));
  left.parentElement.classList.add("gx-even");

  function told(error, rightNow, letter, h, arms) {
    if (Number.isNaN(error)) return "The gradient is not a number: an exponential has overflowed.";
    if (letter && error > 20 * rightNow) return `The right gradient is off by ${written(rightNow, 2)} here: no step brings bug ${letter} that low.`;
    if (letter) return "At this step the judge himself is no better: he cannot see the bug.";
    const [cut, lost] = arms.map((arm) => arm.at(h));
    if (cut > 5 * lost) return "Truncation rules: the chord cuts across a bend. Ten times smaller a step, a hundred times smaller an error.";
    if (lost > 5 * cut) return "Rounding rules: the values of F come in steps of their last digit. Ten times smaller a step, ten times larger an error.";
    return `Near the bottom of the V: about ${counted(Math.max(0, Math.floor(-Math.log10(error))), "digit")} agree, and no step gives many more.`;
  }

  // The number of the model to be magnified: where a bug shows most, or where F bends most.
  function shown(claimed, judge, letter) {
    const by = judge[letter ? BEST : BEND], gaps = claimed.map((one, k) => Math.abs(one - by[k]));
    return gaps.indexOf(Math.max(...gaps.filter(Number.isFinite)));
  }

  function magnify(x, reg, h, claimed, now, k) {
    const F0 = objective(x, reg), steps = Array.from({ length: 141 }, (_, s) => (s - 70) / 40);
    const [user, name] = k < split ? [k, "U"] : [k - split, "V"];
    const height = 2 * Math.max(0.05, Math.abs(now[k]), Math.abs(Number.isFinite(claimed[k]) ? claimed[k] : 0));
    const rise = (s) => { const moved = x.slice(); moved[k] += s * h; return (objective(moved, reg) - F0) / h; };
    const [low, up] = [rise(-1), rise(1)], middle = (low + up) / 2, line = (slope, off = 0) => [-1.75 * slope + off, 1.75 * slope + off];
    glass.show({
      x: { from: -1.75, to: 1.75, label: `${name}[${Math.floor(user / D)}, ${user % D}] moved, in units of h`, ticks: [-1, 0, 1], text: (v) => ["−h", "0", "+h"][v + 1] },
      y: { from: -height, to: height, label: "change of F / h" },
      curves: [
        { name: "F", x: steps, y: steps.map(rise), dash: "", colour: COLOURS[2] },
        { name: "claimed", x: [-1.75, 1.75], y: line(claimed[k]), dash: "7 4", colour: COLOURS[1] },
        { name: "chord", x: [-1.75, 1.75], y: line((up - low) / 2, middle), dash: "", colour: COLOURS[0] },
      ],
      dots: [{ x: -1, y: low, colour: COLOURS[0] }, { x: 1, y: up, colour: COLOURS[0] }],
    });
  }
}

// Largest difference relative to the largest entry of both; not a number where one of them is none.
function misfit(a, b) {
  if (![...a, ...b].every((one) => !Number.isNaN(one))) return NaN;
  const scale = Math.max(...a.map(Math.abs), ...b.map(Math.abs));
  return scale ? Math.max(...a.map((one, k) => Math.abs(one - b[k]))) / scale : 0;
}

// The two arms of the V as theory has them, h² and ε F / h, named once the reader is well past them.
function expected(error, size) {
  const lost = (h) => EPSILON * size / h, bends = error > 30 * lost(GRID[BEND]);
  const cut = (h) => (bends ? error * (h / GRID[BEND]) ** 2 : 0);
  const arm = (name, at, ends, after) => ({ name, at, x: ends, y: ends.map(at), after, colour: "currentColor", dash: "1 5" });
  return [arm("truncation", cut, [1e-5, 0.5], bends ? 1 : FINEST), arm("rounding", lost, [1e-3, 1e-12], 7)];
}
