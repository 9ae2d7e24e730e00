// The search: opened by its button or `/`, walked with the arrows. It reads search_index.js, since a
// page that is opened as a file can fetch nothing else.
(() => {
  const root = document.currentScript.dataset.root;
  const dialog = document.querySelector("dialog.search");
  const [query, found] = [dialog.querySelector("input"), dialog.querySelector(".found")];
  const outcome = dialog.querySelector(".outcome");
  const DIGITS =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
  const SHOWN = 20;
  let index = null;

  // Base 85: five digits for four bytes.
  function bytes({ size, text }) {
    const out = new Uint8Array((text.length / 5) * 4);
    const words = new DataView(out.buffer);
    const value = new Map([...DIGITS].map((digit, at) => [digit, at]));
    for (let at = 0; at < text.length; at += 5) {
      let word = 0;
      for (const digit of text.slice(at, at + 5)) word = word * 85 + value.get(digit);
      words.setUint32((at / 5) * 4, word);
    }
    return out.subarray(0, size);
  }

  function load() {
    index ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = root + "search_index.js";
      script.onerror = reject;
      script.onload = () => {
        const packed = new Blob([bytes(window.bookIndex)]).stream();
        resolve(new Response(packed.pipeThrough(new DecompressionStream("deflate"))).json());
      };
      document.head.append(script);
    });
    return index;
  }

  // How well a text holds a word: whole, at the beginning of one, inside one, not at all.
  function fit(text, word) {
    let best = 0;
    const lower = text.toLowerCase();
    for (let at = lower.indexOf(word); at >= 0 && best < 3; at = lower.indexOf(word, at + 1)) {
      const begins = !/[\p{L}\d]/u.test(lower[at - 1] ?? " ");
      const ends = !/[\p{L}\d]/u.test(lower[at + word.length] ?? " ");
      best = Math.max(best, begins ? (ends ? 3 : 2) : 1);
    }
    return best;
  }

  // A heading counts most, then the words as one phrase, the text, and code and chapter least.
  function rank(entry, chapter, words) {
    let total = 4 * fit(`${entry.title} ${entry.text}`, words.join(" "));
    for (const word of words) {
      const parts = [9 * fit(entry.title, word), 2 * fit(entry.text, word), fit(entry.code, word)];
      if (!Math.max(...parts)) return 0;
      total += parts[0] + parts[1] + parts[2] + fit(chapter, word);
    }
    return total;
  }

  // The text as nodes, with the words marked.
  function withMarks(text, words) {
    const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return text.split(new RegExp(`(${escaped.join("|")})`, "i")).map((piece, at) => {
      if (at % 2 === 0) return piece;
      const mark = document.createElement("mark");
      mark.textContent = piece;
      return mark;
    });
  }

  function snippet({ text, code }, words) {
    const from = words.some((word) => fit(text, word)) ? text : code;
    const places = words.map((word) => from.toLowerCase().indexOf(word)).filter((at) => at >= 0);
    const start = from.lastIndexOf(" ", Math.max(0, Math.min(...places, from.length) - 50)) + 1;
    const end = from.indexOf(" ", start + 150);
    return (start ? "… " : "") + (end < 0 ? from.slice(start) : `${from.slice(start, end)} …`);
  }

  function element(name, ...children) {
    const made = document.createElement(name);
    made.append(...children);
    return made;
  }

  function hit({ entry, href, chapter }, words) {
    const link = element("a",
      element("small", chapter),
      element("b", ...withMarks(entry.title, words)),
      element("span", ...withMarks(snippet(entry, words), words)));
    link.href = `${root}${href}#${entry.id}`;
    return element("li", link);
  }

  async function search() {
    const words = query.value.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
    const { pages, entries } = await load();
    const hits = entries
      .map(([page, id, title, text, code]) => {
        const [href, chapter] = pages[page];
        const entry = { id, title, text, code };
        return { entry, href, chapter, rank: words.length ? rank(entry, chapter, words) : 0 };
      })
      .filter((hit) => hit.rank)
      .sort((one, other) => other.rank - one.rank);
    found.replaceChildren(...hits.slice(0, SHOWN).map((one) => hit(one, words)));
    const more = hits.length > SHOWN ? `, the first ${SHOWN} shown` : "";
    outcome.textContent = !words.length ? ""
      : hits.length ? `${hits.length} ${hits.length === 1 ? "place" : "places"}${more}` : "Nothing found.";
  }

  function open() {
    load();
    dialog.showModal();
    query.select();
  }

  // The arrows walk from the field through the hits; Enter in the field goes to the first.
  function walk(event) {
    const stops = [query, ...found.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const at = stops.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    stops[Math.min(stops.length - 1, Math.max(0, at + step))].focus();
  }

  document.querySelector("button.find").addEventListener("click", open);
  addEventListener("keydown", (event) => {
    const busy = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key !== "/" || busy || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    open();
  });
  dialog.addEventListener("keydown", walk);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("a")) dialog.close();
  });
  query.addEventListener("input", search);
  query.form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await search();
    found.querySelector("a")?.click();
  });
})();
