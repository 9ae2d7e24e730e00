// Chapter 7: k pretended ratings at the common mean, and the list of best films turns over.

import { COLOURS, beside, chart } from "../chart.js";
import { laboratory, make, ranked, written } from "../kit.js";

const LISTED = 10, LEAST_K = 0.1, MOST_K = 1000;
const three = (value) => value.toFixed(3).replace(/^0/, "");
const ratings = (n) => (n === 1 ? "one rating" : `${n} ratings`);

// data: {n, sum: of the grades, many: films with these two numbers, titles: "" for the less known,
// mu, trial: {k, ndcg: of held-out lists}}
export function view(place, { n, sum, many, titles, mu, trial }) {
  const groups = Array.from(n, (count, k) => ({ n: count, mean: sum[k] / count, many: many[k], title: titles[k] }));
  const most = Math.max(...n), left = make("div"), right = make("div"), plane = make("div"), below = make("div");
  const films = chart(plane, { alt: "Each film by its number of ratings and their mean; a line parts the ten best from the others.", height: 290 });
  const tried = chart(below, { alt: "NDCG@5 of held-out ratings against the number of pseudo-counts.", height: 190 });
  left.append(plane, below);

  // A film's place in the list: its own ratings and k more, all equal to μ.
  const shrunken = ({ n: count, mean }, k) => (count * mean + k * mu) / (count + k);
  // Hundreds of dots in one path, strokes without length: quicker than so many circles.
  const dotted = (chosen, colour) => ({ x: chosen.flatMap((one) => [one.n, one.n, one.n]), y: chosen.flatMap((one) => [one.mean, one.mean, NaN]), dash: "", plain: true, colour });

  // NDCG@5 between the values of k that were tried.
  function ndcgAt(k) {
    const next = Math.max(1, trial.k.findIndex((one) => one >= k * (1 - 1e-9)));
    const [a, b] = [trial.k[next - 1], trial.k[next]], part = Math.log(k / a) / Math.log(b / a);
    return trial.ndcg[next - 1] + part * (trial.ndcg[next] - trial.ndcg[next - 1]);
  }

  const lab = laboratory(place, {
    name: "shrink", title: "How many pretended ratings does a mean need?",
    ask: "The best list by plain mean is made of films with one 5. How large must k be until nobody with fewer than ten ratings is left in it?",
    controls: [{ name: "k", label: "pseudo-counts k", from: LEAST_K, to: MOST_K, start: LEAST_K, scale: "log", text: written, play: true }],
    note: "The films of MovieLens 100K by their training ratings at Given 10, with the titles of well-known ones only. The lower curve has been tried on held-out ratings beforehand.",
    render({ k }) {
      const order = groups.map((group) => ({ ...group, q: shrunken(group, k) })).sort((a, b) => b.q - a.q || b.n - a.n);
      const listed = [];
      for (const group of order) for (let copy = 0; copy < group.many && listed.length < LISTED; copy += 1) listed.push(group);
      const last = listed[LISTED - 1].q, inside = new Set(listed.map((one) => one.n * 10000 + Math.round(one.mean * one.n)));
      const isIn = (one) => inside.has(one.n * 10000 + Math.round(one.mean * one.n));
      const counts = Array.from({ length: 80 }, (_, j) => 0.8 * (1.25 * most * 1.25) ** (j / 79));
      films.show({
        x: { from: 0.8, to: most * 1.25, scale: "log", label: "ratings of the film, n", ticks: [1, 3, 10, 30, 100] },
        y: { from: 1, to: 5.15, label: "their mean", ticks: [1, 2, 3, 4, 5] },
        curves: [dotted(order.filter((one) => !isIn(one)), COLOURS[0]), dotted(order.filter(isIn), COLOURS[1]),
          { x: counts, y: counts.map((count) => last + (k * (last - mu)) / count), colour: COLOURS[1], dash: "", plain: true }],
        levels: [{ y: mu, name: `μ = ${mu.toFixed(2)}` }],
      });
      for (const path of [...films.svg.querySelectorAll(".gx-curve")].slice(0, 2)) path.style.cssText += "stroke-linecap: round; stroke-width: 6.5px";
      const here = ndcgAt(k);
      tried.show({
        x: { from: LEAST_K, to: MOST_K, scale: "log", label: "pseudo-counts k" }, y: { from: Math.floor(50 * Math.min(...trial.ndcg)) / 50, to: Math.ceil(50 * Math.max(...trial.ndcg)) / 50, label: "NDCG@5, held out" },
        curves: [{ x: trial.k, y: trial.ndcg, colour: COLOURS[2], dash: "", plain: true }],
        handles: [{ key: "k", x: k, y: here, along: "x", from: LEAST_K, to: MOST_K, step: 1.15, label: "pseudo-counts k, on the curve of NDCG", text: `${written(k)}, NDCG ${three(here)}`, colour: COLOURS[2], move: (x) => lab.set({ k: Number(x.toPrecision(3)) }) }],
      });
      right.replaceChildren(ranked(listed.map((one) => ({
        text: one.title.replace(/ \(\d{4}\)$/, "") || `${ratings(one.n)}, mean ${one.mean.toFixed(2)}`, note: one.q.toFixed(2), bar: one.n / most, on: one.n < 10,
      })), "The ten best (bars: ratings)"));
      const rare = listed.filter((one) => one.n < 10).length;
      lab.say(`k = ${written(k)}: ${rare || "none"} of the ten best ${rare === 1 ? "has" : "have"} fewer than ten ratings. First: ${listed[0].title || `a film with ${ratings(listed[0].n)}`}, mean ${listed[0].mean.toFixed(2)}, drawn to ${listed[0].q.toFixed(2)}. `
        + `Held-out NDCG@5: ${three(here)}, at best ${three(Math.max(...trial.ndcg))}.`);
    },
  });
  lab.figure.append(beside(left, right));
  lab.figure.lastChild.classList.add("gx-even");
}
