// Chapter 4: set λ, γ, K and D, and the model is trained before your eyes.

import { beside, chart } from "../chart.js";
import { topFilms } from "../course.js";
import { readRatings, splitGiven } from "../files.js";
import { asking, follower } from "../follow.js";
import { counted, laboratory, make, ranked, written } from "../kit.js";
import { trainer } from "../trainer.js";

const N_ITER = 41, FIRST = { rate: 0.03, reg: 0.001, K: 10, D: 10 };
const PATIENCE = 300; // ms that a training may take before a move of a slider cancels it
const ESCAPED = 1000; // growth by which the scores are no longer small, as the chapter has it
const [BLUE, GREEN, RED, PALE] = ["var(--gx-blue)", "var(--gx-green)", "var(--gx-red)", "color-mix(in srgb, currentColor 50%, transparent)"];
const PANELS = ["Held-out GAP", "The objective, as a share of its ceiling", "Length of s on a logarithmic axis, and the escape law"];

// data: {titles, maxGrade, given and held: {indptr, items, grades}, truth: {U, V}}, of invented
// films; in a notebook with a kernel `ask` besides, and `said`, what Python trains on.
export function view(place, data) {
  const left = make("div"), list = make("div"), marks = make("div", { class: "gx-note" });
  const panels = PANELS.map((words, k) => {
    const panel = make("div", k < 2 ? { style: "margin-bottom: -20px" } : {}); // no words under the axes of these
    left.append(panel);
    return chart(panel, { alt: `${words}, along the iterations`, height: 172 });
  });
  const origin = make("span", { role: "status" });
  const turn = (by, words) => make("button", { type: "button", onclick: () => lab.set({ user: userOf(lab.values.user + by) }) }, words);
  const chosen = make("input", { type: "file", multiple: true, hidden: true, onchange: () => read([...chosen.files]) });
  const choose = make("button", { type: "button", onclick: () => chosen.click() }, "Train on a file of yours");
  const back = make("button", { type: "button", onclick: () => { turns += 1; use(own); choose.focus(); } }, data.ask ? "Back to the notebook’s ratings" : "Back to the invented films");

  const invented = { ...data, nItems: data.titles.length, nUsers: data.given.indptr.length - 1 };
  const own = data.ask ? { said: data.said, ask: data.ask } : {
    ...invented, said: `${invented.nUsers} simulated users and ${invented.nItems} invented films, whose tastes are known`,
  };
  let problem = own, trainings = null, highest = 0, turns = 0;
  const userOf = (m) => (problem.ask ? Math.abs(Math.round(m)) : ((Math.round(m) % problem.nUsers) + problem.nUsers) % problem.nUsers);

  const lab = laboratory(place, {
    name: "train", title: "Train GAPfm: Given 10, 41 iterations",
    ask: "Predict first: with a γ a hundred times smaller, which of the three curves still tells you that something goes on?",
    controls: [
      { name: "rate", label: "γ", from: 1e-5, to: 0.1, start: FIRST.rate, scale: "log" },
      { name: "reg", label: "λ", from: 0.001, to: 12, start: FIRST.reg, scale: "log" },
      { name: "K", label: "K of ten films", from: 1, to: 10, step: 1, start: FIRST.K },
      { name: "D", label: "D factors", from: 1, to: 20, step: 1, start: FIRST.D },
      { name: "iteration", label: "iteration", from: 1, to: N_ITER, step: 1, start: N_ITER, play: true },
    ],
    held: { user: 0 },
    note: "Or drop u.data, ratings.dat, ratings.csv or a MovieLens zip here: it is read by this page, and sent to nobody. Reset takes back the setting and leaves your file.",
    render({ iteration, user, ...setting }) {
      const m = userOf(user);
      trainings.follow(settingOf(setting, m));
      const run = trainings.shown, rows = run?.rows ?? [], row = rows[Math.min(iteration, rows.length) - 1];
      const older = run && !run.error ? " The picture is that of the last setting which was trained." : "";
      if (trainings.error) lab.say(`No result here. ${trainings.error}.${older}`);
      else if (!row) lab.say("Training …");
      else lab.say(inWords(run, row, setting));
      if (run) drawCurves(run, row, trainings.first);
      if (row) showList(row, m);
      place.dataset.settled = !trainings.busy;
    },
  });
  lab.figure.append(beside(left, make("div", {}, list, marks, make("p", { class: "gx-foot" }, turn(-1, "‹ user"), turn(1, "user ›")))),
    make("p", { class: "gx-foot", style: "margin-top: 0.9rem" }, origin, choose, back, chosen));
  takeDrops(place, read);
  use(own);

  function settingOf({ rate, reg, K, D }, m) {
    return { rate, reg, K, D, nIter: N_ITER, ...(problem.ask ? { user: m } : {}) };
  }

  // ---------------------------------------------------------------- what is trained on

  function use(next) {
    trainings?.end();
    problem = next;
    highest = 0;
    const { given, held, nItems, maxGrade, ask } = next;
    trainings = follower(ask ? asking(ask) : trainer({ given, held, nItems, maxGrade }), lab.redraw, { patience: ask ? Infinity : PATIENCE });
    trainings.follow(settingOf(FIRST, userOf(lab.values.user))); // the first one stays, to compare with
    origin.textContent = `Trained on ${next.said}.`;
    back.hidden = next === own;
    lab.redraw();
  }

  async function read(files) {
    if (!files.length) return;
    const mine = ++turns; // what is asked for later counts
    origin.textContent = `Reading ${files.map((file) => file.name).join(", ")} …`;
    try {
      const parts = splitGiven(await readRatings(files)), nUsers = parts.users.length;
      if (mine === turns) use({ ...parts, nUsers, said: `${parts.name}: ${nUsers} users with at least 20 ratings, ${parts.nItems} films` });
    } catch (error) {
      if (mine === turns) origin.textContent = `${error.message}${error.message.endsWith("?") ? "" : "."} Still trained on ${problem.said}.`;
    }
    chosen.value = ""; // so that the same file can be chosen again
  }

  // ---------------------------------------------------------------- what is shown

  function drawCurves(run, row, first) {
    const measured = run.rows.filter(({ gap }) => gap !== undefined), before = first === run ? [] : first.rows;
    highest = Math.max(highest, run.counting, ...[...measured, ...before].map(({ gap }) => gap ?? 0));
    const t = row?.iteration ?? 1, at = gapOf(run, t);
    const along = (rows, name, rest) => ({ x: rows.map((one) => one.iteration), y: rows.map((one) => one[name]), dash: "", ...rest });
    const compared = (name, words = "") => (before.length ? [along(before.filter((one) => one[name] !== undefined), name, { colour: PALE, dash: "2 4", name: words })] : []);
    const law = Array.from({ length: N_ITER }, (_, k) => run.start * Math.abs(growthOf(run)) ** (k + 1));
    const x = { from: 1, to: N_ITER, label: "", ticks: [1, 10, 20, 30, 40] };
    const grip = (y, colour, curve, text) => (y === undefined ? [] : [{
      key: "here", x: t, y, colour, along: "x", from: 1, to: N_ITER, step: 1, label: `iteration, on the curve of ${curve}`,
      text: `${t}, ${text}`, move: (to) => lab.set({ iteration: Math.round(to) }),
    }]);
    const here = (name = "") => ({ x: t, name });
    const counted = { x: [N_ITER, 1], y: [run.counting, run.counting], colour: PALE, dash: "3 4", name: "grade-weighted popularity" };
    panels[0].show({
      x, y: { from: 0, to: 1.45 * highest, label: "held-out GAP" },
      levels: [here("you are here")],
      curves: [counted, ...compared("gap"), along(measured, "gap", { colour: BLUE })],
      handles: grip(at, BLUE, "held-out GAP", written(at)),
    });
    panels[1].show({
      x, y: { from: 0.4, to: 1, label: "objective", ticks: [0.5, 0.75, 1], text: (v) => `${100 * v}%` }, levels: [here()],
      curves: [...compared("objective", "first setting"), along(run.rows, "objective", { colour: GREEN })],
      handles: grip(row?.objective, GREEN, "the objective", `${percent(row?.objective)} of its ceiling`),
    });
    panels[2].show({
      x: { ...x, label: "iteration" }, y: { from: 1e-3, to: 1e3, scale: "log", label: "length of s" }, levels: [here()],
      curves: [{ x: law.map((_, k) => k + 1), y: law, colour: PALE, dash: "6 4", name: "the escape law" }, along(run.rows, "length", { colour: RED })],
      handles: grip(row?.length, RED, "the length of s", written(row?.length)),
    });
  }

  function showList({ iteration, list: asked, ...factors }, m) {
    const { given, held, nItems, titles, truth, users } = problem;
    const films = asked ?? topFilms(factors, m, seenBy(given, m), nItems).map((i) => ({ text: titles[i], held: gradeIn(held, m, i), liked: truth && share(truth, m, i) }));
    list.replaceChildren(ranked(films.map(({ text, held: grade, liked }) => ({ text, note: stars(grade, problem.maxGrade), on: grade > 0, bar: liked ?? null })),
      `User ${users ? users[m] : m + 1}, iteration ${iteration}: top ten`));
    marks.textContent = `Stars: the grade, where the film is held out.${truth ? " Line: of how many of all films she likes it better, in truth." : ""}`;
  }
}

