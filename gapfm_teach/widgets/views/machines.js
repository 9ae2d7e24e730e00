// Chapter 11: what more machines do to an iteration, part by part, by the model of its time.

import { chart, COLOURS } from "../chart.js";
import { laboratory, make, written } from "../kit.js";

const MOST = 4096; // machines
const REAL = 8, CACHE_BYTES = 2 ** 22, MOST_BLOCKS = 64, BLOCK_BYTES = 2 ** 28, OTHER_ARRAYS = 4;
const MESSAGE = 1e-4; // seconds that a message of a ring takes, however short
const OFF = 1.5; // by so much the model was wrong where it was checked
const HARDLY = 1.1; // this much slower than the fastest counts as well
const TREES = "along two trees, by Dask", RING = "around a ring, without Dask";

// How often V or a sum of its size is sent, one after the other, for W = 0, 1, ..., MOST machines.
const HOPS = (() => {
  const arrived = [0], hops = [0, 0];
  for (let W = 2, longest = 0; W <= MOST; W += 1) {
    const last = W - 1, parent = arrived[(last - 1) >> 1];
    hops.push(Math.max(longest, parent + (last % 2 ? 1 : 2)) + 32 - Math.clz32(W - 1));
    arrived.push(parent + 2);
    longest = Math.max(longest, parent + 2);
  }
  return hops;
})();

// How many arrays as large as V a machine's pass goes through.
function arraysOf(W, { ratings, items, D }) {
  const blocks = Math.min(MOST_BLOCKS, Math.floor(ratings / W / (2 * items)), Math.floor(BLOCK_BYTES / (REAL * items * D)));
  return Math.max(1, blocks) + OTHER_ARRAYS;
}

// Seconds of an iteration on W machines, by what they go into.
export function secondsOf(W, costs, now) {
  const { ratings, items, D, gigabits, way } = now;
  const V = REAL * items * D, share = ratings / W, byte = costs.sent + 8e-9 / gigabits;
  const tree = way === TREES;
  return {
    ratings: share * (costs.rating + (V > CACHE_BYTES ? costs.far : 0)),
    "work on V": V * arraysOf(W, now) * costs.work,
    "sending V": tree ? V * HOPS[W] * byte : 2 * (W - 1) * ((V / W) * byte + MESSAGE),
    "Dask": tree ? costs.iteration + W * costs.part : 0,
  };
}

const SAID = { ratings: "work on the ratings", "work on V": "going through arrays as large as V", "sending V": "sending V", Dask: "Dask's bookkeeping" };
const total = (parts) => Object.values(parts).reduce((a, b) => a + b);
const rough = (value) => written(Number(value.toPrecision(1)), 7);

// data: {costs: seconds {iteration, part, rating, far, work, sent}, ratings, memory: GB of a machine}
export function view(place, { costs, ratings, memory }) {
  const picture = make("div");
  const lines = chart(picture, { alt: "Seconds of an iteration and of its parts against the number of machines, on logarithmic axes; drag the number.", height: 380 });
  const counts = [...new Set(Array.from({ length: 145 }, (_, k) => Math.round(2 ** (k / 12))))];
  const sizes = (v) => written(Math.round(v), 3);
  const lab = laboratory(place, {
    name: "machines", title: "How many machines?",
    ask: "A hundred million users, a million items. Ten times the machines: ten times as fast? Guess where that ends, then drag the point.",
    controls: [
      { name: "W", label: "machines W", from: 1, to: MOST, scale: "log", start: 100, text: sizes, play: true },
      { name: "D", label: "factors D", from: 5, to: 1000, scale: "log", start: 10, text: sizes },
      { name: "items", label: "items N", from: 1e4, to: 1e8, scale: "log", start: 1e6, text: sizes },
      { name: "gigabits", label: "network", from: 0.1, to: 400, scale: "log", start: 10, unit: "Gbit/s" },
      { name: "way", label: "V is sent", options: [TREES, RING], start: TREES },
    ],
    render(values) {
      const now = { ...values, ratings, D: Math.round(values.D), items: Math.round(values.items) }, W = Math.round(values.W);
      const runs = counts.map((n) => secondsOf(n, costs, now)), all = runs.map(total), here = secondsOf(W, costs, now);
      const least = Math.min(...all), best = counts[all.indexOf(least)], seconds = total(here);
      const low = 10 ** Math.floor(Math.log10(least / 30)), high = 10 ** Math.ceil(Math.log10(2 * Math.max(...all)));
      const names = Object.keys(here).filter((name) => runs.some((one) => one[name] > low));
      lines.show({
        x: { from: 1, to: MOST, scale: "log", label: "machines", ticks: [1, 4, 16, 64, 256, 1024, 4096], text: (v) => String(v) },
        y: { from: low, to: high, scale: "log", text: (v) => `${written(v, 4)} s` },
        bands: [{ x: counts, low: all.map((v) => v / OFF), high: all.map((v) => v * OFF) }],
        curves: [{ name: "an iteration", x: counts, y: all, colour: "currentColor", dash: "" },
          ...names.map((name, k) => ({ name, x: counts, y: runs.map((one) => (one[name] > 0 ? one[name] : NaN)), colour: COLOURS[k] }))],
        dots: [{ x: best, y: least, ring: true, name: "fastest" }, { x: W, y: seconds, name: "you are here" }],
        handles: [{
          key: "W", x: W, y: seconds, along: "x", from: 1, to: MOST, step: 1.5, label: "machines, on the curve of an iteration",
          text: `${W} machine${W > 1 ? "s" : ""}, ${written(seconds)} seconds`, move: (x) => lab.set({ W: Math.round(x) }),
        }],
      });
      const [most, part] = Object.entries(here).sort((a, b) => b[1] - a[1])[0];
      const level = all.flatMap((v, k) => (v < HARDLY * least ? [counts[k]] : []));
      const filled = ((1 + arraysOf(W, now)) * REAL * now.items * now.D) / 1e9;
      lab.say(`${written(W, 5)} machine${W > 1 ? "s" : ""}: about ${rough(seconds)} s an iteration, give or take half, ${rough(all[0] / seconds)} times as fast as one. `
        + `Most of it, ${rough((100 * part) / seconds)}%, is ${SAID[most]}. `
        + `Fastest are about ${rough(level[0])} to ${rough(level.at(-1))} machines, with ${rough(least)} s. `
        + `V fills ${rough(filled)} GB of each machine's ${memory}${filled > memory ? ": it does not fit" : ""}.`);
    },
  });
  lab.figure.append(picture);
}
