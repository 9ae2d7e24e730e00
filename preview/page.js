// The menu on a narrow screen, and the search. Without script the page stays readable.
(() => {
  const root = document.currentScript.dataset.root;
  const menu = document.querySelector("button.menu");
  const contents = document.getElementById("contents");
  document.documentElement.classList.add("script");
  function show(open) {
    menu.setAttribute("aria-expanded", String(open));
    contents.classList.toggle("open", open);
  }
  menu.addEventListener("click", () => show(!contents.classList.contains("open")));
  contents.addEventListener("click", (event) => event.target.closest("a") && show(false));

  const query = document.getElementById("query");
  const found = document.getElementById("found");
  let index = null;

  function load() {
    if (index) return index;
    index = new Promise((resolve) => {
      const script = document.createElement("script");
      script.src = root + "search.js";
      script.onload = () => resolve(window.bookIndex);
      document.head.append(script);
    });
    return index;
  }

  function snippet(text, word) {
    const at = text.toLowerCase().indexOf(word);
    const start = Math.max(0, at - 40);
    return (start ? "… " : "") + text.slice(start, start + 120) + " …";
  }

  function item(entry, word) {
    const li = document.createElement("li");
    const a = document.createElement("a");
    const small = document.createElement("small");
    a.href = root + entry.href;
    a.textContent = entry.title;
    small.textContent = snippet(entry.text, word);
    li.append(a, small);
    return li;
  }

  async function search() {
    const words = query.value.toLowerCase().split(/\s+/).filter((w) => w.length > 1);
    if (!words.length) return found.replaceChildren();
    const holds = (text) => words.every((w) => text.toLowerCase().includes(w));
    const hits = (await load()).filter((e) => holds(e.title + " " + e.text));
    hits.sort((a, b) => holds(b.title) - holds(a.title));
    if (hits.length) {
      found.replaceChildren(...hits.slice(0, 12).map((e) => item(e, words[0])));
    } else {
      found.replaceChildren(document.createElement("li"));
      found.firstChild.textContent = "Nothing found.";
    }
  }

  query.addEventListener("focus", load);
  query.addEventListener("input", search);
  query.form.addEventListener("submit", (event) => event.preventDefault());
})();
