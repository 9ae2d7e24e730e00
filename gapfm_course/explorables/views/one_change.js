// Chapter 9: from the printed objective to the corrected ones, one change at a time.

import { COLOURS, chart, ticks } from "../chart.js";
import { laboratory, make, written } from "../kit.js";

const WORDS = {
  "smooth ranks": "ranks from differences of scores", "unrated in ranks": "unrated films take up ranks",
  "unrated count less": "an unrated film counts 0.05", "1/Z": "each user's sum is divided by Z", "item bias": "each film gets a bias",
  Adagrad: "each coordinate gets its own step", "large start": "the factors start large", "stars for weights": "stars for weights, summed over ratings", logarithm: "the geometric mean of precisions",
};
// What goes with it when it is taken out.
const WITH_IT = { "smooth ranks": " and the two changes that need them", "unrated in ranks": " and with them their lower weight" };
const PUT_IN = "put in, one after the other", TAKEN_OUT = "taken out of consistent GAP, one at a time";
const three = (value) => Math.abs(value).toFixed(3).replace(/^0/, ""), signed = (value) => (value < 0 ? "−" : "+") + three(value);

// data: {whole: the step that has all of consistent GAP, rows: [{given, metric, system,
// mean: [mean, low, high], change: [difference, low, high]}]}; the change is against the step
// before, or `whole` for what is taken out.
export function view(place, { rows, whole }) {
  const metrics = [...new Set(rows.map((row) => row.metric))], givens = [...new Set(rows.map((row) => String(row.given)))];
  const steps = [...new Set(rows.map((row) => row.system))], picture = make("div");
  const ways = { [PUT_IN]: steps.filter((name) => !name.startsWith("- ")), [TAKEN_OUT]: [whole, ...steps.filter((name) => name.startsWith("- "))] };
  const most = ways[PUT_IN].length, bare = (name) => name.replace(/^[+-] /, "");
  const dots = chart(picture, { alt: "A row a step: the mean as a dot, its interval, and the interval of its difference to what it is compared with.", height: 34 * most + 64 });

  const lab = laboratory(place, {
    name: "one_change", title: "Which change did it?",
    ask: "Nine changes lead from the printed objective to the geometric one. Which single change will gain the most, and will any of them lose?",
    controls: [
      { name: "step", label: "changes made", from: 0, to: most - 1, start: 0, step: 1, text: String, play: true },
      { name: "way", label: "the changes are", options: Object.keys(ways), start: PUT_IN },
      { name: "metric", label: "measure", options: metrics, start: metrics[0] },
      { name: "given", label: "Given", options: givens, start: givens[0] },
    ],
    note: "Stored results, each step tuned anew inside each split. Dot and thin line: mean and its 95% interval over users and splits. Thick line: 95% interval of the difference, drawn from the mean of what it is compared with.",
    render({ step, way, metric, given }) {
      const names = ways[way], at = Math.min(step, names.length - 1);
      const row = (name) => rows.find((one) => one.system === name && one.metric === metric && String(one.given) === given);
      const found = names.map(row), before = (k) => found[way === PUT_IN ? k - 1 : 0].mean[0];
      const ends = found.flatMap((one, k) => [one.mean[1], one.mean[2], ...(k ? [before(k) + one.change[1], before(k) + one.change[2]] : [])]);
      const [from, to] = [Math.min(...ends), Math.max(...ends)], margin = 0.06 * (to - from);
      const line = (k, a, b, colour) => ({ x: [a, b], y: [k, k], colour, dash: "", plain: true });
      const compared = (k) => (k ? found[way === PUT_IN ? k - 1 : 0] : null), base = compared(at), now = found[at];
      const label = (name) => (way === PUT_IN || name !== whole ? name.replace("- ", "− ") : "consistent GAP");
      dots.show({
        x: { from: from - margin, to: to + margin, label: metric, ticks: ticks({ from, to }, picture.clientWidth > 500 ? 6 : 3) },
        y: { from: names.length - 0.4, to: -0.6, names: names.map((name, k) => (way === PUT_IN && k > at ? `+ …` : label(name))), label: "" },
        curves: [...found.slice(0, at + 1).map((one, k) => line(k, one.mean[1], one.mean[2], k === at ? COLOURS[1] : COLOURS[0]))],
        bars: base ? [{ x: base.mean[0] + (now.change[1] + now.change[2]) / 2, width: now.change[2] - now.change[1], from: at - 0.38, y: at - 0.2, colour: COLOURS[1] }] : [],
        dots: found.slice(0, at + 1).map((one, k) => ({ x: one.mean[0], y: k, colour: k === at ? COLOURS[1] : COLOURS[0] })),
        levels: base ? [{ x: base.mean[0] }] : [],
      });
      const zero = (one) => (one.change[1] > 0 || one.change[2] < 0 ? "the interval excludes 0" : "the interval includes 0");
      const name = bare(names[at]);
      lab.say(base
        ? `${way === PUT_IN ? `Change ${at}, ${WORDS[name] ?? name}` : `Without “${name}”${WITH_IT[name] ?? ""}`}: ${metric} ${three(now.mean[0])}, ${signed(now.change[0])} [${signed(now.change[1])}, ${signed(now.change[2])}] against ${way === PUT_IN ? "the step before" : "consistent GAP"}; ${zero(now)}.`
        : `${way === PUT_IN ? "The objective of the paper, nothing changed yet" : "Consistent GAP with all its changes"}: ${metric} ${three(now.mean[0])}, between ${three(now.mean[1])} and ${three(now.mean[2])}. Move to the ${way === PUT_IN ? "first change" : "first one taken out"}.`);
    },
  });
  lab.figure.append(picture);
}
