// Held-out GAP: how good the lists of a model are by films that it has not been told of.
//
// Imports nothing, so that its text, too, runs in a worker (see trainer.js).

const MOST_MEASURED = 1000; // users that are measured, of more every so many

// V by factor, and a row of zeros that makes their number even.
function columnsOf(V, D, nItems) {
  const columns = new Float64Array((D + 1) * nItems);
  for (let i = 0, k = 0; i < nItems; i += 1) for (let q = 0; q < D; q += 1, k += 1) columns[q * nItems + i] = V[k];
  return columns;
}

// data: {given and held: {indptr, items, grades}, users of both the same; nItems; δ as delta}. Mean GAP
// over users of their held-out films ranked among all films not in training; ties keep
// the order of the films.
export function heldOutGap(U, V, D, { given, held, nItems, delta }) {
  const byFactor = columnsOf(V, D, nItems);
  const scores = new Float64Array(nItems), nUsers = held.indptr.length - 1;
  const every = Math.max(1, Math.ceil(nUsers / MOST_MEASURED));
  let sum = 0, n = 0;
  for (let m = 0; m < nUsers; m += every) {
    const begin = held.indptr[m], end = held.indptr[m + 1];
    if (begin === end) continue;
    scores.fill(0);
    for (let q = 0; q < D; q += 2) { // two factors at a time go through the scores half as often
      const u = U[m * D + q], next = q + 1 < D ? U[m * D + q + 1] : 0, x = q * nItems, y = x + nItems;
      for (let i = 0; i < nItems; i += 1) scores[i] = scores[i] + u * byFactor[x + i] + next * byFactor[y + i];
    }
    for (let k = given.indptr[m]; k < given.indptr[m + 1]; k += 1) scores[given.items[k]] = -Infinity;
    // The held-out films, best first; each other film is passed up from the worst of them.
    const places = Array.from({ length: end - begin }, (_, k) => begin + k)
      .sort((j, k) => scores[held.items[k]] - scores[held.items[j]] || held.items[j] - held.items[k]);
    const sorted = places.map((k) => scores[held.items[k]]), items = places.map((k) => held.items[k]);
    const above = new Int32Array(places.length + 1), lowest = sorted[sorted.length - 1];
    for (let i = 0; i < nItems; i += 1) {
      const score = scores[i];
      if (score < lowest) continue;
      let place = sorted.length;
      while (place > 0 && (score > sorted[place - 1] || (score === sorted[place - 1] && i < items[place - 1]))) place -= 1;
      above[place] += 1;
    }
    sum += gapAtRanks(places.map((k) => held.grades[k]), above, delta);
    n += 1;
  }
  return sum / n;
}

// GAP (2)-(4) of films of these grades, best first, of which `above` counts what stands before.
function gapAtRanks(grades, above, delta) {
  const atLeast = new Float64Array(delta.length);
  let rank = 1, gain = 0, most = 0;
  grades.forEach((grade, place) => {
    rank += above[place];
    for (let l = 0; l < grade; l += 1) {
      atLeast[l] += 1;
      gain += (delta[l] * atLeast[l]) / rank;
      most += delta[l];
    }
  });
  return gain / most;
}
