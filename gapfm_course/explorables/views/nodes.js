// Chapter 8: know the sum over pairs from p places, with an error that can be predicted.

import { beside, chart, COLOURS } from "../chart.js";
import { logistic } from "../engine.js";
import { laboratory, make, written } from "../kit.js";

const LEAST = 1e-16; // below it is rounding
const NODES = "Chebyshev nodes", EVEN = "even steps";
const FINE = 6; // points of the curve between two nodes, at which they lie half-way
const FILMS = 51; // scores f at which g(f - x) is to be known
const MOST_NODES = 60, MOST_FILMS = 17770;

// The p places in [-1, 1] and the weights of their barycentric formula.
function placesOf(kind, p) {
  const places = [], weights = [];
  for (let k = 0, binomial = 1; k < p; k += 1) {
    const angle = (Math.PI * (k + 0.5)) / p, sign = k % 2 ? -1 : 1;
    places.push(kind === NODES ? Math.cos(angle) : p > 1 ? -1 + (2 * k) / (p - 1) : 0);
    weights.push(sign * (kind === NODES ? Math.sin(angle) : binomial));
    binomial *= (p - 1 - k) / (k + 1);
  }
  return { places, weights };
}

// Points in [-1, 1] that leave out the nodes themselves, where the error is 0.
function between(kind, p) {
  const ends = kind === NODES ? 0 : 1; // even steps have places there
  const steps = Array.from({ length: FINE * p + 1 }, (_, k) => k).filter((k) => k % FINE !== FINE / 2 && k >= ends && k <= FINE * p - ends);
  return steps.map((k) => Math.cos((Math.PI * k) / (FINE * p)));
}

// At each place x of [-1, 1], in halves of the range L, the largest error of g(f - x) over f.
function errors(kind, p, L, xs) {
  const { places, weights } = placesOf(kind, p), half = L / 2;
  const films = Array.from({ length: FILMS }, (_, k) => half * (-1 + (2 * k) / (FILMS - 1)));
  const known = Float64Array.from({ length: FILMS * p }, (_, q) => logistic(films[Math.floor(q / p)] - half * places[q % p]));
  const shares = new Float64Array(p); // how much of each place is in the polynomial at x
  return xs.map((x) => {
    const at = places.indexOf(x);
    let all = 0, worst = 0;
    for (let k = 0; k < p; k += 1) all += shares[k] = at < 0 ? weights[k] / (x - places[k]) : Number(k === at);
    for (let k = 0; k < p; k += 1) shares[k] /= all;
    for (let m = 0; m < FILMS; m += 1) {
      let found = 0;
      for (let k = 0; k < p; k += 1) found += shares[k] * known[m * p + k];
      worst = Math.max(worst, Math.abs(found - logistic(films[m] - half * x)));
    }
    return worst;
  });
}

// ρ, the factor by which a node lowers the error.
function decay(L) {
  const slope = (2 * Math.PI) / L;
  return slope + Math.sqrt(1 + slope ** 2);
}

// Terms of the sum: through the nodes for five grades, and through the pairs, each once.
const byNodes = (S, p) => 2 * S * p + 5 * p ** 2, byPairs = (S) => S ** 2 / 2;

