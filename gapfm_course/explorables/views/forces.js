// Chapter 3: push and pull on each film, the two parts of ∂F/∂f; let go, and the films follow them.

import { accumulated, gradedAveragePrecision, logistic, smoothedGap, smoothedGapGradient } from "../engine.js";
import { beside, chart, COLOURS } from "../chart.js";
import { laboratory, make, written } from "../kit.js";

const FLOOR = -5.6, LOW = -4, HIGH = 5, ROOMY = 400, LONGEST = 150, RATE = 0.4, WRONG = 4;
const SCALE = 6; // how long an arrow is drawn, in units of score for a force of 1
const short = (value) => (Math.abs(value) < 0.005 ? "0" : (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2));
const signed = (value) => (value > 0 ? "+" : "") + written(value, 2);

// data: {films: names, grades, delta: δ_1, δ_2, ...}
export function view(place, { films, grades, delta }) {
  const left = make("div"), right = make("div");
  const forces = chart(left, { alt: "Each film at the height of its score, with the push and the pull on it as arrows.", height: 380 });
  const climb = chart(right, { alt: "The objective and exact GAP along the steps of ascent.", height: 300 });
  const Delta = accumulated(delta), worth = Array.from(grades, (grade) => Delta[grade]);
  // At the start the lowest grade is on top: so wrong that ascent won't put it right.
  const falling = Array.from(grades.keys()).sort((i, j) => grades[i] - grades[j]);
  const start = Array.from(grades, (_, film) => Number((WRONG - (2 * WRONG * falling.indexOf(film)) / (films.length - 1)).toFixed(2)));
  const most = worth.reduce((sum, a) => worth.reduce((more, b) => more + Math.min(a, b), sum), 0) / 2; // ½ Σ β

  // g'(f_i) Σ_j β_ij g(f_j − f_i): the first part of the gradient. What is left of it is the pull.
  const push = (f) => f.map((own, i) => logistic(own) * logistic(-own)
    * f.reduce((sum, other, j) => sum + Math.min(worth[i], worth[j]) * logistic(other - own), 0));
  const slope = (f) => Array.from(smoothedGapGradient(f, grades, { delta }));

  // The scores after 0, 1, ... steps of ascent from `scores`; kept while only the step changes.
  let kept = { key: null };
  function path(scores) {
    const key = scores.join();
    if (kept.key === key) return kept;
    const steps = [scores];
    for (let k = 0; k < LONGEST; k++) {
      const f = steps[k], c = slope(f);
      steps.push(f.map((own, i) => own + RATE * c[i]));
    }
    kept = { key, steps, F: steps.map((f) => smoothedGap(f, grades, { delta }) / most), gap: steps.map((f) => gradedAveragePrecision(grades, f, { delta })) };
    return kept;
  }

  const lab = laboratory(place, {
    name: "forces", title: "Push and pull",
    ask: "The film with the lowest grade is on top, and the one with the highest grade at the bottom. Which way will the forces send the two? Then let them go: will the list be sorted when F has almost all that it can have?",
    controls: [{ name: "step", label: "Let go: steps of ascent", from: 0, to: LONGEST, step: 1, start: 0, play: true }],
    held: { scores: start },
    note: "Drag a film up or down. Its left arrow is the push, its right one the pull, on the same scale; their sum is the gradient.",
    render({ step, scores }) {
      const { steps, F, gap } = path(scores), f = steps[step], pushes = push(f), c = slope(f), pulls = c.map((all, i) => all - pushes[i]);
      const moved = (k, y) => lab.set({ step: 0, scores: f.map((own, i) => (i === k ? Number(y.toFixed(2)) : own)) });
      const arrow = (k, aside, force, colour, name) => ({ x: k + aside, y: f[k], toX: k + aside, toY: f[k] + SCALE * force, colour, name: name + short(force), under: aside > 0 });
      const narrow = left.clientWidth < ROOMY;
      forces.show({
        x: { from: -0.75, to: films.length - 0.4, ticks: films.map((_, k) => k), text: (k) => films[k] },
        y: { from: FLOOR, to: HIGH, label: "score f", ticks: [-4, -2, 0, 2, 4] },
        levels: [{ y: 0 }],
        arrows: films.flatMap((_, k) => [arrow(k, -0.22, pushes[k], COLOURS[0], k || narrow ? "" : "push "), arrow(k, 0.24, pulls[k], COLOURS[1], k || narrow ? "" : "pull "), { x: k, toX: k, y: FLOOR, toY: FLOOR, name: `${grades[k]}★` }]),
        handles: films.map((name, k) => ({
          key: String(k), x: k, y: f[k], along: "y", from: LOW, to: HIGH, step: 0.1, colour: "currentColor", label: `score of ${name}`, move: (y) => moved(k, y),
          text: `${written(f[k])}, push ${signed(pushes[k])}, pull ${signed(pulls[k])}`,
        })),
      });
      const along = steps.map((_, k) => k);
      climb.show({
        x: { from: 0, to: LONGEST, label: "steps of ascent" }, y: { from: 0, to: 1.05 },
        curves: [{ name: "F / ½Σβ", x: along, y: F, dash: "" }, { name: "exact GAP", x: along, y: gap, dash: "", colour: COLOURS[2] }],
        levels: [{ x: step }], dots: [{ x: step, y: F[step], colour: COLOURS[0] }, { x: step, y: gap[step], colour: COLOURS[2] }],
      });
      lab.say(`F is ${written(F[step] * most)}, ${written(100 * F[step])}% of the most it can have; exact GAP is ${written(gap[step])}. ${seen(f, pushes, pulls, step, gap)}`);
    },
  });
  lab.figure.append(beside(left, right));

  function seen(f, pushes, pulls, step, gap) {
    const strongest = pushes.indexOf(Math.max(...pushes));
    const sorted = gap[step] > 1 - 1e-9 ? "The list is right" : "The list is not right";
    if (step) return `${sorted}${step === LONGEST ? ", and hardly anything pushes any more" : ""}: all films have risen, the strongest push is now on ${films[strongest]}, ${signed(pushes[strongest])}.`;
    const down = pulls.indexOf(Math.min(...pulls));
    return `Every push is up, the strongest on ${films[strongest]}, ${signed(pushes[strongest])}. The pulls add up to zero; the strongest down is on ${films[down]}, ${signed(pulls[down])}.`;
  }
}
