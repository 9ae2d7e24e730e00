// Chapter 1: drag films in a list; AP at every threshold and GAP follow.

import { gradedAveragePrecision, thresholdingProbabilities } from "../engine.js";
import { beside, chart } from "../chart.js";
import { laboratory, make, sortable, written } from "../kit.js";

// data: {films: names, grades, order: at the start}
export function view(place, { films, grades, order }) {
  const top = Math.max(...grades), delta = thresholdingProbabilities(top);
  const left = make("div"), right = make("div");
  const list = sortable(left, films, (next) => lab.set({ order: next }));
  const bars = chart(right, { alt: "Average precision at each threshold as bars, and GAP as a level.", height: 270 });

  // AP of the films in this order for a reader who likes what has `threshold` stars or more.
  const averagePrecision = (now, threshold) => {
    let hits = 0, sum = 0;
    now.forEach((film, k) => { if (grades[film] >= threshold) sum += ++hits / (k + 1); });
    return hits ? sum / hits : 0;
  };

  const lab = laboratory(place, {
    name: "drag_list", title: "Drag the films",
    ask: "Which film can fall to the last place and cost the least? Guess, then drag it down.",
    held: { order },
    render({ order: now }) {
      const inOrder = now.map((film) => grades[film]);
      const gap = gradedAveragePrecision(inOrder, now.map((_, k) => -k), { delta });
      const aps = Array.from({ length: top }, (_, k) => averagePrecision(now, k + 1));
      list.show(now, grades.map((g) => "★".repeat(g)));
      bars.show({
        x: { from: 0.4, to: top + 0.6, label: "a film is liked from this many stars", ticks: aps.map((_, k) => k + 1) },
        y: { from: 0, to: 1, label: "average precision" },
        bars: aps.map((value, k) => ({ x: k + 1, y: value })), levels: [{ y: gap, name: `GAP ${written(gap)}` }],
      });
      lab.say(`GAP is ${written(gap)}. AP from one star up to ${top}: ${aps.map((v) => written(v)).join(", ")}.`);
    },
  });
  lab.figure.append(beside(left, right));
}
