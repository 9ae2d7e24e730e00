// Training after training for a setting that moves: the newest counts, the last one stays in sight.

const GROWS = 120; // ms after which a training is shown before it is done

// A training under way: {key, setting, rows, began, trained, ended, error, and what is reported}.
// `begin(setting, report)` starts one and ends that before it, `cancel()` ends it; `changed()` is
// called when there is more to see. While one is younger than `patience` ms a move waits for it
// rather than cancel it: a slider dragged without a pause would otherwise never see one through.
export function follower({ begin, cancel, end }, changed, { patience }) {
  let current = null, shown = null, first = null, wanted = null;

  function start() {
    const run = { ...wanted, rows: [], began: performance.now(), trained: false, ended: false, error: "" };
    current = run;
    wanted = null;
    begin(run.setting, ({ rows = [], ...facts }) => {
      for (const row of rows) run.rows[row.iteration - 1] = { ...run.rows[row.iteration - 1], ...row };
      Object.assign(run, facts);
      // At once when it is done; where that takes long, it is seen to grow.
      const late = performance.now() - run.began > GROWS;
      if (run.rows.length && (run.trained || run.error || late)) shown = run;
      first = first ?? run;
      if (wanted && (run.trained || run.ended)) start();
      if (rows.length || facts.ended) changed();
    });
  }

  return {
    get shown() { return shown; }, // the newest of which there is something to see
    get first() { return first; }, // to compare with
    get error() { return current?.error ?? ""; }, // why there is no more to see
    get busy() { return Boolean(wanted) || !current?.ended; },
    follow(setting) {
      const key = JSON.stringify(setting);
      if (key === (wanted ?? current)?.key) return;
      wanted = current?.key === key ? null : { key, setting };
      const young = current && performance.now() - current.began < patience;
      if (wanted && !(young && !current.trained && !current.ended)) start();
    },
    cancel,
    end,
  };
}

// The same where Python trains. What is asked for can't be taken back, so a new one waits; a
// coarse answer comes first, and when the sliders rest a full one.
export function asking(ask, rest = 150) {
  let turn = 0;
  return {
    async begin(setting, report) {
      const mine = ++turn;
      const tell = (news) => { if (mine === turn) report(news); };
      try {
        tell({ ...inRows(await ask({ ...setting, fine: false })), trained: true });
        await new Promise((resolve) => { setTimeout(resolve, rest); });
        if (mine === turn) tell({ ...inRows(await ask({ ...setting, fine: true })), ended: true });
      } catch (error) {
        tell({ ended: true, error: error.message });
      }
    },
    cancel() { turn += 1; },
    end() { turn += 1; },
  };
}

// An answer has a column for each of `rows`' numbers, and lists of {text, held} by iteration.
function inRows({ objective, length, gap, lists, ...facts }) {
  const rows = Array.from(objective, (value, k) => {
    const row = { iteration: k + 1, objective: value, length: length[k], list: lists[k] };
    return Number.isFinite(gap[k]) ? { ...row, gap: gap[k] } : row; // where it was measured
  });
  return { ...facts, rows };
}
