// Chapter 8: bytes before allocating them, from MovieLens to Netflix and beyond.

import { chart, COLOURS } from "../chart.js";
import { counted, laboratory, make, written } from "../kit.js";

const LAPTOP = 16e9;
const LEAST = 1e3, MOST = 1e17; // bytes on the axis
const NEVER = COLOURS[1]; // of what the package does without
const UNITS = [[1e15, "PB"], [1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];
// As `training.data.TrainingData` cuts users into blocks: each has an account of V of its own.
const MOST_BLOCKS = 64, BLOCK_BYTES = 2 ** 28;

const SAID = { "ratings, twice": "ratings, as read and in the order of training", gradients: "gradients of U and V", "V of each block": "a gradient of V for each block of users" };

const SETS = {
  "MovieLens 100K": { users: 943, films: 1682, ratings: 100000 },
  "MovieLens 1M": { users: 6040, films: 3706, ratings: 1000209 },
  Netflix: { users: 480189, films: 17770, ratings: 100480507 },
  "a hundred million users": { users: 1e8, films: 1e6, ratings: 2e10 },
};

function size(bytes, digits = 3) {
  const [unit, name] = UNITS.find(([one]) => bytes >= one) ?? [1, "B"];
  return `${written(bytes / unit, digits)} ${name}`;
}

function inWords(n) {
  const [unit, name] = [[1e9, " billion"], [1e6, " million"]].find(([one]) => n >= one) ?? [1, ""];
  return written(n / unit, 3) + name;
}

// Bytes by part: what training keeps, and what it could be tempted to.
export function bytesOf({ users: M, films: N, each, D }) {
  const Y = Math.round(M * each), V = 8 * N * D;
  const blocks = Math.max(1, Math.min(MOST_BLOCKS, Math.floor(Y / (2 * N)), Math.floor(BLOCK_BYTES / V)));
  const kept = {
    "ratings, twice": 2 * (4 + 1) * Y + 8 * (M + 1), // as read, and in the order of training
    "U and V": 8 * M * D + V, "gradients": 8 * M * D + V, "V of each block": blocks * V,
  };
  return { Y, blocks, kept, spared: { "full table": M * N, "ratings as int64": 3 * 8 * Y, "f, ∂F/∂f of each": 2 * 8 * Y } };
}

// data: {D} at the start, which is Netflix
export function view(place, { D }) {
  const picture = make("div");
  const bars = chart(picture, { alt: "Bytes by part on a logarithmic axis, and a line at a laptop's memory.", height: 330 });
  const whole = (v) => written(Math.round(v), 3);
  const of = ({ users, films, ratings }) => ({ users, films, each: ratings / users });
  const start = of(SETS.Netflix);
  const lab = laboratory(place, {
    name: "memory", title: "Does it fit into a laptop?",
    ask: "At Netflix's size, what takes the most memory in training: the ratings, the factors or their gradients? And with ten times as many users?",
    controls: [
      { name: "users", label: "users M", from: 500, to: 1e9, scale: "log", start: start.users, text: whole },
      { name: "each", label: "ratings a user", from: 5, to: 2000, scale: "log", start: start.each },
      { name: "films", label: "films N", from: 100, to: 1e8, scale: "log", start: start.films, text: whole },
      { name: "D", label: "factors D", from: 1, to: 1000, scale: "log", start: D, text: whole },
    ],
    render(values) {
      const sizes = { ...values, D: Math.round(values.D), users: Math.round(values.users), films: Math.round(values.films) };
      const { Y, kept, spared } = bytesOf(sizes), all = Object.values(kept).reduce((a, b) => a + b);
      const rows = [...entries(spared, NEVER), ...entries(kept, COLOURS[0]), ["training in all", all, COLOURS[2]]];
      const never = picture.clientWidth < 450 ? "" : ", never made"; // no room on a phone
      bars.show({
        x: { from: LEAST, to: MOST, scale: "log", label: "bytes", ticks: [1e3, 1e6, 1e9, 1e12, 1e15], text: (v) => size(v, 1) },
        y: { from: rows.length - 0.4, to: -1.5, names: rows.map(([name]) => name) },
        levels: [{ x: LAPTOP, name: "a laptop, 16 GB", colour: "var(--gx-pink)" }],
        curves: rows.map(([, bytes, colour], k) => ({ x: [LEAST, Math.max(LEAST, bytes)], y: [k, k], colour, dash: "" })),
        dots: rows.map(([, bytes, colour], k) => ({ x: Math.max(LEAST, bytes), y: k, colour, name: `${size(bytes)}${colour === NEVER ? never : ""}` })),
      });
      const [most] = Object.entries(kept).sort((a, b) => b[1] - a[1])[0];
      const times = LAPTOP / all;
      lab.say(`${inWords(Y)} ratings: training takes ${size(all)}. Most of it, ${written((100 * kept[most]) / all, 2)}%, is ${SAID[most] ?? most}. `
        + (times >= 1 ? `A laptop has room for ${written(times, 2)} times that.` : `That is ${counted(1 / times, "laptop", 2)}.`)
        + ` A full table would take ${size(spared["full table"])}.`);
    },
  });
  const sets = Object.entries(SETS).map(([name, one]) => make("button", { type: "button", onclick: () => lab.set(of(one)) }, name));
  lab.figure.append(make("p", { class: "gx-foot" }, ...sets), picture);
}

const entries = (parts, colour) => Object.entries(parts).map(([name, bytes]) => [name, bytes, colour]);
