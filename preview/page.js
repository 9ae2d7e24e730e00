// Where one is, copying, the theme. Without script the page stays readable.
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const [bar, main] = [document.querySelector(".bar"), document.querySelector("main")];
  root.classList.add("script");

  // Scroll `box`, and nothing around it, until `link` is in its middle, if it cannot be seen.
  function reveal(box, link) {
    const [outer, inner] = [box.getBoundingClientRect(), link.getBoundingClientRect()];
    if (inner.top > outer.top && inner.bottom < outer.bottom) return;
    box.scrollTop += inner.top - outer.top - box.clientHeight / 2;
  }

  // The contents, which a phone opens over the page: at the chapter and the section one reads.
  const contents = document.getElementById("contents");
  contents.addEventListener("toggle", () => {
    const here = all("[aria-current]", contents).at(-1);
    if (here && contents.matches(":popover-open")) reveal(contents, here);
  });
  contents.addEventListener("click", (event) => {
    if (event.target.closest("a") && contents.matches(":popover-open")) contents.hidePopover();
  });

  // The section one reads, how much of the page is read, and notes where the sections are listed.
  const links = new Map();
  for (const link of all(".toc a")) {
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    links.set(heading, [...(links.get(heading) ?? []), link]);
  }
  const notes = all(".column-margin", main);
  const listed = document.querySelector(".on-this-page");
  const ahead = () => bar.offsetHeight + innerHeight / 5;
  let marked = [];
  function follow() {
    const passed = [...links.keys()].filter((h) => h.getBoundingClientRect().top < ahead());
    const now = links.get(passed.at(-1)) ?? [];
    if (now !== marked) {
      for (const link of marked) link.removeAttribute("aria-current");
      for (const link of now) link.setAttribute("aria-current", "location");
      for (const link of now) if (listed?.contains(link)) reveal(listed, link);
      marked = now;
    }
    const rest = root.scrollHeight - innerHeight;
    bar.style.setProperty("--read", rest > 0 ? Math.min(1, scrollY / rest) : 1);
    if (!listed) return;
    const box = listed.getBoundingClientRect();
    const meets = ({ left, right, top, bottom }) =>
      right > box.left && left < box.right && bottom > box.top && top < box.bottom;
    listed.classList.toggle("behind", notes.some((note) => meets(note.getBoundingClientRect())));
  }
  let asked = 0;
  const soon = () => { asked ||= requestAnimationFrame(() => { asked = 0; follow(); }); };
  for (const event of ["scroll", "resize", "load"]) addEventListener(event, soon);
  follow();

  // Buttons that copy code.
  function copier(block) {
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(block.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(block); // where a page may not write to the clipboard
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1600);
    });
    return button;
  }
  for (const block of all("div.sourceCode > pre, pre.citation")) block.after(copier(block));

  // One switch for all code that is folded away.
  const folds = all("details.code-fold", main);
  if (folds.length) {
    const button = document.createElement("button");
    button.className = "all-code";
    button.type = "button";
    const say = () => {
      button.textContent = folds.every((fold) => fold.open) ? "Fold the code away" : "Show all code";
    };
    button.addEventListener("click", () => {
      const open = !folds.every((fold) => fold.open);
      for (const fold of folds) fold.open = open;
      say();
    });
    for (const fold of folds) fold.addEventListener("toggle", say);
    say();
    main.querySelector("h1").after(button);
  }

  // The theme: as the system's, light, dark.
  const NEXT = { auto: "light", light: "dark", dark: "auto" };
  const theme = document.querySelector("button.theme");
  function wear(name) {
    root.dataset.theme = name;
    theme.title = `Colours: ${name === "auto" ? "as your system" : name}`;
    theme.setAttribute("aria-label", theme.title);
  }
  theme.addEventListener("click", () => {
    wear(NEXT[root.dataset.theme]);
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* for this page alone */ }
  });
  wear(root.dataset.theme in NEXT ? root.dataset.theme : "auto");
})();
