// The home page: grade ten films, and see what two objectives make of it, for you and for somebody
// who grades the other way round.

import { foldIn } from "../engine.js";
import { counted, laboratory, make } from "../kit.js";

const LENGTH = 10; // of a list
const GLIDE = 420; // ms that a film takes to its new place

// data: {films: [title, factors by the printed objective, by the corrected one, its bias] each, maxGrade,
// asked: places of the films to grade, stars: of each at the start, printed, repaired: how to fold in}
export function view(place, { films, maxGrade, asked, stars, printed, repaired }) {
  const names = films.map(([title]) => title.replace(/ \(\d{4}\)$/, ""));
  const models = [
    { name: "As printed", fold: { ...printed, maxGrade }, V: flat(films.map((film) => film[1])), b: null },
    { name: "Corrected", fold: { ...repaired, maxGrade }, V: flat(films.map((film) => film[2])), b: Float64Array.from(films, (film) => film[3]) },
  ];
  const flip = make("button", { type: "button", onclick: () => lab.set({ stars: opposite(graded(lab.values.stars)), traded: 1 }) }, "Trade places");
  const rows = asked.map((film, k) => starred(films[film][0], names[film], maxGrade, (grade) => {
    lab.set({ stars: graded(lab.values.stars).with(k, grade) });
  }));
  const shelves = models.map(shelf);
  let drawn = "";

  const graded = (all) => all.map((grade) => Math.min(maxGrade, Math.max(0, Math.round(grade)))); // a link may say anything
  const opposite = (all) => all.map((grade) => grade && maxGrade + 1 - grade);

  // The ten best of the films not graded, or null: from 0 the printed objective puts none first.
  function best({ fold, V, b }, all) {
    const seen = asked.filter((_, k) => all[k]);
    if (!seen.length && !b) return null;
    const u = foldIn(V, seen, all.filter(Boolean), { ...fold, itemBias: b }), D = u.length;
    const scores = films.map((_, i) => u.reduce((sum, value, q) => sum + value * V[i * D + q], b ? b[i] : 0));
    return films.map((_, i) => i).filter((i) => !seen.includes(i)).sort((i, j) => scores[j] - scores[i]).slice(0, LENGTH);
  }

  const lab = laboratory(place, {
    name: "rate", title: "Rate a few films",
    ask: "A stranger has seen the same films and turns every rating round: one star where you give five. Which list will change more if you trade places? Guess, then press.",
    note: "Both lists come from the 200 most rated films of MovieLens 100K, without those that you rate. The factors were trained beforehand. Your own row of numbers is computed with every star, here in your browser, and goes nowhere. The stars at the start make a large difference: with two of these films, one at five stars and one at one, 8.9 of ten films are shared on average as printed, and 5.3 as corrected.",
    held: { stars, traded: 0 }, // what the two share is an answer: it waits until they trade places
    render({ stars: given, traded }) {
      const mine = graded(given), any = mine.some(Boolean), setting = `${mine} ${traded}`;
      if (setting === drawn) return; // another width changes nothing
      drawn = setting;
      rows.forEach((row, k) => row.show(mine[k]));
      const found = models.map((model, k) => {
        const list = best(model, mine), theirs = new Set(best(model, opposite(mine)));
        const common = any ? list.filter((film) => theirs.has(film)).length : null;
        return { common, change: shelves[k].show(list, theirs, { common, hidden: any && !traded }, names) };
      });
      const [one, two] = found.map(({ common }) => common), [before, after] = found.map(({ change }) => change);
      const changes = before && after ? ` The first list ${before}, the second ${after}.` : "";
      lab.say(!any ? "Without a star you have no taste yet. As printed, all scores are 0. As corrected, the films’ biases remain, which give everybody the same list."
        : `${traded ? `Of ten films you share ${one} with the stranger by the objective as printed, and ${two} by the corrected one.`
          : "How many films of each list does the stranger have as well? Guess, then trade places."}${changes}`);
    },
  });
  lab.figure.append(make("div", { class: "gx-rate" },
    make("div", { class: "gx-rated" }, ...rows.map((row) => row.element), flip), ...shelves.map((one) => one.element)));
}

const flat = (rows) => Float64Array.from(rows.flat());

