// Chapter 2: drag one film's score; exact GAP is a staircase over it, smoothed GAP a slope.

import { accumulated, gradedAveragePrecision, logistic, smoothedGap, smoothedGapGradient } from "../engine.js";
import { beside, chart, COLOURS } from "../chart.js";
import { laboratory, make, ranked, written } from "../kit.js";

const FROM = -3, TO = 3, ROOM = 2.6, POINTS = 121; // room for the names at the right
const signed = (value) => (value > 0 ? "+" : "") + written(value, 2);

// data: {films: names, grades, scores, delta: δ_1, δ_2, ..., moving: the film at the start}
export function view(place, { films, grades, scores: start, delta, moving }) {
  const left = make("div"), right = make("div");
  const picture = chart(left, {
    alt: "Exact GAP as a staircase over the score of one film, smoothed GAP as a curve, and what each is now.", height: 350,
  });
  // Δ(y), and Z, their sum: (8) leaves 1/Z out, and here it is put back.
  const Delta = accumulated(delta), worth = Array.from(grades, (grade) => Delta[grade]);
  const Z = worth.reduce((a, b) => a + b, 0);
  const line = Array.from({ length: POINTS }, (_, k) => FROM + (k / (POINTS - 1)) * (TO - FROM));

  const lab = laboratory(place, {
    name: "staircase", title: "One score, two measures",
    ask: "A learner moves a score the way the arrow points. Will smoothed GAP send this film the way that makes the list better? And which of the two measures will notice when all scores are shifted?",
    controls: [
      { name: "film", label: "Film that moves", options: films, start: films[moving] },
      { name: "shift", label: "Shift all scores", from: -4, to: 8, step: 0.1, start: 0, text: signed, play: true },
    ],
    held: { scores: Array.from(start) },
    note: "Drag the film along the line. The arrow points up the slope, and is longer where the slope is steeper. The scores shown are those before the shift.",
    render({ film, shift, scores }) {
      const k = films.indexOf(film), now = scores[k];
      const at = (x) => scores.map((f, i) => (i === k ? x : f) + shift);
      const exact = (x) => gradedAveragePrecision(grades, at(x), { delta });
      const smooth = (x) => smoothedGap(at(x), grades, { delta }) / Z;
      const height = smooth(now), slope = smoothedGapGradient(at(now), grades, { delta })[k] / Z;
      const others = scores.map((f, i) => ({ x: f, name: films[i], colour: "currentColor" })).filter((_, i) => i !== k).sort((a, b) => a.x - b.x);
      const move = (x) => lab.set({ scores: scores.map((f, i) => (i === k ? Number(x.toFixed(2)) : f)) });
      picture.show({
        x: { from: FROM, to: TO + ROOM, ticks: [-3, -2, -1, 0, 1, 2, 3], label: `score of ${film}${shift ? " before the shift" : ""}` },
        y: { from: 0, to: 1.3, label: "value" },
        levels: others,
        curves: [
          { ...staircase(exact, others.map((one) => one.x)), name: "exact", beyond: true, dash: "", colour: COLOURS[0] },
          { name: "smoothed", colour: COLOURS[1], beyond: true, x: line, y: line.map(smooth), dash: "" },
        ],
        arrows: [uphill(now, height, slope, COLOURS[1])],
        dots: [{ x: now, y: height, colour: COLOURS[1] }],
        handles: [{ key: "film", x: now, y: exact(now), along: "x", from: FROM, to: TO, step: 0.05, label: `score of ${film}`, text: written(now), move }],
      });
      right.replaceChildren(ranked(inOrder(scores, shift, k), "The list: 1/R, g(f)"));
      lab.say(`${film} (grade ${grades[k]}) at ${written(now)}: exact GAP ${written(exact(now))}, slope 0. `
        + `Smoothed GAP / Z ${written(height)}, slope ${signed(slope)}. ${verdict(film, height, slope, shift)}`);
    },
  });
  lab.figure.append(beside(left, right));

  function verdict(film, height, slope, shift) {
    if (height > 1) return "Smoothed GAP is above 1, which no GAP can be: the shift has lifted it and changed no rank.";
    if (shift) return "The shift has moved smoothed GAP alone.";
    return `A learner would send ${film} ${slope > 0 ? "up" : "down"}.`;
  }

  // The films by score, each with what stands for one over its rank.
  function inOrder(scores, shift, moved) {
    const order = films.map((_, i) => i).sort((i, j) => scores[j] - scores[i]);
    return order.map((i, r) => ({
      text: films[i], on: i === moved,
      note: [1 / (r + 1), logistic(scores[i] + shift)].map((v) => v.toFixed(2)).join("\u2002"),
    }));
  }
}

// The treads of `value` between the places where it jumps: two points each, and a gap.
function staircase(value, jumps) {
  const edges = [FROM, ...[...jumps].sort((a, b) => a - b), TO], x = [], y = [];
  for (let k = 1; k < edges.length; k++) {
    const height = value((edges[k - 1] + edges[k]) / 2);
    x.push(edges[k - 1], edges[k], edges[k]);
    y.push(height, height, NaN);
  }
  return { x, y };
}

// From the dot along the tangent, in the direction that raises the value.
function uphill(x, y, slope, colour) {
  const run = Math.sign(slope) * Math.min(1.1, 25 * Math.abs(slope), 0.3 / Math.abs(slope || 1));
  return { x, y, toX: x + run, toY: y + slope * run, colour };
}
