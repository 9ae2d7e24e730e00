// Chapter 10: one list before six judges; which of them minds the last move the most?

import { COLOURS, beside, chart } from "../chart.js";
import { accumulated, gradedAveragePrecision, thresholdingProbabilities } from "../engine.js";
import { laboratory, make, sortable } from "../kit.js";

const SAME = 1e-9;
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3).replace(/^0/, "")}`;

// All measures of the grades y in ranked order, 0 for unrated; GP and GR at rank n.
function judged(y, n, delta) {
  const top = delta.length, Delta = accumulated(delta), worth = (grade) => Delta[grade];
  const scores = y.map((_, k) => -k), rated = y.filter((grade) => grade > 0);
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  let hits = 0, precisions = 0, arrive = 1, err = 0;
  y.forEach((grade, k) => {
    if (grade) precisions += ++hits / (k + 1);
    const stop = (2 ** grade - 1) / 2 ** top;
    err += (arrive * stop) / (k + 1);
    arrive *= 1 - stop;
  });
  const dcg = (list) => sum(list.map((grade, k) => (2 ** grade - 1) / Math.log2(k + 2)));
  const standard = worth(y[n - 1] || 1); // of the film shown at rank n; the lowest where that is unrated
  return {
    AP: precisions / rated.length,
    GAP: gradedAveragePrecision(y, scores, { delta }),
    NDCG: dcg(y) / dcg([...y].sort((a, b) => b - a)),
    ERR: err,
    [`GP@${n}`]: sum(y.slice(0, n).map((grade) => Math.min(worth(grade), standard) / standard)) / n,
    [`GR@${n}`]: sum(y.slice(0, n).map(worth)) / sum(rated.map(worth)),
  };
}

// data: {films: names, users: {words: grades, 0 for unrated}, maxGrade, at}
export function view(place, { films, users, maxGrade, at }) {
  const delta = thresholdingProbabilities(maxGrade), given = films.map((_, k) => k), people = Object.keys(users);
  const left = make("div"), right = make("div");
  const list = sortable(left, films, moved);
  const bars = chart(right, { alt: "A bar for each of six measures of the list, and a ring where it stood before the last move.", height: 340 });

  // One film's way, however many steps it takes, is one move.
  function moved(next) {
    const { order, before } = lab.values;
    const oneFilm = next.some((film) => next.filter((other) => other !== film).join() === before.filter((other) => other !== film).join());
    lab.set({ before: oneFilm ? before : order, order: next });
  }

  const lab = laboratory(place, {
    name: "measures", title: "One list, six judges",
    ask: "To which judge are a 5 and a 1 the same? Which looks at little but the first good film? Move films, and see who minds.",
    controls: [
      { name: "user", label: "the user's grades", options: people, start: people[0] },
      { name: "n", label: "cut-off n of GP and GR", from: 1, to: films.length, start: at, step: 1, text: String },
    ],
    held: { order: given, before: given }, orders: ["order", "before"],
    note: "The grades are made up. Drag the films, or move one with the arrow keys. A ring: before the last move.",
    render({ order, before, user, n }) {
      const grades = Array.from(users[user]), now = judged(order.map((film) => grades[film]), n, delta);
      const was = judged(before.map((film) => grades[film]), n, delta), names = Object.keys(now);
      const change = names.map((name) => now[name] - was[name]), size = change.map(Math.abs);
      list.show(order, grades.map((grade) => (grade ? "★".repeat(grade) : "not rated")));
      bars.show({
        x: { from: -0.6, to: names.length - 0.4, names, label: "" },
        y: { from: 0, to: 1, label: "value" },
        bars: names.map((name, k) => ({ x: k, y: now[name], width: 0.62, colour: COLOURS[k], opacity: 0.8 })),
        dots: names.map((name, k) => ({ x: k, y: was[name], ring: true })).filter((_, k) => size[k] > 5e-4),
      });
      const values = names.map((name) => `${name} ${now[name].toFixed(3).replace(/^0/, "")}`).join(", ");
      const most = size.indexOf(Math.max(...size)), blind = names.filter((_, k) => size[k] < SAME);
      const same = order.every((film, k) => film === before[k]);
      lab.say(`${values}. ` + (same ? "Move a film." : size[most] < SAME ? "The last move is all the same to every one of them."
        : `The last move mattered most to ${names[most]}, ${signed(change[most])}${blind.length ? `, and not at all to ${blind.join(", ")}` : `; least to ${names[size.indexOf(Math.min(...size))]}`}.`));
    },
  });
  lab.figure.append(beside(left, right));
  lab.figure.lastChild.classList.add("gx-even");
}