// ---------------------------------------------------------------- words and numbers

const growthOf = ({ setting: { rate, reg }, sigma }) => 1 + rate * (sigma - reg);
const percent = (share) => `${(100 * share).toFixed(0)}%`;

// Held-out GAP at an iteration, or the last one before it where it has been measured.
function gapOf({ rows }, t) {
  return rows.slice(0, t).findLast(({ gap }) => gap !== undefined)?.gap;
}

function inWords(run, { iteration, objective, length }) {
  const { rows, ended, sigma, start, setting: { rate, reg, K } } = run;
  const best = rows.reduce((a, b) => ((b.gap ?? -1) > (a.gap ?? -1) ? b : a)), growth = growthOf(run), at = gapOf(run, iteration);
  const gap = at === undefined ? "" : `held-out GAP ${written(at)} (best${ended ? "" : " so far"} ${written(best.gap)} at ${best.iteration}), `;
  const facts = `Iteration ${iteration}: ${gap}objective ${percent(objective)} of its ceiling. `;
  const law = `The escape law, ×${written(growth, 5)} an iteration, σ = ${written(sigma)}`;
  if (rate * reg > 1 && rate * (sigma + reg) > 2) return `${facts}${law}: γ(σ + λ) is above 2, so each step goes too far and back.`;
  if (rate * reg > 1) return `${facts}${law}: γλ is above 1, so each step goes past 0. The difference of the two sides changes its sign and outlasts s, and with it the order.`;
  if (growth <= 1) return `${facts}${law}: λ is above σ and s shrinks. All else shrinks faster, so the order goes its way.`;
  const grown = length / start, due = Math.abs(growth) ** iteration, wait = Math.ceil(Math.log(ESCAPED) / Math.log(growth));
  if (grown > 0.8 * due) return `${facts}${law}, holds: s has grown ×${written(grown)}; ×1000 takes ${counted(wait, "iteration", 4)}.`;
  const why = K < 10 ? `only ${K} of ten films ${K === 1 ? "moves" : "move"}` : "the scores are no longer small";
  return `${facts}${law}, asks for ×${written(due)}; s has grown ×${written(grown)}: ${why}.`;
}

