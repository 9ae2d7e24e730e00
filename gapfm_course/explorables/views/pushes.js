// Chapter 10: one kernel, five tables of weights: what each objective does to each film of a list.

import { COLOURS, chart } from "../chart.js";
import { accumulated, logistic, thresholdingProbabilities } from "../engine.js";
import { laboratory, make, written } from "../kit.js";

const sum = (list) => list.reduce((a, b) => a + b, 0);

// ∂(measure)/∂f of all five, by name. Each says a_ij, what the pair earns if j stands above i, and
// s_i, what it costs i to lose a rank; c_k = (1/τ) Σ_i d_ik (m_ik - m_ki), m_ij = a_ij - s_i, is the same for all.
function pushesOf(f, y, delta, n, tau) {
  const N = f.length, items = f.map((_, i) => i), top = delta.length;
  const Delta = accumulated(delta), worth = y.map((grade) => Delta[grade]);
  const t = f.map((fi) => f.map((fj) => logistic((fj - fi) / tau))); // t[i][j]: j above i
  const down = f.map((fi) => f.map((fj) => logistic((fi - fj) / tau))); // 1 - t_ij, all digits
  const R = t.map((row) => 0.5 + sum(row)), none = () => 0;

  function pairs(G) { // GAP and AP
    const Z = sum(G), both = (i, j) => Math.min(G[i], G[j]);
    const earned = items.map((i) => G[i] / 2 + sum(items.map((j) => both(i, j) * t[i][j]))); // t_ii is only ½
    return { a: (i, j) => both(i, j) / (Z * R[i]), s: earned.map((e, i) => e / (Z * R[i] ** 2)) };
  }
  function gate(G) { // GR and GP: -G h'(R̂), h = 1 / (1 + (R̂ / (n + ½))^(1/τ))
    const h = R.map((r) => 1 / (1 + (r / (n + 0.5)) ** (1 / tau))), shut = R.map((r) => 1 / (1 + ((n + 0.5) / r) ** (1 / tau)));
    return { a: none, s: G.map((own, i) => (own * h[i] * shut[i]) / (tau * R[i])) };
  }
  function cascade(p) { // ERR
    const passed = (i, j) => (i === j ? 1 : down[i][j] + (1 - p[j]) * t[i][j]); // 1 - p_j t_ij
    const stops = items.map((i) => (p[i] * items.reduce((all, j) => all * passed(i, j), 1)) / R[i]);
    return { a: (i, j) => (-stops[i] * p[j]) / passed(i, j), s: stops.map((stop, i) => stop / R[i]) };
  }

  const rated = worth.filter((own) => own > 0).sort((a, b) => b - a), standard = rated[Math.min(n, rated.length) - 1];
  const weights = {
    GAP: pairs(worth), AP: pairs(worth.map(Math.sign)),
    [`GP@${n}`]: gate(worth.map((own) => Math.min(own, standard) / standard / n)),
    [`GR@${n}`]: gate(worth.map((own) => own / sum(worth))),
    ERR: cascade(y.map((grade) => (2 ** grade - 1) / 2 ** top)),
  };
  return Object.fromEntries(Object.entries(weights).map(([name, { a, s }]) => {
    const m = (i, j) => a(i, j) - s[i];
    return [name, items.map((k) => sum(items.map((i) => (i === k ? 0 : t[i][k] * down[i][k] * (m(i, k) - m(k, i))))) / tau)];
  }));
}

// data: {films: names, grades, scores, maxGrade, at}
export function view(place, { films, grades, scores, maxGrade, at }) {
  const y = Array.from(grades), f = Array.from(scores), delta = thresholdingProbabilities(maxGrade);
  const picture = make("div"), arrows = chart(picture, { alt: "Ten films in the rows, five objectives in the columns: an arrow up where the objective lifts the film, down where it lowers it.", height: 44 * films.length + 58 });

  const lab = laboratory(place, {
    name: "pushes", title: "Five objectives push one list",
    ask: "A 3 stands on top, and a 5 waits below it. Which objectives push the 3 down, and which up? Which one pushes the second 5 down?",
    controls: [
      { name: "tau", label: "temperature τ", from: 0.1, to: 5, start: 1, scale: "log", text: written, play: true },
      { name: "n", label: "cut-off n of GP, GR", from: 1, to: films.length, start: at, step: 1, text: String },
    ],
    note: "The films' grades are made up; scores fall by 1 from film to film. Arrows are in shares of each objective's strongest push.",
    render({ tau, n }) {
      const found = pushesOf(f, y, delta, n, tau), names = Object.keys(found);
      const strongest = names.map((name) => Math.max(...found[name].map(Math.abs)));
      const drawn = [];
      names.forEach((name, column) => found[name].forEach((c, k) => {
        const length = (0.46 * c) / strongest[column];
        drawn.push({ x: column, y: k + length, toX: column, toY: k - length, colour: c > 0 ? COLOURS[0] : COLOURS[1] });
      }));
      arrows.show({
        x: { from: -0.5, to: names.length - 0.5, names, label: "" },
        y: { from: films.length - 0.5, to: -0.5, names: films.map((film, k) => `${film} ${y[k] || "–"}`), label: "" },
        arrows: drawn,
      });
      const up = (k) => names.filter((name) => found[name][k] > 0), down = (k) => names.filter((name) => found[name][k] <= 0);
      const last5 = y.lastIndexOf(Math.max(...y)), joined = (list) => list.join(", ") || "nobody";
      const least = names[strongest.indexOf(Math.min(...strongest))];
      lab.say(`τ = ${written(tau)}: ${films[0]}, a ${y[0]} on top, is lifted by ${joined(up(0))} and lowered by ${joined(down(0))}. ${films[last5]}, the last ${y[last5]}, is lowered by ${joined(down(last5))}. `
        + `GAP's strongest push is ${written(strongest[0], 2)}; the weakest of all is ${least}'s, ${written(Math.min(...strongest), 2)}.`);
    },
  });
  lab.figure.append(picture);
}
