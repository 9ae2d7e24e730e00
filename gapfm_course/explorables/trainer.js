// Somebody who trains while the page goes on: a worker, made of the engine's own text.

import * as engine from "./engine.js";
import * as heldOut from "./held_out.js";
import { courseOf } from "./course.js";

// `sources` has the modules as functions, one each: whoever joins the modules sees to that.
// What the worker does. A new turn, or {stop: true}, ends the one before; text of this function runs there.
function work(courses) {
  let course = null, running = new AbortController();
  self.onmessage = async ({ data: { data, turn, setting, stop } }) => {
    if (data) { course = courses(data); return; }
    running.abort();
    if (stop) return;
    const mine = running = new AbortController();
    const tell = (news) => { if (!mine.signal.aborted) self.postMessage({ turn, ...news }); };
    try {
      await course.run(setting, (news) => tell({ news }), mine.signal);
      tell({ ended: true });
    } catch (error) {
      tell({ ended: true, error: error.message });
    }
  };
}

const sourceOf = (course) => `"use strict";(${work})((${course})({ ...(${sources.engine})(), ...(${sources.held_out})() }));`;

// Trains on `data` as `course` does, a function like courseOf. `begin(setting, report)` cancels what
// is under way and begins anew; `report` gets what the course reports, and at the end {ended: true}, with
// an `error` in words where there is one. `inWorker: false` trains on this thread, as where no worker can be had.
export function trainer(data, { course = courseOf, inWorker = true } = {}) {
  let worker = null, heard = false, turns = 0, latest = null, running = new AbortController();

  async function here(setting, report) {
    const { signal } = running = new AbortController();
    const tell = (news) => { if (!signal.aborted) report(news); };
    try {
      here.course = here.course ?? course({ ...engine, ...heldOut })(data);
      await here.course.run(setting, tell, signal);
      tell({ ended: true });
    } catch (error) {
      tell({ ended: true, error: error.message });
    }
  }

  // Some pages forbid workers, and say so only after they have been made.
  function without() {
    worker = null;
    if (latest) here(...latest);
  }

  if (inWorker) {
    try {
      const address = URL.createObjectURL(new Blob([sourceOf(course)], { type: "text/javascript" }));
      worker = new Worker(address);
      worker.onmessage = ({ data: { turn, news, ended, error } }) => {
        heard = true;
        if (turn === turns && latest) latest[1](news ?? { ended, error });
      };
      worker.onerror = (event) => {
        event.preventDefault();
        if (heard) latest?.[1]({ ended: true, error: event.message });
        else without();
      };
      worker.postMessage({ data });
    } catch {
      worker = null;
    }
  }

  return {
    begin(setting, report) {
      latest = [setting, report];
      turns += 1;
      running.abort();
      if (worker) worker.postMessage({ turn: turns, setting });
      else here(setting, report);
    },
    // Ends what is under way; nothing more of it is reported.
    cancel() {
      latest = null;
      running.abort();
      worker?.postMessage({ stop: true });
    },
    // To be called when nobody trains on these data any more.
    end() {
      latest = null;
      running.abort();
      worker?.terminate();
    },
  };
}