// Half stars are grades to 10.
const stars = (grade, maxGrade) => "★".repeat(maxGrade > 5 ? grade / 2 : grade) + (maxGrade > 5 && grade % 2 ? "½" : "");
const seenBy = ({ indptr, items }, m) => items.subarray(indptr[m], indptr[m + 1]);

function gradeIn({ indptr, items, grades }, m, item) {
  const k = items.indexOf(item, indptr[m]);
  return k >= 0 && k < indptr[m + 1] ? grades[k] : 0;
}

// The share of all films that user m likes less, in truth.
function share({ U, V, D }, m, item) {
  const like = (i) => { let sum = 0; for (let q = 0; q < D; q += 1) sum += U[m * D + q] * V[i * D + q]; return sum; };
  const n = V.length / D, mine = like(item);
  let less = 0;
  for (let i = 0; i < n; i += 1) less += like(i) < mine;
  return less / n;
}

// Files dropped anywhere on `place` go to `read`.
function takeDrops(place, read) {
  const over = (on) => { place.style.outline = on ? "3px dashed var(--gx-blue)" : ""; };
  place.addEventListener("dragover", (event) => { event.preventDefault(); over(true); });
  place.addEventListener("dragleave", () => over(false));
  place.addEventListener("drop", (event) => { event.preventDefault(); over(false); read([...event.dataTransfer.files]); });
}
