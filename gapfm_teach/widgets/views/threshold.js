// Start here: from how many stars on is a film relevant? What is below is blank like what is unrated.

import { mulberry32 } from "../engine.js";
import { beside, chart } from "../chart.js";
import { draw, laboratory, make, written } from "../kit.js";

const SEED = 1;
const BLUE = "var(--gx-blue)", GREY = "color-mix(in srgb, currentColor 26%, transparent)";

// data: {counts: ratings of each grade, n_users, n_items, users, films: ratings of each user and of each
// film of a smaller table, which is drawn as full as the whole one}
export function view(place, { counts, n_users: nUsers, n_items: nItems, users, films }) {
  const all = counts.reduce((a, b) => a + b, 0), cells = nUsers * nItems, top = counts.length;
  const from = (list, t) => list.reduce((sum, count, k) => sum + (k + 1 >= t ? count : 0), 0);
  const dots = simulated({ users, films, share: all / cells, counts });
  const left = make("div"), right = make("div");
  const bars = chart(left, { alt: "How often each grade is given, as bars, with a threshold to drag.", height: 260 });
  const table = tableOf(right, { rows: users.length, columns: films.length, dots });

  const lab = laboratory(place, {
    name: "threshold", title: "From how many stars on is a film relevant?",
    ask: "Move the threshold to four stars. Guess before: what share of the ratings is then relevant, and what share of the whole table?",
    note: `The table is simulated, a twentieth of the users and of the films: as full as the real one, with the same shares of grades, and as unevenly spread. Filled dots are relevant, rings are rated and below the threshold. Shares and numbers are those of all ${written(all)} ratings.`,
    controls: [{ name: "threshold", label: "relevant from", from: 1, to: top, start: 3, step: 1, text: starsOf }],
    render({ threshold: t }) {
      const relevant = from(counts, t), share = relevant / all;
      bars.show({
        x: { from: 0.4, to: top + 0.6, label: "stars", ticks: counts.map((_, k) => k + 1) },
        y: { from: 0, to: 1.12 * Math.max(...counts) / all, label: "share of the ratings", text: percent },
        bars: counts.map((count, k) => ({ x: k + 1, y: count / all, colour: k + 1 >= t ? BLUE : GREY })),
        levels: [{ x: t - 0.5, name: `relevant: ${percent(share)}`, colour: BLUE }],
        handles: [{
          key: "threshold", x: t - 0.5, y: 0.55 * Math.max(...counts) / all, along: "x", from: 0.5, to: top - 0.5, step: 1, label: "threshold, left of the relevant bars",
          text: `${starsOf(t)}, ${percent(share)} relevant`, move: (x) => lab.set({ threshold: Math.round(x + 0.5) }),
        }],
      });
      table.show(t);
      lab.say(`From ${starsOf(t)} ${t < top ? "up" : "only"}, ${percent(share)} of the ratings are relevant, ${written(relevant)} of ${written(all)}: ${percent(relevant / cells)} of the table’s ${written(cells)} cells. `
        + (t > 1 ? `The other ${written(all - relevant)} ratings now say no more than the ${written(cells - all)} empty cells.` : "One star counts for as much as five."));
    },
  });
  const both = beside(left, right);
  both.classList.add("gx-even");
  lab.figure.append(both);
}

const starsOf = (t) => (t === 1 ? "1 star" : `${t} stars`);
const percent = (share) => `${written(100 * share, 2)}%`;

// Cells {row, column, grade}: a busy user's and a well-known film's are filled first, at random.
function simulated({ users, films, share, counts }) {
  const rng = mulberry32(SEED), [rows, columns] = [mixed(users, rng), mixed(films, rng)];
  const keys = rows.flatMap((u, row) => columns.map((f, column) => ({ row, column, key: Math.log(1 - rng()) / (u * f) })));
  const chosen = keys.sort((a, b) => b.key - a.key).slice(0, Math.round(share * keys.length));
  const all = counts.reduce((a, b) => a + b, 0);
  let passed = 0;
  const grades = counts.flatMap((count, k) => {
    const before = Math.round(passed / all * chosen.length);
    passed += count;
    return new Array(Math.round(passed / all * chosen.length) - before).fill(k + 1);
  });
  const given = mixed(grades, rng);
  return chosen.map(({ row, column }, k) => ({ row, column, grade: given[k] }));
}

function mixed(list, rng) {
  return Array.from(list, (value) => ({ value, key: rng() })).sort((a, b) => a.key - b.key).map(({ value }) => value);
}

// The table with a dot for each rated cell, drawn once; `show` fills those that are relevant.
function tableOf(place, { rows, columns, dots }) {
  const cell = 10, edge = 42;
  const marks = dots.map(({ row, column }) => draw("circle", { cx: edge + (column + 0.5) * cell, cy: edge + (row + 0.5) * cell }));
  const frame = draw("rect", { x: edge, y: edge, width: columns * cell, height: rows * cell, class: "gx-axis" });
  const middle = [edge + columns * cell / 2, edge + rows * cell / 2];
  place.append(draw("svg", { class: "gx-chart gx-table", role: "img", "aria-label": "A simulated table of users and films, nearly empty.", viewBox: `0 0 ${edge + columns * cell + 2} ${edge + rows * cell + 2}` },
    frame, draw("text", { x: middle[0], y: edge - 12, "text-anchor": "middle" }, `${columns} films (simulated)`),
    draw("text", { x: edge - 12, y: middle[1], "text-anchor": "middle", transform: `rotate(-90 ${edge - 12} ${middle[1]})` }, `${rows} users`), ...marks));
  return {
    show(t) {
      marks.forEach((mark, k) => {
        const on = dots[k].grade >= t;
        mark.setAttribute("class", on ? "gx-relevant" : "gx-below");
        mark.setAttribute("r", on ? 4.8 : 3.4);
      });
    },
  };
}
