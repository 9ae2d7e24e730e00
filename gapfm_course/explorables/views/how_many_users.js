// Chapter 6: more users narrow the interval and shrink p; the difference and its size stay.

import { COLOURS, beside, chart } from "../chart.js";
import { laboratory, make, written } from "../kit.js";
import { mulberry32 } from "../engine.js";
import { tQuantile, tTails } from "../statistics.js";

const FEWEST = 10, POINTS = 70, LEAST_P = 1e-12;
const short = (value) => written(value, 2).replace("0.", ".");
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(4).replace(/^0/, "")}`;

// data: {pairs: {words: each user's difference, A minus B}, most: as many users at the right end}
export function view(place, { pairs, most }) {
  const names = Object.keys(pairs), left = make("div"), right = make("div");
  const above = make("div"), below = make("div");
  const funnel = chart(left, { alt: "Mean difference and its 95% interval against the number of users: a funnel that narrows.", height: 350 });
  const size = chart(above, { alt: "The effect size against the number of users: it wavers and stays.", height: 165 });
  const test = chart(below, { alt: "The p-value against the number of users, on logarithmic axes, and the level .05.", height: 185 });
  right.append(above, below);

  // The users in the order number `turn`, with the ranks of their differences' sizes left to be made.
  function inOrder(differences, turn) {
    const rng = mulberry32(turn), users = Array.from(differences);
    for (let k = users.length - 1; k > 0 && turn; k -= 1) {
      const other = Math.floor(rng() * (k + 1));
      [users[k], users[other]] = [users[other], users[k]];
    }
    const bySize = users.map((_, k) => k).filter((k) => users[k] !== 0).sort((a, b) => Math.abs(users[a]) - Math.abs(users[b]));
    return { users, bySize };
  }

  // Of the first n users, where all begin again from the first when they have been used up: mean,
  // half of the t interval, p, and the matched-pairs rank-biserial correlation.
  function compared({ users, bySize }, n) {
    const rounds = Math.floor(n / users.length), rest = n % users.length;
    const times = (k) => rounds + (k < rest ? 1 : 0);
    let sum = 0, squares = 0;
    users.forEach((d, k) => { sum += times(k) * d; });
    const mean = sum / n;
    users.forEach((d, k) => { squares += times(k) * (d - mean) ** 2; });
    const error = Math.sqrt(squares / (n - 1) / n);
    const p = error ? tTails(mean / error, n - 1) : mean ? 0 : 1;
    let below = 0, wins = 0, all = 0;
    for (let k = 0; k < bySize.length;) { // equal sizes share their ranks
      let end = k, group = 0, balance = 0;
      for (; end < bySize.length && Math.abs(Math.abs(users[bySize[end]]) - Math.abs(users[bySize[k]])) < 1e-12; end += 1) {
        group += times(bySize[end]);
        balance += times(bySize[end]) * Math.sign(users[bySize[end]]);
      }
      const rank = below + (group + 1) / 2;
      wins += rank * balance;
      all += rank * group;
      below += group;
      k = end;
    }
    return { n, mean, half: tQuantile(0.05, n - 1) * error, p, effect: all ? wins / all : 0 };
  }

  let made = null, key = "";
  const lab = laboratory(place, {
    name: "how_many_users", title: "Which numbers grow with the number of users?",
    ask: "From 100 users to 10,000: which of difference, interval, effect size and p-value will change?",
    controls: [
      { name: "n", label: "users", from: FEWEST, to: most, start: 100, scale: "log", step: 1, text: written, play: true },
      { name: "pair", label: "comparison, NDCG@5", options: names, start: names[0] },
      { name: "turn", label: "another order of users", from: 0, to: 20, start: 0, step: 1, text: String },
    ],
    note: `Interval and p are those of the paired t test over users. There are ${pairs[names[0]].length} of them: to the right of the line they are counted again and again, as if more like them had come.`,
    render({ n, pair, turn }) {
      if (key !== `${pair} ${turn}`) {
        const order = inOrder(pairs[pair], turn);
        const points = Array.from({ length: POINTS }, (_, k) => Math.round(FEWEST * (most / FEWEST) ** (k / (POINTS - 1))));
        made = { order, points: points.map((m) => compared(order, m)) };
        key = `${pair} ${turn}`;
      }
      const { order, points } = made, now = compared(order, n), real = order.users.length;
      const x = { from: FEWEST, to: most, scale: "log", label: "users", ticks: [10, 100, 1000, 10000], text: written };
      const reach = Math.max(...points.slice(8).map((one) => Math.abs(one.mean) + one.half)) * 1.1, ns = points.map((one) => one.n);
      const bound = (sign) => ({ x: ns, y: points.map((one) => one.mean + sign * one.half), colour: COLOURS[0], dash: "4 3", plain: true });
      funnel.show({
        x, y: { from: -reach, to: reach, label: "difference and interval", text: short },
        curves: [{ x: ns, y: points.map((one) => one.mean), colour: COLOURS[0], dash: "", plain: true }, bound(1), bound(-1),
          { x: [n, n], y: [now.mean - now.half, now.mean + now.half], colour: COLOURS[1], dash: "", plain: true }],
        levels: [{ y: 0, name: "" }, { x: real, name: `all ${real}` }],
        dots: [{ x: n, y: now.mean, colour: COLOURS[1] }],
      });
      size.show({
        x: { ...x, label: "" }, y: { from: -0.5, to: 0.5, label: "effect size", ticks: [-0.5, 0, 0.5], text: short },
        curves: [{ x: ns, y: points.map((one) => one.effect), colour: COLOURS[2], dash: "", plain: true }],
        levels: [{ y: 0 }, { x: real }], dots: [{ x: n, y: now.effect, colour: COLOURS[2], name: written(now.effect, 2) }],
      });
      test.show({
        x, y: { from: LEAST_P, to: 1, scale: "log", label: "p-value", ticks: [1e-12, 1e-9, 1e-6, 1e-3, 1], text: (v) => (v === 1e-3 ? "10⁻³" : written(v)) },
        curves: [{ x: ns, y: points.map((one) => (one.p < LEAST_P ? NaN : one.p)), colour: COLOURS[1], dash: "", plain: true }],
        levels: [{ y: 0.05, name: "p = .05" }, { x: real }],
        dots: [{ x: n, y: Math.max(LEAST_P, now.p), colour: COLOURS[1], name: `p = ${written(now.p, 2)}` }],
      });
      const open = now.mean - now.half <= 0 && now.mean + now.half >= 0;
      lab.say(`${written(n)} users: difference ${signed(now.mean)}, interval ${signed(now.mean - now.half)} to ${signed(now.mean + now.half)}, p = ${written(now.p, 2)}, effect size ${written(now.effect, 2)}. `
        + (open ? "The sign cannot be told." : `The sign is told. Whether ${signed(now.mean)} is worth anything, p does not say.`));
    },
  });
  lab.figure.append(beside(left, right));
  lab.figure.querySelector(".gx-beside")?.classList.add("gx-even");
}
