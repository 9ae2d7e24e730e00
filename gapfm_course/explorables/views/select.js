// Chapter 5: the K films of a user that Algorithm 1 selects, and what training on them brings.

import { beside, chart, COLOURS, fit } from "../chart.js";
import { draw, laboratory, make, written } from "../kit.js";
import { trainer } from "../trainer.js";

const ITERATIONS = 41, SMALL = "small", UNIFORM = "uniform from 0 to 1";
const RULES = { adaptive: "most misranked", random: "at random", all: "all films" };
const CHOSEN = "var(--gx-red)", ROW = 19;

// Ranks in descending order, from 1; ties as they come.
function ranks(values) {
  const order = Array.from(values.keys()).sort((i, j) => values[j] - values[i]), found = [];
  order.forEach((i, k) => { found[i] = k + 1; });
  return found;
}

// Algorithm 1, as gapfm_teach/paper.py has it: due places, places, and which K items stand farthest.
export function chosen(grades, scores, K) {
  const due = ranks(grades), now = ranks(scores);
  const misranking = due.map((place, i) => Math.abs(place - now[i]));
  return { due, now, misranking, marked: ranks(misranking).map((place) => place <= K) };
}

// What is trained, by one rule after the other: reports {rule, x, y}, held-out GAP along the
// iterations. A course as course.js has one: its text, too, runs in a worker.
function selectionOf({ heldOutGap, mulberry32, normals, thresholdingProbabilities, train }) {
  const D = 10, REG = 0.001, RATE = 0.02, EVERY = 4;
  return ({ given, held, nItems, maxGrade, seed }) => {
    const lists = { given, held, nItems, delta: thresholdingProbabilities(maxGrade) }, nUsers = given.indptr.length - 1;
    return {
      async run({ K, uniform, rules, nIter }, report, signal) {
        for (const rule of rules) {
          const rng = mulberry32(seed), x = [], y = [];
          const drawn = (n) => (uniform ? Float64Array.from({ length: n }, rng) : normals(rng, n, 0.01));
          await train({
            ...given, nItems, maxGrade, nFactors: D, reg: REG, learningRate: RATE, nIter, signal, seed,
            nSelected: rule === "all" ? null : K, selection: rule === "all" ? "adaptive" : rule,
            userFactors: drawn(nUsers * D), itemFactors: drawn(nItems * D),
            onIteration({ iteration, userFactors, itemFactors }) {
              if (iteration % EVERY !== 1) return;
              x.push(iteration);
              y.push(heldOutGap(userFactors, itemFactors, D, lists));
            },
          });
          report({ rule, x, y });
        }
      },
    };
  };
}

// data: {films, grades, scores: of one user, k, nItems, maxGrade, given and held:
// {indptr, items, grades}, seed}
export function view(place, { films, grades, scores, k, nItems, maxGrade, given, held, seed }) {
  const S = films.length;
  const left = make("div"), right = make("div");
  const lists = draw("svg", { class: "gx-chart", role: "img", "aria-label": "A user's films in the order of their grades and in the model's order; lines join each film's two places." });
  left.append(lists);
  const curves = chart(right, { alt: "Held-out GAP along the iterations with the most misranked films, with films at random, and with all.", height: 330 });
  const trainings = trainer({ given, held, nItems, maxGrade, seed }, { course: selectionOf });
  const done = new Map(); // curves by rule and setting
  let shown = null;

  // Gives the three curves of a setting to `then`, or an error; nothing when the slider has moved on meanwhile.
  function trained(K, start, then) {
    const keyOf = (rule) => (rule === "all" ? start : `${rule} ${K} ${start}`);
    const rules = Object.keys(RULES).filter((rule) => !done.has(keyOf(rule)));
    const give = (error) => then(Object.fromEntries(Object.keys(RULES).map((rule) => [rule, done.get(keyOf(rule))])), error);
    trainings.cancel();
    if (!rules.length) return give();
    trainings.begin({ K, uniform: start === UNIFORM, rules, nIter: ITERATIONS }, ({ rule, ended, error, ...curve }) => {
      if (rule) done.set(keyOf(rule), curve);
      if (ended) give(error);
    });
  }

  // Two columns of the same films: in the order of their grades, and as the model has them.
  function drawList({ due, now, misranking, marked }) {
    const width = fit(lists, left, ROW * (S + 1) + 10), narrow = width < 340, from = narrow ? 82 : 92, to = width - (narrow ? 122 : 180);
    const at = (rank) => ROW * rank + 14, order = Array.from(films.keys()).sort((i, j) => marked[i] - marked[j]);
    const colour = (i) => (marked[i] ? CHOSEN : "currentColor");
    const text = (words, x, y, i, anchor) => draw("text", { x, y, dy: "0.32em", "text-anchor": anchor, style: `fill: ${colour(i)}`, "font-weight": marked[i] ? 700 : 400 }, words);
    lists.replaceChildren(
      draw("text", { x: from - 6, y: 11, "text-anchor": "end", "font-weight": 700 }, "by grade"),
      draw("text", { x: to + 6, y: 11, "font-weight": 700 }, "by score"), draw("text", { x: width - 2, y: 11, "text-anchor": "end", "font-weight": 700 }, "off"),
      ...order.flatMap((i) => [
        draw("line", { x1: from, y1: at(due[i]), x2: to, y2: at(now[i]), style: `stroke: ${colour(i)}`, "stroke-width": marked[i] ? 2.4 : 1, opacity: marked[i] ? 1 : 0.45 }),
        text(`${"★".repeat(grades[i])} ${due[i]}`, from - 6, at(due[i]), i, "end"), text(`${now[i]} ${narrow ? films[i].replace("Invented film", "film") : films[i]}`, to + 6, at(now[i]), i, "start"),
        text(misranking[i], width - 2, at(now[i]), i, "end")]));
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
      { name: "start", label: "start of U and V", options: [SMALL, UNIFORM], start: SMALL },
    ],
    render({ K, start }) {
      const list = chosen(grades, scores, K), { due, now, misranking } = list;
      const worst = misranking.indexOf(Math.max(...misranking));
      const words = `Algorithm 1 selects ${K} of ${S} films, in red. ${films[worst]} is the farthest off: ${now[worst]} by score, ${due[worst]} by grade.`;
      drawList(list);
      lab.say(`${words} Training…`);
      place.dataset.settled = false; // what a test waits for
      if (shown) drawCurves(shown.found, shown.K); // until the new ones have come
      trained(K, start, (found, error) => {
        place.dataset.settled = true;
        if (error) return lab.say(`${words} No training: ${error}`);
        shown = { found, K };
        drawCurves(found, K);
        const [most, random, all] = ["adaptive", "random", "all"].map((rule) => written(found[rule].y.at(-1)));
        lab.say(`${words} After ${ITERATIONS} iterations held-out GAP is ${most} with the ${K} most misranked, ${random} with ${K} at random, ${all} with all.`);
      });
    },
  });
  lab.figure.append(beside(left, right));
}