// data: {p, L, S} at the start
export function view(place, data) {
  const left = make("div"), right = make("div");
  const along = chart(left, { alt: "Error along the range of scores, on a logarithmic axis, and the level that is predicted; drag it.", height: 300 });
  const work = chart(right, { alt: "Terms of the sum against the number of films, through the pairs and through the nodes.", height: 300 });
  const lab = laboratory(place, {
    name: "nodes", title: "A few places know the whole sum",
    ask: "Twelve places for scores within L = 5 leave an error of a few millionths. What do twelve more make of it: half, a hundredth, a millionth?",
    controls: [
      { name: "p", label: "places p", from: 2, to: MOST_NODES, step: 1, start: data.p, play: true },
      { name: "L", label: "range L of the scores", from: 1, to: 20, scale: "log", start: data.L },
      { name: "S", label: "rated films S", from: 10, to: MOST_FILMS, scale: "log", start: data.S, text: (S) => written(Math.round(S), 5) },
      { name: "kind", label: "places at", options: [NODES, EVEN], start: NODES },
    ],
    render({ p, L, S: films, kind }) {
      const S = Math.round(films), rho = decay(L), promised = rho ** -p;
      const xs = between(kind, p), error = errors(kind, p, L, xs), most = Math.max(...error);
      const { places } = placesOf(kind, p), colour = COLOURS[kind === NODES ? 0 : 1];
      along.show({
        x: { from: -1, to: 1, label: "score, in halves of the range", ticks: [-1, -0.5, 0, 0.5, 1] },
        y: { from: LEAST, to: Math.max(1, 10 ** Math.ceil(Math.log10(most))), scale: "log", label: "error", text: power },
        curves: [{ name: `error with ${kind}`, x: xs, y: error.map((v) => Math.max(v, LEAST)), colour, dash: "" }],
        levels: [{ y: Math.max(promised, LEAST), name: "predicted ρ⁻ᵖ" }],
        bars: places.map((x) => ({ x, from: LEAST, y: 6 * LEAST, width: 0.012, colour })),
        handles: [{
          key: "promised", x: 0, y: promised, along: "y", from: rho ** -MOST_NODES, to: rho ** -2, step: rho, label: "the error wanted",
          text: `${written(promised, 2)}, ${p} places`, move: (y) => lab.set({ p: Math.round(-Math.log(y) / Math.log(rho)) }),
        }],
      });
      const range = { from: 10, to: 20000, scale: "log" }, sizes = Array.from({ length: 34 }, (_, k) => 10 * 2000 ** (k / 33));
      work.show({
        x: { ...range, label: "rated films S", ticks: [10, 100, 1000, 10000], text: (v) => written(v, 6) },
        y: { from: 10, to: 1e9, scale: "log", label: "terms to add", text: power },
        curves: [{ name: "all pairs", x: sizes, y: sizes.map(byPairs), colour: COLOURS[1], dash: "" },
          { name: `${p} places`, x: sizes, y: sizes.map((n) => byNodes(n, p)), colour: COLOURS[0], dash: "" }],
        dots: [{ x: S, y: byPairs(S), colour: COLOURS[1] }, { x: S, y: byNodes(S, p), name: "you are here" }],
        handles: [{
          key: "S", x: S, y: byNodes(S, p), along: "x", from: 10, to: MOST_FILMS, step: 1.1, label: "rated films S, on the curve of the places",
          text: `${written(S, 5)} films`, move: (x) => lab.set({ S: Math.round(x) }),
        }],
      });
      const share = byNodes(S, p) / byPairs(S);
      lab.say(`${p} ${kind === NODES ? "nodes" : "even steps"}: the largest error is ${written(most, 2)}. Each node divides the error by ρ = ${written(rho)}, which promises ${written(promised, 2)}${fate(kind, most, promised)}.`
        + ` For ${written(S, 6)} films the places take ${written(share, 2)} of the terms that the pairs have${share < 1 ? "" : ": here the pairs are cheaper"}.`);
    },
  });
  lab.figure.append(beside(left, right));
  right.parentElement.classList.add("gx-even");
}

// A power of ten as such: 10, 100, but 10⁵.
function power(v) {
  const text = String(Math.round(Math.log10(v)));
  return v >= 1 && v <= 100 ? String(v) : `10${text.replace("-", "⁻").replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d])}`;
}

// What has become of the promise.
function fate(kind, most, promised) {
  if (kind === EVEN) return most > 30 * promised ? "; even steps break that promise" : " to nodes, and even steps still keep up";
  return most > 30 * promised ? "; but what is left is rounding" : "";
}
