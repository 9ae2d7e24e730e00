// A deck of slides that stand one below the other: keys and buttons turn them, a finger scrolls.
(() => {
  const slides = [...document.querySelectorAll("main > section")];
  const root = document.documentElement, place = document.querySelector(".place");
  // What wants keys for itself, but for those of a presenter, which turn always.
  const OWN = "input, select, button, [tabindex='0'], .gx-handle", PRESENTER = ["PageDown", "PageUp"];
  const FORWARD = ["ArrowRight", "ArrowDown", "PageDown", " "], BACK = ["ArrowLeft", "ArrowUp", "PageUp"];

  // The slide whose top is nearest to the window's: it may be longer than the window.
  const now = () => {
    const tops = slides.map((slide) => Math.abs(slide.getBoundingClientRect().top));
    return tops.indexOf(Math.min(...tops));
  };
  const to = (at) => slides[Math.max(0, Math.min(slides.length - 1, at))].scrollIntoView();
  const notes = () => root.toggleAttribute("data-notes");
  const theme = () => {
    const dark = getComputedStyle(root).colorScheme === "dark"
      || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    root.dataset.theme = dark ? "light" : "dark";
  };

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest(OWN) && !PRESENTER.includes(event.key)) return;
    if (FORWARD.includes(event.key)) to(now() + 1);
    else if (BACK.includes(event.key)) to(now() - 1);
    else if (event.key === "Home") to(0);
    else if (event.key === "End") to(slides.length - 1);
    else if (event.key.toLowerCase() === "n") notes();
    else if (event.key.toLowerCase() === "t") theme();
    else return;
    event.preventDefault();
  });
  document.querySelector(".next").addEventListener("click", () => to(now() + 1));
  document.querySelector(".back").addEventListener("click", () => to(now() - 1));

  // The address names the slide, so that a reload comes back to it; an explorable's own link stays.
  let shown = -1;
  const follow = () => {
    const at = now();
    if (at === shown) return;
    shown = at;
    place.textContent = `${at + 1} / ${slides.length}`;
    if (!location.hash.startsWith("#explore-")) history.replaceState(null, "", `#${slides[at].id}`);
  };
  addEventListener("scroll", () => requestAnimationFrame(follow), { passive: true });
  follow();
})();
