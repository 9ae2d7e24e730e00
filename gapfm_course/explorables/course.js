// The course of a training: objective, held-out GAP and what grows, iteration by iteration.
//
// `courseOf` takes what it needs of the engine and of held_out.js, and nothing else, so that its text, too, runs in a
// worker (see trainer.js). In the notation of the chapter: C, σ, a and b of the escape law.

export function courseOf({
  accumulated, heldOutGap, mulberry32, normals, smoothedGapGradient, thresholdingProbabilities, train,
}) {
  const SMALL = 0.01; // standard deviation of the start
  const PAUSE = 16; // ms of work after which a message may come through, such as that it is not wanted any more
  const REPORT = 32, REFINED = 150; // ms of work after which more of a curve, or a finer one, is reported

  // As in engine.js, which keeps its own to itself.
  const nextTask = () => new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { port1.close(); resolve(); };
    port2.postMessage(null);
  });

  // ∂F/∂f at f = 0, for each rating: C_mi = ⅛ Σ_j β_mij.
  function pulls({ indptr, grades }, delta) {
    const C = new Float64Array(grades.length);
    for (let m = 0; m + 1 < indptr.length; m += 1) {
      const row = grades.subarray(indptr[m], indptr[m + 1]);
      if (row.length) C.set(smoothedGapGradient(new Float64Array(row.length), row, { delta }), indptr[m]);
    }
    return C;
  }

  // C's largest singular value σ and its vectors a and b, by turning between them.
  function topDirection({ indptr, items }, C, nItems) {
    const a = new Float64Array(indptr.length - 1), b = new Float64Array(nItems).fill(1);
    let sigma = 0;
    for (let turn = 0, before = -1; turn < 2000 && Math.abs(sigma - before) > 1e-15 * sigma; turn += 1) {
      before = sigma;
      a.fill(0);
      for (let m = 0; m < a.length; m += 1) for (let k = indptr[m]; k < indptr[m + 1]; k += 1) a[m] += C[k] * b[items[k]];
      toLengthOne(a);
      b.fill(0);
      for (let m = 0; m < a.length; m += 1) for (let k = indptr[m]; k < indptr[m + 1]; k += 1) b[items[k]] += C[k] * a[m];
      sigma = toLengthOne(b);
    }
    return { sigma, a, b };
  }

  function toLengthOne(x) {
    const length = Math.sqrt(x.reduce((sum, v) => sum + v * v, 0)) || 1;
    for (let k = 0; k < x.length; k += 1) x[k] /= length;
    return length;
  }

  // |s|, the length of s = aᵀU + bᵀV.
  function lengthOf(U, V, { a, b }, D) {
    const s = new Float64Array(D);
    a.forEach((weight, m) => { for (let q = 0; q < D; q += 1) s[q] += weight * U[m * D + q]; });
    b.forEach((weight, i) => { for (let q = 0; q < D; q += 1) s[q] += weight * V[i * D + q]; });
    return Math.hypot(...s);
  }

  // Σ_m Δ(y_mi): the list that counting alone makes.
  function counted({ items, grades }, nItems, delta) {
    const worth = accumulated(delta), counts = new Float64Array(nItems);
    items.forEach((item, k) => { counts[item] += worth[grades[k]]; });
    return counts;
  }

  // Iterations 1..nIter in an order in which the first few already show the curve; `coarse` of them.
  function inOrder(nIter) {
    const order = [1, nIter];
    let coarse = 0;
    for (let step = 8; step >= 1; step /= 2) {
      for (let t = 1; t <= nIter; t += step) if (!order.includes(t)) order.push(t);
      coarse = coarse || order.length;
    }
    return { order, coarse };
  }

  // data: {nItems, maxGrade, given and held: {indptr, items, grades}}, users of both the same.
  return function prepare(data) {
    const { given, held, nItems, maxGrade } = data, nUsers = given.indptr.length - 1;
    const delta = thresholdingProbabilities(maxGrade), C = pulls(given, delta);
    const lists = { given, held, nItems, delta }, direction = topDirection(given, C, nItems), ones = new Float64Array(nUsers).fill(1);
    const ceiling = 4 * C.reduce((sum, c) => sum + c, 0); // ½ Σ_m Σ_ij β_mij
    const facts = { sigma: direction.sigma, counting: heldOutGap(ones, counted(given, nItems, delta), 1, lists) };

    // Trains from the same small start each time and reports {sigma, counting, start: |s| there};
    // then {rows: [{iteration, objective (as a share of the ceiling), length, userFactors,
    // itemFactors}]} and [{iteration, gap}], and {trained: true} when both are there in outline.
    async function run({ reg, rate, K, D, nIter }, report, signal) {
      const rng = mulberry32(0), done = [];
      const userFactors = normals(rng, nUsers * D, SMALL), itemFactors = normals(rng, nItems * D, SMALL);
      let rows = [], rested = performance.now();
      report({ ...facts, start: lengthOf(userFactors, itemFactors, direction, D) });
      const tell = (row, every) => {
        rows.push(row);
        if (performance.now() - rested < every) return;
        report({ rows });
        rows = [];
        rested = performance.now();
      };
      try {
        await train({
          ...given, nItems, maxGrade, nFactors: D, reg, learningRate: rate, nIter, userFactors, itemFactors, signal,
          nSelected: K,
          onIteration({ iteration, objective, userFactors: U, itemFactors: V }) {
            const row = { iteration, objective: objective / ceiling, length: lengthOf(U, V, direction, D) };
            done.push({ ...row, userFactors: U.slice(), itemFactors: V.slice() });
            tell(done[done.length - 1], REPORT);
          },
        });
      } finally {
        if (rows.length) report({ rows }); // before an error, too
        rows = [];
      }
      const { order, coarse } = inOrder(nIter);
      let heard = performance.now();
      for (const [k, iteration] of order.entries()) {
        if (k === coarse) { report({ rows, trained: true }); rows = []; }
        const { userFactors: U, itemFactors: V } = done[iteration - 1];
        tell({ iteration, gap: heldOutGap(U, V, D, lists) }, k < coarse ? REPORT : REFINED);
        if (performance.now() - heard > PAUSE) {
          await nextTask();
          signal?.throwIfAborted();
          heard = performance.now();
        }
      }
      report({ rows, trained: true });
    }
    return { run };
  };
}

// The films with the n highest scores of user m that are not `seen`; ties go to the first.
export function topFilms({ userFactors: U, itemFactors: V }, m, seen, nItems, n = 10) {
  const D = V.length / nItems, left = new Set(seen), best = [];
  for (let i = 0; i < nItems; i += 1) {
    if (left.has(i)) continue;
    let score = 0;
    for (let q = 0; q < D; q += 1) score += U[m * D + q] * V[i * D + q];
    if (best.length === n && score <= best[n - 1].score) continue;
    const place = best.findIndex((other) => other.score < score);
    best.splice(place < 0 ? best.length : place, 0, { item: i, score });
    best.length = Math.min(best.length, n);
  }
  return best.map(({ item }) => item);
}