// A film with its stars: press one, press it again to clear, draw a finger over them, or use keys.
function starred(title, name, most, changed) {
  const stars = Array.from({ length: most }, () => make("span", { "aria-hidden": "true" }));
  const box = make("div", { class: "gx-stars", role: "slider", tabindex: 0, "aria-label": title, "aria-valuemin": 0, "aria-valuemax": most, "data-lm-suppress-shortcuts": "true" }, ...stars);
  let grade = 0, held = null;
  const under = (event) => {
    const { left, width } = box.getBoundingClientRect();
    return Math.min(most, Math.max(1, Math.ceil(((event.clientX - left) / width) * most)));
  };
  const give = (value) => { if (value !== grade) changed(value); };
  box.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    held = { x: event.clientX, grade, drawn: false };
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", (event) => {
    if (!held) return;
    held.drawn ||= Math.abs(event.clientX - held.x) > 6; // less is a finger that is pressed
    if (held.drawn) give(under(event));
  });
  box.addEventListener("pointerup", (event) => {
    if (held && !held.drawn) give(under(event) === held.grade ? 0 : under(event));
    held = null;
  });
  box.addEventListener("pointercancel", () => { if (held) give(held.grade); held = null; }); // it was the page that moved
  box.addEventListener("keydown", (event) => {
    const up = { ArrowRight: 1, ArrowUp: 1, PageUp: 1, ArrowLeft: -1, ArrowDown: -1, PageDown: -1 }[event.key];
    const to = up ? grade + up : { Home: 0, End: most, Delete: 0, Backspace: 0 }[event.key] ?? (/^\d$/.test(event.key) ? Number(event.key) : null);
    if (to === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    give(Math.min(most, Math.max(0, to)));
  });
  return {
    element: make("div", { class: "gx-film" }, make("span", {}, name), box),
    show(now) {
      grade = now;
      stars.forEach((star, k) => {
        star.classList.toggle("gx-lit", k < grade);
        star.textContent = k < grade ? "★" : "☆"; // not by colour alone
      });
      box.setAttribute("aria-valuenow", grade);
      box.setAttribute("aria-valuetext", grade ? `${grade} ${grade === 1 ? "star" : "stars"}` : "not seen");
    },
  };
}

// A list that films glide up and down in. Those that the stranger's list has too stand back.
function shelf({ name }) {
  const count = make("p", { class: "gx-common" }), list = make("ol"), items = new Map();
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let before = null;
  return {
    element: make("div", { class: "gx-rows gx-shelf" }, make("p", {}, name), count, list),
    // Returns what has become of the list, in words, or "" at the first time and where there is no list.
    show(now, theirs, { common, hidden }, names) {
      const old = new Map((before ?? []).map((film) => [film, items.get(film).offsetTop]));
      const own = hidden ? 0 : LENGTH - common, marks = Array.from({ length: LENGTH }, (_, k) => make("i", { class: k < own ? "gx-own" : null }));
      count.replaceChildren(...(common === null ? ["nobody has given a star"]
        : [make("span", { class: "gx-marks", "aria-hidden": "true" }, ...marks), make("b", {}, hidden ? "?" : String(common)), " shared", ...(own ? [", ", make("b", { class: "gx-own" }, `${own} yours`)] : [])]));
      if (!now) {
        list.replaceChildren(make("li", { class: "gx-none" }, "All scores are 0."));
        before = null;
        return "";
      }
      list.replaceChildren(...now.map((film, k) => {
        const was = before ? before.indexOf(film) : k;
        const mark = was === k ? "" : was < 0 ? "new" : was > k ? `▲${was - k}` : `▼${k - was}`;
        const item = make("li", { class: !hidden && common !== null && !theirs.has(film) ? "gx-on" : null, "data-film": film, title: names[film] },
          make("span", {}, names[film]), make("span", { class: "gx-row-note" }, mark));
        items.set(film, item);
        return item;
      }));
      for (const film of before && !still.matches ? now : []) {
        const item = items.get(film), from = old.has(film) ? old.get(film) - item.offsetTop : 0;
        if (!old.has(film)) item.animate([{ opacity: 0 }, { opacity: 1 }], GLIDE);
        else if (from) item.animate([{ transform: `translateY(${from}px)` }, { transform: "none" }], { duration: GLIDE, easing: "ease-out" });
      }
      const change = before ? changed(before, now) : "";
      before = now;
      return change;
    },
  };
}

// What has become of a list.
function changed(before, now) {
  const fresh = now.filter((film) => !before.includes(film)).length;
  if (fresh) return `has ${counted(fresh, "new film")}`;
  return String(now) === String(before) ? "stays as it was" : "has the same films in another order";
}
