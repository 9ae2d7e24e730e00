// Chapter 5: the K films of a user that Algorithm 1 selects, and what training on them brings.

import { mulberry32, normals, thresholdingProbabilities, train } from "../engine.js";
import { beside, chart, COLOURS } from "../chart.js";
import { heldOutGap } from "../held_out.js";
import { draw, laboratory, make, written } from "../kit.js";

const D = 10, REG = 0.001, RATE = 0.02, ITERATIONS = 41, EVERY = 4;
const STARTS = {
  "small": (rng, n) => normals(rng, n, 0.01),
  "uniform from 0 to 1": (rng, n) => Float64Array.from({ length: n }, rng),
};
const RULES = { adaptive: "most misranked", random: "at random", all: "all films" };
const REST = 60; // ms without a move before training begins: the list comes first
const CHOSEN = "var(--gx-red)", ROW = 19;

// Ranks in descending order, from 1; ties as they come.
function ranks(values) {
  const order = Array.from(values.keys()).sort((i, j) => values[j] - values[i]), found = [];
  order.forEach((i, k) => { found[i] = k + 1; });
  return found;
}

// Algorithm 1, as selection.py has it: due places, places, and which K items stand farthest.
export function chosen(grades, scores, K) {
  const due = ranks(grades), now = ranks(scores);
  const misranking = due.map((place, i) => Math.abs(place - now[i]));
  return { due, now, misranking, marked: ranks(misranking).map((place) => place <= K) };
}

// data: {films, grades, scores: of one user, k, nItems, maxGrade, given and held:
// {indptr, items, grades}, seed}
export function view(place, { films, grades, scores, k, nItems, maxGrade, given, held, seed }) {
  const S = films.length, lists = { given, held, nItems, delta: thresholdingProbabilities(maxGrade) };
  const left = make("div"), right = make("div");
  const curves = chart(right, { alt: "Held-out GAP along the iterations with the most misranked films, with films at random, and with all.", height: 330 });
  const done = new Map(); // trainings by their setting
  let running = null, shown = null;

  // The curve of a training, kept once it is made.
  async function curve(rule, K, start, signal) {
    const key = rule === "all" ? `${start}` : `${rule} ${K} ${start}`;
    if (done.has(key)) return done.get(key);
    const rng = mulberry32(seed), nUsers = given.indptr.length - 1, found = { x: [], y: [] };
    await train({
      ...given, nItems, maxGrade, nFactors: D, reg: REG, learningRate: RATE, nIter: ITERATIONS, signal, seed,
      nSelected: rule === "all" ? null : K, selection: rule === "all" ? "adaptive" : rule,
      userFactors: STARTS[start](rng, nUsers * D), itemFactors: STARTS[start](rng, nItems * D),
      onIteration: ({ iteration, userFactors, itemFactors }) => {
        if (iteration % EVERY !== 1) return;
        found.x.push(iteration);
        found.y.push(heldOutGap(userFactors, itemFactors, D, lists));
      },
    });
    done.set(key, found);
    return found;
  }

  // The three curves of a setting, drawn; nothing when the slider has moved on meanwhile.
  async function trained(K, start) {
    running?.abort();
    running = new AbortController();
    const { signal } = running, found = {};
    await new Promise((resolve) => { setTimeout(resolve, REST); });
    try {
      signal.throwIfAborted();
      for (const rule of ["adaptive", "random", "all"]) found[rule] = await curve(rule, K, start, signal);
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
    if (signal.aborted) return null;
    shown = { found, K };
    drawCurves(found, K);
    return found;
  }

  // Two columns of the same films: in the order of their grades, and as the model has them.
  function drawList({ due, now, misranking, marked }) {
    const width = left.clientWidth || 380, height = ROW * (S + 1) + 8, narrow = width < 340, from = narrow ? 74 : 92, to = width - (narrow ? 128 : 180);
    const at = (rank) => ROW * rank + 12, order = Array.from(films.keys()).sort((i, j) => marked[i] - marked[j]);
    const colour = (i) => (marked[i] ? CHOSEN : "currentColor");
    const text = (words, x, y, i, anchor) => draw("text", { x, y, dy: "0.32em", "text-anchor": anchor, style: `fill: ${colour(i)}`, "font-weight": marked[i] ? 700 : 400 }, words);
    const svg = draw("svg", { class: "gx-chart", viewBox: `0 0 ${width} ${height}`, role: "img", style: `height: ${height}px`, "aria-label": "A user's films in the order of their grades and in the model's order; lines join each film's two places." },
      draw("text", { x: from - 6, y: 8, "text-anchor": "end", "font-weight": 700 }, "by grade"),
      draw("text", { x: to + 6, y: 8, "font-weight": 700 }, "by score"), draw("text", { x: width - 2, y: 8, "text-anchor": "end", "font-weight": 700 }, "off"),
      ...order.flatMap((i) => [
        draw("line", { x1: from, y1: at(due[i]), x2: to, y2: at(now[i]), style: `stroke: ${colour(i)}`, "stroke-width": marked[i] ? 2.4 : 1, opacity: marked[i] ? 1 : 0.45 }),
        text(`${"★".repeat(grades[i])} ${due[i]}`, from - 6, at(due[i]), i, "end"), text(`${now[i]} ${narrow ? films[i].replace("Invented film", "film") : films[i]}`, to + 6, at(now[i]), i, "start"),
        text(misranking[i], width - 2, at(now[i]), i, "end")]));
    left.replaceChildren(svg);
  }

  function drawCurves(found, K) {
    const top = Math.max(...Object.values(found).flatMap(({ y }) => y));
    curves.show({
      x: { from: 1, to: ITERATIONS, label: "iteration", ticks: [1, 11, 21, 31, 41] },
      y: { from: 0, to: Math.max(0.14, 1.05 * top), label: "held-out GAP" },
      curves: Object.entries(found).map(([rule, one]) => ({
        ...one, name: rule === "all" ? RULES.all : `${K} ${RULES[rule]}`, colour: { adaptive: CHOSEN, random: COLOURS[0], all: "currentColor" }[rule],
        dash: rule === "all" ? "2 4" : "",
      })),
    });
  }

  const lab = laboratory(place, {
    name: "select", title: "Select K films of each user",
    ask: "Which trains better, the K films that stand farthest from their due place, or K at random? Guess, then move K.",
    controls: [
      { name: "K", label: `films K of ${S}`, from: 1, to: S, step: 1, start: k, play: true },
      { name: "start", label: "start of U and V", options: Object.keys(STARTS), start: "small" },
    ],
    render({ K, start }) {
      const list = chosen(grades, scores, K), { due, now, misranking } = list;
      const worst = misranking.indexOf(Math.max(...misranking));
      const words = `Algorithm 1 selects ${K} of ${S} films, in red. ${films[worst]} is the farthest off: ${now[worst]} by score, ${due[worst]} by grade.`;
      drawList(list);
      lab.say(`${words} Training…`);
      place.dataset.settled = false; // what a test waits for
      if (shown) drawCurves(shown.found, shown.K); // until the new ones have come
      trained(K, start).then((found) => {
        if (!found) return;
        place.dataset.settled = true;
        const [most, random, all] = ["adaptive", "random", "all"].map((rule) => written(found[rule].y.at(-1)));
        lab.say(`${words} After ${ITERATIONS} iterations held-out GAP is ${most} with the ${K} most misranked, ${random} with ${K} at random, ${all} with all.`);
      }, (error) => {
        place.dataset.settled = true;
        lab.say(`${words} No training: ${error.message}`);
      });
    },
  });
  lab.figure.append(beside(left, right));
}
