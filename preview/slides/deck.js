// A deck of slides that stand one below the other: keys and buttons turn them, a finger scrolls. What
// follows a question waits for a key. `S` opens the presenter's window, which is the same file with
// `?presenter`; the two tell each other where they are.
(() => {
  const slides = [...document.querySelectorAll("main > section")];
  const root = document.documentElement, place = document.querySelector(".place");
  const options = new URLSearchParams(location.search);
  // What wants keys for itself, but for those of a presenter, which turn always.
  const OWN = "input, select, button, [tabindex='0'], .gx-handle", PRESENTER = ["PageDown", "PageUp"];
  const ANSWERS = ".callout-note ~ :not(.notes), .fragment, .by-row tbody tr";
  let at = -1, other = window.opener, isTold = false;

  const answers = (slide) => [...slide.querySelectorAll(ANSWERS)];
  const seen = (slide) => answers(slide).filter((answer) => !("unseen" in answer.dataset)).length;
  const reveal = (slide, count) =>
    answers(slide).forEach((answer, n) => answer.toggleAttribute("data-unseen", n >= count));
  const tell = () => {
    const blank = root.hasAttribute("data-blank");
    if (!isTold) other?.postMessage({ at, seen: seen(slides[at]), blank }, "*");
  };

  // The address names the slide, so that a reload comes back to it; an explorable's own link stays.
  function arrive(wanted) {
    if (wanted === at) return;
    at = wanted;
    slides.forEach((slide, n) => slide.classList.toggle("now", n === at));
    place.textContent = `${at + 1} / ${slides.length}`;
    if (!location.hash.startsWith("#explore-")) history.replaceState(null, "", `#${slides[at].id}`);
    tell();
  }
  function to(wanted) {
    const inside = Math.max(0, Math.min(slides.length - 1, wanted));
    slides[inside].scrollIntoView();
    arrive(inside);
  }
  // One answer more or fewer, or the slide after or before.
  function step(by) {
    const slide = slides[at], count = seen(slide) + by;
    if (count < 0 || count > answers(slide).length) return to(at + by);
    reveal(slide, count);
    tell();
  }

  const blank = () => { root.toggleAttribute("data-blank"); tell(); };
  const theme = () => {
    const dark = getComputedStyle(root).colorScheme === "dark"
      || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    root.dataset.theme = dark ? "light" : "dark";
  };
  const present = () => {
    const address = new URL(location);
    address.search = "?presenter";
    other = window.open(address, "presenter", "width=1100,height=760");
  };
  const forward = () => step(1), back = () => step(-1);
  const KEYS = {
    ArrowRight: forward, ArrowDown: forward, PageDown: forward, " ": forward,
    ArrowLeft: back, ArrowUp: back, PageUp: back,
    Home: () => to(0), End: () => to(slides.length - 1), b: blank, s: present, t: theme,
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest(OWN) && !PRESENTER.includes(event.key)) return;
    const act = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
    if (!act) return;
    act();
    event.preventDefault();
  });
  document.querySelector(".next").addEventListener("click", forward);
  document.querySelector(".back").addEventListener("click", back);

  addEventListener("message", ({ source, data }) => {
    if (!other || source !== other) return;
    if (data === "where") return tell();
    isTold = true;
    to(data.at);
    reveal(slides[at], data.seen);
    root.toggleAttribute("data-blank", data.blank);
    isTold = false;
  });

  if (options.has("presenter")) {
    root.dataset.presenter = "";
    const start = Date.now(), clock = document.querySelector(".clock");
    setInterval(() => {
      const minutes = Math.floor((Date.now() - start) / 60000);
      clock.textContent = `${new Date().toTimeString().slice(0, 5)}, minute ${minutes}`;
    }, 1000);
  }
  if (options.get("print") === "notes") root.dataset.print = "notes";
  else for (const slide of slides) reveal(slide, 0);

  // The slide whose top is nearest to the window's: it may be longer than the window.
  const follow = () => {
    const tops = slides.map((slide) => Math.abs(slide.getBoundingClientRect().top));
    arrive(tops.indexOf(Math.min(...tops)));
  };
  addEventListener("load", () => {
    const named = slides.findIndex((slide) => `#${slide.id}` === location.hash);
    isTold = true;
    if (named >= 0) to(named);
    else arrive(0);
    isTold = false;
    if ("presenter" in root.dataset) other?.postMessage("where", "*");
    else addEventListener("scroll", () => requestAnimationFrame(follow), { passive: true });
  });
})();
