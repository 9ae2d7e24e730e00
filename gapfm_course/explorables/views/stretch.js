// Chapter 9: which objectives rise when nothing changes but where the scores lie, and how wide?

import { COLOURS, beside, chart } from "../chart.js";
import { accumulated, consistentGap, gradedAveragePrecision, logistic, smoothedGap, thresholdingProbabilities } from "../engine.js";
import { laboratory, make, written } from "../kit.js";

const FARTHEST = 12, NARROWEST = 0.1, WIDEST = 10, POINTS = 70, EDGE = 28;
const three = (value) => value.toFixed(3).replace(/^0/, "");

// The geometric mean of the graded precisions P̂_i = N_i / (Δ_i R̂_i), weighted by grade.
function geometricMean(scores, grades, worth) {
  let logs = 0, weights = 0;
  grades.forEach((grade, i) => {
    let earned = worth[i], rank = 1;
    grades.forEach((_, j) => {
      if (j === i) return;
      const above = logistic(scores[j] - scores[i]);
      rank += above;
      earned += Math.min(worth[i], worth[j]) * above;
    });
    logs += grade * Math.log(earned / (worth[i] * rank));
    weights += grade;
  });
  return Math.exp(logs / weights);
}

// data: {orders: {words: grades, best place first}, scores: falling}
export function view(place, { orders, scores }) {
  const names = Object.keys(orders), top = Math.max(...orders[names[0]]), delta = thresholdingProbabilities(top);
  const Delta = accumulated(delta), worthOf = (grade) => Delta[grade];
  const Z = orders[names[0]].reduce((sum, grade) => sum + worthOf(grade), 0);
  const above = make("div"), left = make("div"), right = make("div");
  const line = chart(above, { alt: "The films by score and stars.", height: 140 });
  const shifting = chart(left, { alt: "Four objectives against the shift of all scores.", height: 290 });
  const stretching = chart(right, { alt: "Four objectives against the factor that stretches all scores.", height: 290 });

  function judged(grades, shift, stretch) {
    const moved = scores.map((score) => shift + stretch * score);
    return {
      printed: smoothedGap(moved, grades, { delta }) / Z,
      exact: gradedAveragePrecision(grades, moved, { delta }),
      consistent: consistentGap(moved, grades, { delta }),
      geometric: geometricMean(moved, grades, grades.map(worthOf)),
    };
  }

  function curves(x, values) {
    const one = (name, words, colour, dash) => ({ x, y: values.map((v) => v[name]), name: words, colour: COLOURS[colour], dash });
    return [one("printed", "printed (8) / Z", 1, ""), one("exact", "exact GAP", 2, "2 3"), one("consistent", "consistent", 0, ""), one("geometric", "geometric", 3, "7 4")];
  }
  const evenly = (from, to) => Array.from({ length: POINTS }, (_, k) => from + (k / (POINTS - 1)) * (to - from));
  const shifts = evenly(-FARTHEST, FARTHEST), stretches = evenly(Math.log(NARROWEST), Math.log(WIDEST)).map(Math.exp);

  const drawn = {}; // the values of a curve, until another setting is asked for
  function along(name, setting, values) {
    if (drawn[name]?.setting !== setting) drawn[name] = { setting, values: values() };
    return drawn[name].values;
  }

  const lab = laboratory(place, {
    name: "stretch", title: "The order stays. What does the objective say?",
    ask: "Raise all scores by the same amount: the list is the list it was. Which of the four will claim that it has become better?",
    controls: [
      { name: "shift", label: "shift all scores by", from: -FARTHEST, to: FARTHEST, start: 0, step: 0.1, text: written, play: true },
      { name: "stretch", label: "stretch all scores ×", from: NARROWEST, to: WIDEST, start: 1, scale: "log", text: written, play: true },
      { name: "order", label: "the list", options: names, start: names[1] },
    ],
    note: "τ = 1. The printed objective is divided by Z, so that 1 should be the best. The dots can be dragged.",
    render({ shift, stretch, order }) {
      const grades = orders[order], now = judged(grades, shift, stretch), before = judged(grades, 0, 1);
      const y = { from: 0, to: 1.35, label: "value", ticks: [0, 0.25, 0.5, 0.75, 1, 1.25] };
      line.show({
        x: { from: -EDGE, to: EDGE, label: "score" }, y: { from: 0.4, to: top + 0.6, label: "stars", ticks: [...new Set(grades)] },
        dots: scores.map((score, k) => ({ x: shift + stretch * score, y: grades[k] })), levels: [{ x: 0 }],
      });
      shifting.show({
        x: { from: -FARTHEST, to: FARTHEST, label: `shift (stretched × ${written(stretch)})` }, y,
        curves: curves(shifts, along("shift", `${order} ${stretch}`, () => shifts.map((s) => judged(grades, s, stretch)))), levels: [{ x: shift }],
        handles: [{ key: "shift", x: shift, y: now.printed, along: "x", from: -FARTHEST, to: FARTHEST, step: 0.5, label: "shift, on the printed objective", text: `${written(shift)}, printed ${three(now.printed)}`, colour: COLOURS[1], move: (x) => lab.set({ shift: Math.round(10 * x) / 10 }) }],
      });
      stretching.show({
        x: { from: NARROWEST, to: WIDEST, scale: "log", label: `stretch × (shifted by ${written(shift)})` }, y,
        curves: curves(stretches, along("stretch", `${order} ${shift}`, () => stretches.map((s) => judged(grades, shift, s)))).map((one) => ({ ...one, plain: one.name === "geometric" || one.name === "exact GAP" })), levels: [{ x: stretch }],
        handles: [{ key: "stretch", x: stretch, y: now.consistent, along: "x", from: NARROWEST, to: WIDEST, step: 1.1, label: "stretch, on consistent GAP", text: `${written(stretch)} times, consistent ${three(now.consistent)}`, colour: COLOURS[0], move: (x) => lab.set({ stretch: Number(x.toPrecision(3)) }) }],
      });
      const verdict = now.printed > 1.0005 ? `, more than any list can earn`
        : now.printed > before.printed + 0.0005 ? ", and it has risen" : now.printed < before.printed - 0.0005 ? ", and it has fallen" : "";
      const towards = stretch > 1.05 ? " Stretched, consistent GAP goes to the exact GAP of this very order." : "";
      lab.say(`Printed: ${three(now.printed)}${verdict}. Exact GAP: ${three(now.exact)}, whatever you move. Consistent: ${three(now.consistent)}, geometric: ${three(now.geometric)}; `
        + `a shift changes neither.${towards}`);
    },
  });
  lab.figure.append(above, beside(left, right));
  lab.figure.lastChild.classList.add("gx-even");
}
