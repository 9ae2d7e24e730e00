// Chapter 6: how many films are drawn decides which of two systems leads.

import { COLOURS, beside, chart } from "../chart.js";
import { laboratory, make, written } from "../kit.js";
import { logFactorials } from "../statistics.js";

const PLACES = 5, FEWEST = 10, BINS = 20, POINTS = 48;
const MEASURES = { "hit rate @5": () => 1, "NDCG@5": (above) => 1 / Math.log2(above + 2) };
const percent = (share) => `${(100 * share).toFixed(1)}%`;

// What a film counts of which `above` unrated ones stand above it, above = 0 to N, when n of the N
// are drawn: the mean of `worth` over the number of those drawn, which is hypergeometric.
function counted(N, n, worth, logFactorial) {
  const logC = (a, b) => logFactorial[a] - logFactorial[b] - logFactorial[a - b];
  const all = logC(N, n);
  return Float64Array.from({ length: N + 1 }, (_, above) => {
    let mean = 0;
    for (let x = Math.max(0, n + above - N); x < PLACES && x <= above && x <= n; x += 1) {
      mean += Math.exp(logC(above, x) + logC(N - above, n - x) - all) * worth(x);
    }
    return mean;
  });
}

// data: {unrated: N, users, systems: {name: how many held-out films have 0, 1, ..., N films above them}}
export function view(place, { unrated: N, users, systems }) {
  const names = Object.keys(systems), logFactorial = logFactorials(N), left = make("div"), right = make("div");
  const totals = Object.fromEntries(names.map((name) => [name, systems[name].reduce((a, b) => a + b, 0)]));
  const sizes = Array.from({ length: POINTS }, (_, k) => Math.round(FEWEST * (N / FEWEST) ** (k / (POINTS - 1))));
  const mean = (name, worths) => systems[name].reduce((sum, films, above) => sum + films * worths[above], 0) / totals[name];
  const edges = Array.from({ length: BINS + 1 }, (_, k) => (N + 1) ** (k / BINS)); // of ranks
  const shares = Object.fromEntries(names.map((name) => [name, binned(systems[name], totals[name])]));
  const stand = chart(left, { alt: "Where the held-out films of two systems stand in the list of all films, and the chance of a rank to be among the first five.", height: 290 });
  const lead = chart(right, { alt: "The lead of one system over the other against the number of drawn films.", height: 290 });
  const known = {}; // a measure at all sizes, for all systems: does not change with the slider

  // Shares of the films by rank, in bins of equal width on the axis; a bin without a rank is left out.
  function binned(films, total) {
    const x = [], y = [];
    for (let k = 0; k < BINS; k += 1) {
      const [from, to] = [Math.ceil(edges[k] - 1e-9), k === BINS - 1 ? N + 1 : Math.ceil(edges[k + 1] - 1e-9) - 1];
      if (to < from) continue;
      let sum = 0;
      for (let rank = from; rank <= to; rank += 1) sum += films[rank - 1];
      x.push(Math.sqrt(from * to));
      y.push(sum / total / Math.log((to + 1) / from) * Math.log(edges[1])); // by the bin's width
    }
    return { x, y };
  }

  function atAllSizes(measure) {
    known[measure] ??= sizes.map((n) => {
      const worths = counted(N, n, MEASURES[measure], logFactorial);
      return Object.fromEntries(names.map((name) => [name, mean(name, worths)]));
    });
    return known[measure];
  }

  const lab = laboratory(place, {
    name: "sample_size", title: "Draw fewer films, and the order turns",
    ask: `Two systems rank one held-out film among all ${written(N)} unrated ones. Which leads if only 10 of those are drawn, and which if all stay in?`,
    controls: [
      { name: "n", label: "films drawn, n", from: FEWEST, to: N, start: N, scale: "log", step: 1, text: written, play: true },
      { name: "first", label: "system A", options: names, start: names[0] },
      { name: "second", label: "system B", options: names, start: names[1] },
      { name: "measure", label: "measure", options: Object.keys(MEASURES), start: "hit rate @5" },
    ],
    note: `${users} users of MovieLens 100K, one split, ten held-out films each, every one ranked among ${written(N)} films that the user has not rated. The mean over all draws is calculated, not drawn.`,
    render({ n, first, second, measure }) {
      const worths = counted(N, n, MEASURES[measure], logFactorial), hits = counted(N, n, () => 1, logFactorial);
      const [a, b] = [mean(first, worths), mean(second, worths)], all = atAllSizes(measure).at(-1);
      const half = hits.findIndex((chance) => chance < 0.5) + 1;
      const top = Math.max(...names.flatMap((name) => shares[name].y)) * 1.3;
      const ranks = Array.from({ length: 150 }, (_, k) => (N + 1) ** (k / 149));
      stand.show({
        x: { from: 1, to: N + 1, scale: "log", label: "rank of the held-out film among all", ticks: [1, 5, 20, 100, 400, N + 1], text: written },
        y: { from: 0, to: top, label: "share of the films", text: (v) => `${Math.round(100 * v)}%`, ticks: [0, 0.05, 0.1, 0.15].filter((v) => v < top) },
        curves: [
          { x: ranks, y: ranks.map((rank) => 0.88 * top * hits[Math.round(rank) - 1]), colour: "currentColor", dash: "2 3", plain: true },
          { ...shares[first], colour: COLOURS[0], dash: "", plain: true }, { ...shares[second], colour: COLOURS[1], dash: "7 4", plain: true },
        ],
        dots: [peak(first, COLOURS[0]), ...(second === first ? [] : [peak(second, COLOURS[1])])],
        levels: [{ x: half, name: n === N ? "the first five count" : `chance ½: rank ${written(half)}` }],
      });
      const curve = atAllSizes(measure).map((value) => value[second] - value[first]);
      const widest = Math.max(0.01, ...curve.map(Math.abs)) * 1.25;
      lead.show({
        x: { from: FEWEST, to: N, scale: "log", label: "films drawn, n", ticks: [10, 30, 100, 300, N], text: written },
        y: { from: -widest, to: widest, label: "B’s lead over A", text: (v) => `${written(100 * v, 2)}%` },
        curves: [{ x: sizes, y: curve, colour: "currentColor", dash: "", plain: true }],
        levels: [{ y: 0 }, { x: n, name: b === a ? "level" : `${b > a ? second : first} leads` }],
        dots: [{ x: n, y: b - a, colour: b > a ? COLOURS[1] : COLOURS[0] }],
      });
      const leader = (x, y) => (x === y ? "the two are level" : `${x > y ? first : second} leads`);
      const there = n === N ? "All films stay in" : `With ${written(n)} drawn, a place among the first five means about the first ${written(half)} of all`;
      lab.say(`${there}: ${first} ${percent(a)}, ${second} ${percent(b)}, so ${leader(a, b)}. ` + (n === N
        ? "Now draw fewer." : `In the full list ${leader(all[first], all[second])}, ${percent(Math.max(all[first], all[second]))} to ${percent(Math.min(all[first], all[second]))}.`));
    },
  });

  // The name of a system at the highest point of its curve.
  function peak(name, colour) {
    const { x, y } = shares[name], k = y.indexOf(Math.max(...y));
    return { x: x[k], y: y[k], name, colour };
  }
  lab.figure.append(beside(left, right));
}
