// The search: opened by its button or `/`, walked with the arrows. MiniSearch finds and ranks what
// search_index.js holds: both are scripts, since a page that is opened as a file can fetch nothing else.
(() => {
  const root = document.currentScript.dataset.root;
  const dialog = document.querySelector("dialog.search");
  const [query, found] = [dialog.querySelector("input"), dialog.querySelector(".found")];
  const outcome = dialog.querySelector(".outcome");
  const SHOWN = 20;
  const IGNORED = new Set("a an and are do does for how i in is it of on or the to what why".split(" "));
  let loaded = null;

  const script = (name) => new Promise((resolve, reject) => {
    const made = document.createElement("script");
    Object.assign(made, { src: root + name, onload: resolve, onerror: reject });
    document.head.append(made);
  });

  function load() {
    loaded ??= Promise.all(["third_party/minisearch.js", "search_index.js"].map(script)).then(() => {
      const engine = new window.MiniSearch({
        fields: ["title", "text", "code", "chapter"],
        storeFields: ["title", "text", "code", "chapter", "href", "weight"],
        processTerm: (word) => (IGNORED.has(word.toLowerCase()) ? null : word.toLowerCase()),
        searchOptions: {
          boost: { title: 4, code: 0.2 },
          boostDocument: (id, word, { weight }) => weight,
          prefix: (word) => word.length > 2,
          fuzzy: (word) => word.length > 4 && 0.2,
          maxFuzzy: 2,
        },
      });
      engine.addAll(window.bookIndex.entries.map(([page, anchor, title, text, code], id) => {
        const [href, chapter, weight] = window.bookIndex.pages[page];
        return { id, title, text, code, chapter, weight, href: `${href}#${anchor}` };
      }));
      return engine;
    });
    return loaded;
  }

  // All words must be there, as typed or as the book says it; if they are nowhere together, some.
  function hits(engine, typed) {
    const words = typed.toLowerCase().replaceAll("-", " ").split(/\s+/).join(" ");
    const said = Object.entries(window.bookIndex.synonyms).flatMap(([name, others]) =>
      ` ${words} `.includes(` ${name} `) ? others.map((other) => words.replace(name, other)) : []);
    const queries = [words, ...said].map((all) => ({ queries: [all], combineWith: "AND" }));
    const whole = engine.search({ queries, combineWith: "OR" });
    return whole.length ? whole : engine.search(words);
  }

  // The text as nodes, with the words marked.
  function withMarks(text, words) {
    const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return text.split(new RegExp(`(?<![\\p{L}\\d])(${escaped.join("|")})`, "iu")).map((piece, at) => {
      if (at % 2 === 0) return piece;
      const mark = document.createElement("mark");
      mark.textContent = piece;
      return mark;
    });
  }

  function snippet({ text, code }, words) {
    const places = (from) => words.map((word) => from.toLowerCase().indexOf(word)).filter((at) => at >= 0);
    const from = places(text).length ? text : code;
    const start = from.lastIndexOf(" ", Math.max(0, Math.min(...places(from), from.length) - 50)) + 1;
    const end = from.indexOf(" ", start + 150);
    return (start ? "… " : "") + (end < 0 ? from.slice(start) : `${from.slice(start, end)} …`);
  }

  function element(name, ...children) {
    const made = document.createElement(name);
    made.append(...children);
    return made;
  }

  function item(hit) {
    const link = element("a",
      element("small", hit.chapter),
      element("b", ...withMarks(hit.title, hit.terms)),
      element("span", ...withMarks(snippet(hit, hit.terms), hit.terms)));
    link.href = root + hit.href;
    return element("li", link);
  }

  async function search() {
    const typed = query.value.trim();
    const all = hits(await load(), typed);
    found.replaceChildren(...all.slice(0, SHOWN).map(item));
    const more = all.length > SHOWN ? `, the first ${SHOWN} shown` : "";
    outcome.textContent = !typed ? ""
      : all.length ? `${all.length} ${all.length === 1 ? "place" : "places"}${more}` : "Nothing found.";
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
