// Chapter 9: from the arithmetic to the geometric mean of precisions, which ratings get the pull?

import { COLOURS, chart } from "../chart.js";
import { laboratory, make, written } from "../kit.js";
import { accumulated, logistic, thresholdingProbabilities } from "../engine.js";

const percent = (share) => `${Math.round(100 * share)}%`;

// data: of one user's rated films, best place first: grades, scores; above and slope, the sums of
// t_ij and of t_ij (1 - t_ij) over all unrated j; maxGrade, tau, films: how many there are in all;
// everybody: {words: share of the worse half over all users}
export function view(place, { grades, scores, above, slope, maxGrade, tau, films, everybody }) {
  const n = grades.length, Delta = accumulated(thresholdingProbabilities(maxGrade));
  const worth = Array.from(grades, (grade) => Delta[grade]);
  const t = Array.from(scores, (f) => Array.from(scores, (other) => logistic((other - f) / tau))); // t[i][j]: j above i
  const places = t.map((row, i) => 0.5 + above[i] + row.reduce((a, b) => a + b, 0));
  const picture = make("div"), bars = chart(picture, { alt: "A bar for each film of one user, best place first: its share of the upward pull.", height: 320 });

  // ∂F_p/∂f of the rated films where an unrated one counts w: the consistent power mean's gradient.
  function pulls(p, w) {
    const earned = worth.map((own, i) => own + t[i].reduce((sum, upon, j) => sum + (j === i ? 0 : Math.min(own, worth[j]) * upon), 0));
    const rank = t.map((row, i) => 0.5 + w * above[i] + row.reduce((a, b) => a + b, 0));
    const each = worth.map((own, i) => (grades[i] / maxGrade) * (earned[i] / (own * rank[i])) ** p); // v_i P̂_i^p
    const m = (i, j) => (each[i] / earned[i]) * Math.min(worth[i], worth[j]) - each[i] / rank[i];
    return worth.map((_, k) => {
      let c = w * (each[k] / rank[k]) * slope[k]; // from the unrated, which have no term of their own
      for (let i = 0; i < n; i += 1) if (i !== k) c += t[i][k] * t[k][i] * (m(i, k) - m(k, i));
      return c / tau;
    });
  }

  const half = Math.ceil(n / 2);
  const lab = laboratory(place, {
    name: "who_is_pulled", title: "Who is pulled up?",
    ask: "If all films were pulled alike, the half with the worse places would have half of the pull. How much has it under the arithmetic mean, p = 1?",
    controls: [
      { name: "p", label: "exponent p (1 arithmetic, 0 geometric)", from: 0, to: 1, start: 1, step: 0.01, text: (v) => v.toFixed(2) },
      { name: "w", label: "weight w of an unrated film", from: 0.01, to: 1, start: 1, scale: "log", text: (v) => written(v, 2) },
    ],
    note: `The ${n} training ratings of one user, among ${written(films)} films; the model stands still where consistent GAP has left it. Over all users the worse half has ${Object.entries(everybody).map(([words, share]) => `${percent(share)} (${words})`).join(", ")}.`,
    render({ p, w }) {
      const pull = pulls(p, w), up = pull.reduce((sum, c) => sum + Math.max(0, c), 0);
      const share = pull.map((c) => c / up);
      const worse = share.slice(half).reduce((sum, s) => sum + Math.max(0, s), 0);
      const middle = Math.round(places[half]), first = share.indexOf(Math.max(...share));
      const five = n <= 12 ? 1 : 5;
      bars.show({
        x: { from: 0.3, to: n + 0.7, label: "smooth place R̂ of the film among all", ticks: [1, ...Array.from({ length: Math.floor(n / five) }, (_, k) => (k + 1) * five)].filter((v, k, all) => all.indexOf(v) === k), text: (v) => String(Math.round(places[v - 1])) },
        y: { from: Math.min(0, ...share) * 1.15, to: Math.max(0.25, ...share) * 1.1, label: "share of the pull", text: percent },
        bars: share.map((s, k) => ({ x: k + 1, y: s, from: 0, colour: k < half ? COLOURS[0] : COLOURS[1], opacity: 0.35 + 0.13 * grades[k] })),
        levels: [{ y: 1 / n, name: "even" }, { y: 0 }, { x: half + 0.5, name: `worse half: ${percent(worse)}` }],
      });
      const mean = p === 1 ? "The arithmetic mean" : p === 0 ? "The geometric mean" : `p = ${p.toFixed(2)}`;
      lab.say(`${mean} with w = ${written(w, 2)}: the worse half of the films, from place ${middle} on, has ${percent(worse)} of the pull. The most, ${percent(share[first])}, goes to a film with ${grades[first]} stars at place ${Math.round(places[first])}. `
        + (worse < 0.3 ? "What stands far down is given up." : worse < 0.43 ? "The far ones are heard, if less." : "Nearly even shares: nothing is given up."));
    },
  });
  lab.figure.append(picture);
}
