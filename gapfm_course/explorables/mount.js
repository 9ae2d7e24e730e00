// Where explorables come alive: in a page, and in a notebook with a kernel.

// Numbers packed by Python as {"float64": base64} and the like, unpacked wherever they stand.
const ARRAYS = { float64: Float64Array, float32: Float32Array, int32: Int32Array, uint8: Uint8Array };

export function unpacked(data) {
  if (Array.isArray(data)) return data.map(unpacked);
  if (data === null || typeof data !== "object") return data;
  const [[kind, text] = [], more] = Object.entries(data);
  if (kind in ARRAYS && !more) {
    return new ARRAYS[kind](Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
  }
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, unpacked(value)]));
}

// Every explorable of the page, by its view's name. What a view needs stands in it as JSON.
export function mountAll(views) {
  for (const root of document.querySelectorAll("div.gapfm-explorable:not([data-alive])")) {
    const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    const still = [...root.childNodes];
    root.setAttribute("data-alive", "");
    root.replaceChildren();
    try {
      views[root.dataset.view](root, unpacked(data));
    } catch (error) { // the picture comes back, and the others live
      root.replaceChildren(...still);
      console.error(`explorable ${root.dataset.view}:`, error);
    }
  }
}

const GONE = "The kernel that computes this is gone: run the notebook’s cells down to this one";

// The same for a widget of a notebook. Where Python computes, `data.ask(values)` asks it.
export function widget(views) {
  return {
    render({ model, el }) {
      const data = unpacked(model.get("data"));
      const waiting = new Map();
      model.on("msg:custom", ({ turn, answer, error }) => {
        const { resolve, reject } = waiting.get(turn) ?? {};
        waiting.delete(turn);
        if (error) reject?.(new Error(error));
        else resolve?.(unpacked(answer));
      });
      let turns = 0;
      if (model.get("computes")) {
        data.ask = (values) => new Promise((resolve, reject) => {
          waiting.set(++turns, { resolve, reject });
          try {
            model.send({ turn: turns, values });
          } catch { // the kernel has been started anew, and knows nothing of this
            reject(new Error(GONE));
          }
        });
      }
      const root = document.createElement("div");
      root.className = "gapfm-explorable";
      el.append(root);
      views[model.get("view")](root, data);
    },
  };
}
