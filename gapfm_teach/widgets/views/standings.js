// Chapters 6 and 9: every table of systems in one picture. Who is ahead, by how much, and is it clear?

import { COLOURS, chart } from "../chart.js";
import { laboratory, written } from "../kit.js";

const ROW = 23; // pixels a system
const CLEAR = { "+": COLOURS[2], "-": COLOURS[1], 0: "currentColor" };

// data: {references, start: {table, given, metric, reference}, tables: {table: {given: {metric:
// rows}}}}, a row [system, mean, ci_low, ci_high, marks, paper's number or null, splits that broke
// down]; marks has a sign for each of `references`: + clearly ahead of it, - behind, 0 not told apart.
export function view(place, { references, start, tables }) {
  const names = (pick) => [...new Set(Object.values(tables).flatMap(pick))];
  const givens = names((byGiven) => Object.keys(byGiven));
  const metrics = names((byGiven) => Object.values(byGiven).flatMap(Object.keys));
  const lab = laboratory(place, {
    name: "standings", title: "Who stands where?",
    ask: "How many systems are clearly ahead of GAPfm as the paper has it, and is the order the same for other people, other films, other measures?",
    controls: [
      { name: "table", label: "data and protocol", options: Object.keys(tables), start: start.table },
      { name: "given", label: "ratings given a user", options: givens, start: String(start.given) },
      { name: "metric", label: "measure", options: metrics, start: start.metric },
      { name: "reference", label: "compared with", options: references, start: start.reference },
    ],
    render({ table, given, metric, reference }) {
      const found = tables[table][given]?.[metric];
      if (!found) {
        picture.clear();
        return lab.say(`Not measured: ${metric} with ${given} given ratings is not part of “${table}”.`);
      }
      show([...found].sort((a, b) => b[1] - a[1]), reference, metric);
    },
  });
  const picture = chart(lab.figure, { alt: "A row a system: its mean as a dot, its 95% interval as a line, the paper's number as a ring." });

  function show(rows, reference, metric) {
    const which = references.indexOf(reference), own = rows.findIndex((row) => row[0] === reference);
    const high = Math.max(...rows.map((row) => Math.max(row[3], row[5] ?? 0)));
    const colour = (row, k) => (k === own ? COLOURS[0] : CLEAR[row[4][which] ?? 0]);
    picture.resize(70 + ROW * rows.length);
    picture.show({
      x: { from: 0, to: high * 1.04, label: `${metric}, mean and 95% interval` },
      y: { from: rows.length - 0.5, to: -0.5, names: rows.map((row) => row[0]) },
      curves: rows.map((row, k) => ({ x: [row[2], row[3]], y: [k, k], colour: colour(row, k), dash: "" })),
      dots: rows.flatMap((row, k) => [
        { x: row[1], y: k, colour: colour(row, k) }, ...(row[5] === null ? [] : [{ x: row[5], y: k, ring: true }]),
      ]),
      levels: own < 0 ? [] : [{ x: rows[own][1], colour: COLOURS[0] }],
    });
    const count = (sign) => rows.filter((row) => row[4][which] === sign).length;
    const broken = rows.filter((row) => row[6] > 0).map((row) => `${row[0]} (${row[6]})`);
    lab.say((own < 0 ? `${reference} is not in this table. ` : `${reference} is number ${own + 1} of ${rows.length} with ${written(rows[own][1])}. `
      + `Clearly ahead of it, green: ${count("+")}; clearly behind, red: ${count("-")}; the others are not clearly apart from it. `)
      + (rows.some((row) => row[5] !== null) ? "Rings: the paper's numbers, on other data. " : "")
      + (broken.length ? `Splits that broke down: ${broken.join(", ")}.` : ""));
  }
  return lab;
}
