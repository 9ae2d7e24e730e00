// Chapter 1: drag films in a list; AP at every threshold follows, and GAP, the mean of them all.

import { gradedAveragePrecision } from "../engine.js";
import { beside, chart, COLOURS } from "../chart.js";
import { laboratory, make, sortable, written } from "../kit.js";

const ROOM = 1.4; // at the right of the bars, for GAP's name

// AP of grades in ranked order for a reader who likes what has `threshold` or more.
function averagePrecision(grades, threshold) {
  let hits = 0, sum = 0;
  grades.forEach((grade, k) => { if (grade >= threshold) sum += ++hits / (k + 1); });
  return hits ? sum / hits : 0;
}

// data: {films: names, grades, order: at the start, audiences: {name: δ_1, δ_2, ...}}
export function view(place, { films, grades, order, audiences }) {
  const top = Math.max(...grades), thresholds = Array.from({ length: top }, (_, k) => k + 1);
  const left = make("div"), right = make("div");
  // A film's move is compared with the list before that film was taken.
  const list = sortable(left, films, (next, film) => {
    const { order: now, before, moved } = lab.values;
    lab.set({ order: next, moved: film, before: film === moved ? before : [...now] });
  });
  const bars = chart(right, {
    alt: "A bar of average precision for each threshold, as wide as the threshold's weight, and GAP as a level.", height: 290,
  });
  const stars = (grade) => `${grade}★`;

  const lab = laboratory(place, {
    name: "drag_list", title: "Drag the films",
    ask: "Which film can fall to the last place and cost the least? And whose rise would please some readers and annoy others? Guess, then drag.",
    controls: [{ name: "audience", label: "Audience", options: Object.keys(audiences), start: Object.keys(audiences)[0] }],
    held: { order, before: order, moved: -1 }, orders: ["order", "before"],
    note: "A bar is one kind of reader, and as wide as such readers weigh, δ times the number of their hits. Level all bars, and you have GAP. Arrows come from where the bars were before you took hold of the film.",
    render({ order: now, before, moved, audience }) {
      const delta = audiences[audience], ranked = now.map((film) => grades[film]), earlier = before.map((film) => grades[film]);
      const gapOf = (inOrder) => gradedAveragePrecision(inOrder, inOrder.map((_, k) => -k), { delta });
      const [gap, was] = [gapOf(ranked), gapOf(earlier)];
      const aps = thresholds.map((l) => averagePrecision(ranked, l)), old = thresholds.map((l) => averagePrecision(earlier, l));
      const weights = thresholds.map((l) => delta[l - 1] * grades.filter((grade) => grade >= l).length);
      const all = weights.reduce((a, b) => a + b, 0);
      let edge = 0;
      const middles = weights.map((w) => { edge += w / all; return edge - w / all / 2; });
      list.show(now, grades.map((grade) => "★".repeat(grade)));
      bars.show({
        x: { from: 0, to: ROOM, label: "liked from this many ★", ticks: middles, text: (x) => String(middles.indexOf(x) + 1) },
        y: { from: 0, to: 1, label: "average precision" },
        bars: aps.map((y, k) => ({ x: middles[k], y, width: Math.max(0.004, weights[k] / all - 0.008), opacity: 0.75 })),
        levels: [{ y: gap, name: `GAP ${written(gap)}`, colour: COLOURS[1] }],
        arrows: aps.map((y, k) => ({ x: middles[k], y: old[k], toX: middles[k], toY: y })).filter((one) => Math.abs(one.y - one.toY) > 1e-9),
      });
      lab.say(`GAP is ${written(gap)}. AP, liked from ${stars(1)} up to ${stars(top)}: ${aps.map((v) => written(v)).join(", ")}.${told(now, before, moved, gap - was, aps.map((v, k) => v - old[k]))}`);
    },
  });
  lab.figure.append(beside(left, right));
  left.parentElement.classList.add("gx-even");

  // What the move has done: to GAP, and to whom.
  function told(now, before, film, change, changes) {
    const [from, to] = [before.indexOf(film) + 1, now.indexOf(film) + 1];
    if (film < 0 || from === to) return "";
    const who = (sign) => thresholds.filter((_, k) => sign * changes[k] > 1e-9).map(stars).join(", ");
    const [up, down] = [who(1), who(-1)];
    const felt = [up && `better for readers from ${up}`, down && `worse for those from ${down}`].filter(Boolean).join(", ");
    const size = Math.abs(change) < 5e-7 ? "left GAP as it was" : `${change > 0 ? "raised" : "lowered"} GAP by ${written(Math.abs(change))}`;
    return ` ${films[film]} (${stars(grades[film])}) from rank ${from} to ${to} ${size}${felt && `: ${felt}`}.`;
  }
}
