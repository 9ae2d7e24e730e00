// GAPfm in a reader's browser: GAP, smoothed GAP, consistent GAP, and the trainings that climb them.
//
// The twin of metrics, paper, consistent and training, in their notation: scores f,
// grades y, Δ(y) = δ_1 + ... + δ_y, β_ij = min(Δ(y_i), Δ(y_j)), g the logistic function. Arrays may
// be typed or plain; factors are flat, row after row, D numbers each. Bad input throws one Error
// that names the value and the remedy. All sums go over all pairs of a list.

/** @typedef {ArrayLike<number>} Numbers a typed array or a plain one */

const MOST_GRADES = 1e6;
const WIDEST_RANGE = 1400; // up to here exponentials centred at mid-range, and their sums, are finite
const TINY = 1e-12; // keeps 0/0 out where a gradient has always been 0
const PAUSE = 16; // milliseconds of work after which the page may do something else

// ------------------------------------------------------------------------------------- checks

function checkArray(values, name, remedy, limits = {}) {
  const { length = values?.length, low = -Infinity, high = Infinity, whole = false } = limits;
  const isArray = Array.isArray(values) || (ArrayBuffer.isView(values) && "length" in values);
  if (!isArray || values.length !== length) {
    const got = isArray ? `${name} has length ${values.length}` : `${name} is ${values}`;
    throw new Error(`${got}, not an array of ${length ?? "some"} numbers; ${remedy}`);
  }
  const good = whole ? Number.isInteger : Number.isFinite;
  const bad = values.findIndex((v) => !(good(v) && v >= low && v <= high));
  if (bad >= 0) {
    const range = low === -Infinity ? "" : ` from ${low}` + (high < Infinity ? ` to ${high}` : "");
    const wanted = `${whole ? "whole" : "finite"} numbers${range}`;
    throw new Error(`${name} must be ${wanted}; ${name}[${bad}] is ${values[bad]}; ${remedy}`);
  }
  return whole ? new Int32Array(values) : new Float64Array(values);
}

function checkGrades(grades, low, high = MOST_GRADES, length = grades?.length) {
  const remedy = `${low ? "leave out unrated items" : "0 is unrated"}, multiply half stars by 2`;
  return checkArray(grades, "grades", remedy, { length, low, high, whole: true });
}

function checkScores(scores, { length }) {
  return checkArray(scores, "scores", "pass one finite score for each grade", { length });
}

function checkReal(value, name, low, open = false) {
  if (Number.isFinite(value) && (open ? value > low : value >= low)) return value;
  throw new Error(`${name} must be a number ${open ? "above" : "of at least"} ${low}, got ${value}`);
}

function checkCount(value, name, high = 2 ** 31 - 1, low = 1) {
  if (Number.isInteger(value) && value >= low && value <= high) return value;
  throw new Error(`${name} must be a whole number from ${low} to ${high}, got ${value}`);
}

function checkChoice(value, name, choices) {
  if (choices.includes(value)) return value;
  throw new Error(`${name} must be one of ${choices.join(", ")}, got ${value}`);
}

// Δ(y) of each item, 0 for the unrated.
function worthOf(grades, delta) {
  const sums = accumulated(delta), L = sums.length - 1;
  const highest = grades.reduce((a, b) => Math.max(a, b), 0);
  if (L < highest) {
    const lengths = `delta has ${L} entries but the highest grade is ${highest}`;
    throw new Error(`${lengths}; pass one weight for each grade 1..${highest}`);
  }
  return Float64Array.from(grades, (grade) => sums[grade]);
}

// ----------------------------------------------------------------------------- random numbers

/**
 * A generator of uniform numbers in [0, 1).
 * @param {number} seed whole; the same one gives the same numbers
 * @returns {() => number}
 */
export function mulberry32(seed) {
  let state = checkCount(seed, "seed", 2 ** 32 - 1, 0);
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Normal numbers, by the method of Box and Muller.
 * @param {() => number} rng a uniform generator, as `mulberry32` makes one
 * @param {number} n how many
 * @param {number} sd their standard deviation
 * @returns {Float64Array}
 */
export function normals(rng, n, sd) {
  return Float64Array.from({ length: n }, () => {
    const radius = sd * Math.sqrt(-2 * Math.log(1 - rng()));
    return radius * Math.cos(2 * Math.PI * rng());
  });
}

// ------------------------------------------------------------------ exact GAP and Algorithm 1

/**
 * δ_1..δ_L of (5).
 * @param {number} maxGrade L
 * @returns {Float64Array}
 */
export function thresholdingProbabilities(maxGrade) {
  const L = checkCount(maxGrade, "maxGrade", MOST_GRADES);
  if (L === 1) return Float64Array.of(1);
  return Float64Array.from({ length: L }, (_, l) => 2 ** (l + 1 - L) - 2 ** -L);
}

/**
 * Δ(0)..Δ(L), where Δ(y) = δ_1 + ... + δ_y.
 * @param {Numbers} delta δ_1..δ_L
 * @returns {Float64Array}
 */
export function accumulated(delta) {
  const remedy = "pass thresholdingProbabilities(maxGrade)";
  const weights = checkArray(delta, "delta", remedy, { low: 0 }), sums = new Float64Array(weights.length + 1);
  weights.forEach((weight, l) => { sums[l + 1] = sums[l] + weight; });
  return sums;
}

/**
 * g(x) = 1 / (1 + exp(-x)), with all its digits on both sides of 0.
 * @param {number} x
 * @returns {number}
 */
export function logistic(x) {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}

// The rank of value i among the first n, 1 for the highest; ties in the order given.
function rankOf(values, i, n) {
  let rank = 1;
  for (let j = 0; j < i; j += 1) if (values[j] >= values[i]) rank += 1;
  for (let j = i + 1; j < n; j += 1) if (values[j] > values[i]) rank += 1;
  return rank;
}

/**
 * GAP (2)-(4) of one list, divided by Z over "all" rated items, over the first `at` of the "ideal" list, or
 * over the "hits".
 * @param {Numbers} grades whole, 0 for unrated
 * @param {Numbers} scores one for each grade
 * @param {{at?: number, normalizer?: "all" | "ideal" | "hits", delta?: Numbers}} [options] `at`: the last rank that counts
 * @returns {number} NaN where nothing is rated
 */
export function gradedAveragePrecision(grades, scores, { at, normalizer = "all", delta } = {}) {
  const y = checkGrades(grades, 0), f = checkScores(scores, y);
  checkChoice(normalizer, "normalizer", ["all", "ideal", "hits"]);
  const last = at == null ? y.length : checkCount(at, "at");
  const highest = Math.max(1, y.reduce((a, b) => Math.max(a, b), 0));
  const rated = [];
  worthOf(y, delta ?? thresholdingProbabilities(highest)).forEach((worth, i) => {
    if (worth > 0) rated.push({ worth, rank: rankOf(f, i, f.length) });
  });
  const hits = rated.filter(({ rank }) => rank <= last).sort((a, b) => a.rank - b.rank);
  if (!hits.length) return rated.length ? 0 : NaN;
  let gain = 0;
  hits.forEach(({ worth, rank }, i) => {
    for (let j = 0; j <= i; j += 1) gain += Math.min(worth, hits[j].worth) / rank;
  });
  rated.sort((a, b) => b.worth - a.worth);
  const counted = { all: rated, ideal: rated.slice(0, last), hits }[normalizer];
  return Math.min(1, gain / counted.reduce((sum, { worth }) => sum + worth, 0));
}

// Algorithm 1: marks which k of the first n items stand farthest from their due rank.
function markMisranked(grades, scores, n, k, distance, marks) {
  for (let i = 0; i < n; i += 1) {
    distance[i] = Math.abs(rankOf(grades, i, n) - rankOf(scores, i, n));
  }
  for (let i = 0; i < n; i += 1) marks[i] = rankOf(distance, i, n) <= k;
}

// ------------------------------------------------------------------------ the sums of one list

// A list as the sums take it, the rated items first, and the room that they work in.
function newList(length, rows) {
  const list = { n: 0, nRated: 0, items: new Int32Array(length), moved: new Uint8Array(length) };
  // Scores f, ∂/∂f, Δ(y) or gains G, v, w; what an item, and a row of pairs, needs in between.
  for (const name of ["f", "c", "worth", "shares", "weights", "e", "x", "s", "t"]) {
    list[name] = new Float64Array(length);
  }
  return Object.assign(list, { d: new Float64Array(rows * length), shared: false });
}

// One exponential an item, where the scores are not too far apart for that.
function shareExponentials(list, tau) {
  const { f, n, e } = list;
  let low = f[0], high = f[0];
  for (let i = 1; i < n; i += 1) {
    low = Math.min(low, f[i]);
    high = Math.max(high, f[i]);
  }
  list.shared = high - low <= WIDEST_RANGE * tau;
  for (let i = 0; i < n; i += 1) e[i] = Math.exp((f[i] - 0.5 * (low + high)) / tau);
}

// t_ij = g((f_j - f_i) / τ) and d_ij = t_ij t_ji for all j, the latter from d[row] on.
function rowOfPairs({ f, n, e, t, d, shared }, i, tau, row) {
  const e_i = e[i], f_i = f[i];
  for (let j = 0; j < n && shared; j += 1) {
    const inverse = 1 / (e_i + e[j]);
    t[j] = e[j] * inverse;
    d[row + j] = e_i * inverse * t[j];
  }
  for (let j = 0; j < n && !shared; j += 1) {
    const small = Math.exp(-Math.abs(f[j] - f_i) / tau), upper = 1 / (1 + small);
    t[j] = f[j] >= f_i ? upper : small * upper;
    d[row + j] = small * upper * upper;
  }
}

// Smoothed GAP (8), returned, and ∂F/∂f, into c:
// g'(f_i) Σ_j β_ij t_ij + Σ_j β_ij (g(f_j) - g(f_i)) d_ij, where the difference is written as
// g(f_j) g(-f_i) - g(f_i) g(-f_j), which keeps its digits where both are near 1.
function smoothedSums(list) {
  const { f, n, worth, c, x: g, s: h, t, d } = list;
  shareExponentials(list, 1);
  for (let i = 0; i < n; i += 1) {
    const small = Math.exp(-Math.abs(f[i])), upper = 1 / (1 + small);
    g[i] = f[i] >= 0 ? upper : small * upper;
    h[i] = f[i] >= 0 ? small * upper : upper;
  }
  let value = 0;
  for (let i = 0; i < n; i += 1) {
    const g_i = g[i], h_i = h[i], worth_i = worth[i];
    let above = 0, slope = 0;
    rowOfPairs(list, i, 1, 0);
    for (let j = 0; j < n; j += 1) {
      const beta = worth_i < worth[j] ? worth_i : worth[j];
      above += beta * t[j];
      slope += beta * (g[j] * h_i - g_i * h[j]) * d[j];
    }
    value += g_i * above;
    c[i] = g_i * h_i * above + slope;
  }
  return value;
}

// Consistent GAP, Σ_i N_i / R̂_i, or where `geometric` Σ_i v_i log(N_i / (G_i R̂_i)), returned, and
// ∂/∂f, into c; N_i = G_i + Σ_{j≠i} min(G_i, G_j) t_ij, R̂_i = ½ + Σ_j w_j t_ij, over rated i. For
// both ∂/∂t_ij = x_i min(G_i, G_j) - w_j s_i, with x_i = 1 / R̂_i or v_i / N_i, s_i = x_i N_i / R̂_i.
function consistentSums(list, tau, geometric) {
  const { n, nRated, worth, shares, weights, t, x, s } = list;
  shareExponentials(list, tau);
  let value = 0;
  for (let i = 0; i < nRated; i += 1) {
    const worth_i = worth[i];
    let rank = 0.5, earned = 0.5 * worth_i; // j = i counts 1, of which t_ii is ½
    rowOfPairs(list, i, tau, i * n);
    for (let j = 0; j < nRated; j += 1) earned += (worth_i < worth[j] ? worth_i : worth[j]) * t[j];
    for (let j = 0; j < n; j += 1) rank += weights[j] * t[j];
    value += geometric ? shares[i] * Math.log(earned / (worth_i * rank)) : earned / rank;
    x[i] = geometric ? shares[i] / earned : 1 / rank;
    s[i] = (x[i] * earned) / rank;
  }
  consistentSlopes(list, tau);
  return value;
}

// c_k = (1/τ) Σ_i d_ik (m_ik - m_ki), where m_ij = x_i min(G_i, G_j) - w_j s_i, 0 for an unrated i.
function consistentSlopes({ n, nRated, worth, weights, c, d, x, s }, tau) {
  c.fill(0, 0, n);
  for (let k = 0; k < nRated; k += 1) {
    const row = k * n, push = s[k] / tau;
    let pull = 0, passed = 0;
    for (let i = 0; i < nRated; i += 1) {
      const cost = weights[k] * s[i] - weights[i] * s[k];
      pull += d[row + i] * ((x[i] - x[k]) * Math.min(worth[i], worth[k]) - cost);
    }
    for (let l = nRated; l < n; l += 1) {
      const slope = weights[l] * d[row + l];
      passed += slope;
      c[l] -= push * slope;
    }
    c[k] = pull / tau + push * passed;
  }
}

// ------------------------------------------------------ smoothed and consistent GAP of one list

function smoothedList(scores, grades, { delta } = {}) {
  const y = checkGrades(grades, 1), f = checkScores(scores, y), list = newList(f.length, 1);
  list.f.set(f);
  list.worth.set(worthOf(y, delta));
  list.n = f.length;
  return { value: smoothedSums(list), slope: list.c };
}

/**
 * Smoothed GAP (8) of a user's rated items, without 1/Z.
 * @param {Numbers} scores
 * @param {Numbers} grades from 1 on
 * @param {{delta: Numbers}} options
 * @returns {number}
 */
export function smoothedGap(scores, grades, options) {
  return smoothedList(scores, grades, options).value;
}

/**
 * ∂F/∂f of (8): the vector c that (10) and (11) share.
 * @param {Numbers} scores
 * @param {Numbers} grades from 1 on
 * @param {{delta: Numbers}} options
 * @returns {Float64Array}
 */
export function smoothedGapGradient(scores, grades, options) {
  return smoothedList(scores, grades, options).slope;
}

/**
 * GAP with smooth ranks, in which unrated items, too, take up ranks.
 * @param {Numbers} scores
 * @param {Numbers} grades whole, 0 for unrated
 * @param {{delta: Numbers, temperature?: number, weights?: Numbers}} options `weights`: how much of a rank each item takes up
 * @returns {number} NaN where nothing is rated
 */
export function consistentGap(scores, grades, { temperature = 1, weights, delta } = {}) {
  const y = checkGrades(grades, 0), f = checkScores(scores, y), n = f.length;
  const tau = checkReal(temperature, "temperature", 0, true), worth = worthOf(y, delta);
  const remedy = "pass one weight for each score", limits = { length: n, low: 0 };
  const w = checkArray(weights ?? new Array(n).fill(1), "weights", remedy, limits);
  const total = worth.reduce((a, b) => a + b, 0);
  if (!(total > 0)) return NaN;
  const ratedFirst = Array.from(y.keys()).sort((i, j) => (y[j] > 0) - (y[i] > 0));
  const nRated = y.filter((grade) => grade > 0).length;
  const list = Object.assign(newList(n, nRated), { n, nRated });
  ratedFirst.forEach((i, k) => {
    list.f[k] = f[i];
    list.worth[k] = worth[i] / total;
    list.weights[k] = w[i];
  });
  return consistentSums(list, tau, false);
}

// ------------------------------------------------------------- what training and folding in share

function checkAscent(options) {
  const { objective = "paper", temperature = 1, unratedWeight } = options;
  checkChoice(objective, "objective", ["paper", "consistent", "geometric"]);
  if (objective !== "paper") checkReal(unratedWeight, "unratedWeight", 0, true);
  const ascent = {
    objective, unratedWeight, repaired: objective !== "paper",
    tau: checkReal(temperature, "temperature", 0, true),
    D: checkCount(options.nFactors, "nFactors"),
    maxGrade: checkCount(options.maxGrade, "maxGrade", MOST_GRADES),
    reg: checkReal(options.reg, "reg", 0),
    learningRate: checkReal(options.learningRate, "learningRate", 0, true),
    nIter: checkCount(options.nIter, "nIter"),
  };
  const grades = Array.from({ length: ascent.maxGrade + 1 }, (_, grade) => grade);
  return Object.assign(ascent, { worth: worthOf(grades, thresholdingProbabilities(ascent.maxGrade)) });
}

function checkFactors(values, name, rows, columns) {
  const remedy = `pass ${rows} rows of ${columns} flat, one row after the other`;
  return checkArray(values, name, remedy, { length: rows * columns });
}

// Puts the ratings begin..end - 1 of a user into the list.
function putRated(list, { worth, maxGrade, objective }, items, grades, begin, end) {
  let total = 0;
  for (let k = begin; k < end; k += 1) total += worth[grades[k]];
  for (let k = begin; k < end; k += 1) {
    list.items[k - begin] = items[k];
    list.worth[k - begin] = objective === "consistent" ? worth[grades[k]] / total : worth[grades[k]];
    list.shares[k - begin] = grades[k] / maxGrade;
    list.weights[k - begin] = list.moved[k - begin] = 1;
  }
  list.n = list.nRated = end - begin;
}

// Appends unrated items, which stand for all of them: all, or one from each of as many equal parts
// of them as there are uniform numbers. `rated` items ascend.
function putUnrated(list, { unratedWeight }, rated, nItems, uniforms) {
  const left = nItems - rated.length, n = Math.min(uniforms?.length ?? left, left);
  const { nRated, items, weights, moved } = list;
  for (let k = 0, passed = 0; k < n; k += 1) {
    const drawn = n < left ? Math.min(left - 1, Math.floor((k + uniforms[k]) * (left / n))) : k;
    while (passed < rated.length && rated[passed] <= drawn + passed) passed += 1;
    items[nRated + k] = drawn + passed;
  }
  list.n = nRated + n;
  weights.fill((unratedWeight * left) / Math.max(1, n), nRated, list.n);
  moved.fill(1, nRated, list.n);
}

// The objective of the list of a user whose factors begin at U[own], returned, and ∂/∂f, into c.
function climbList(list, { D, repaired, tau, objective }, U, own, V, b) {
  const { n, items, f } = list;
  for (let k = 0; k < n; k += 1) {
    const other = items[k] * D;
    let score = 0;
    for (let q = 0; q < D; q += 1) score += U[own + q] * V[other + q];
    f[k] = repaired ? score + b[items[k]] : score;
  }
  return repaired ? consistentSums(list, tau, objective === "geometric") : smoothedSums(list);
}

// Gradient ascent, or Adagrad where there are `squares`: the sum of those that a slope has had.
function move(values, slopes, rate, squares) {
  for (let i = 0; i < values.length; i += 1) {
    if (squares) squares[i] += slopes[i] ** 2;
    const length = squares ? Math.sqrt(squares[i]) + TINY : 1;
    values[i] += (rate * slopes[i]) / length;
  }
}

/**
 * What a list is trained for, and how.
 * @typedef {{nFactors: number, reg: number, learningRate: number, nIter: number, maxGrade: number,
 *   objective?: "paper" | "consistent" | "geometric", temperature?: number, unratedWeight?: number}} Ascent
 */

/**
 * The factors of a new user from a few grades, V (and b) held fixed, from 0, on all items.
 * @param {Numbers} itemFactors V, flat
 * @param {Numbers} items positions of the items graded
 * @param {Numbers} grades of these, from 1 on
 * @param {Ascent & {itemBias?: Numbers}} options
 * @returns {Float64Array}
 */
export function foldIn(itemFactors, items, grades, options) {
  const ascent = checkAscent(options), { D, repaired, reg, learningRate, nIter } = ascent;
  const nItems = Math.floor((itemFactors?.length ?? 0) / D);
  const V = checkFactors(itemFactors, "itemFactors", nItems, D);
  const b = repaired && checkFactors(options.itemBias, "itemBias", nItems, 1);
  const remedy = "pass positions of items", limits = { low: 0, high: nItems - 1, whole: true };
  const given = checkArray(items, "items", remedy, limits), n = given.length;
  const rated = Int32Array.from(new Set(given)).sort();
  if (rated.length < n) throw new Error(`items must be distinct, got ${items}; grade each once`);
  const y = checkGrades(grades, 1, ascent.maxGrade, n), u = new Float64Array(D);
  if (!n) return u;
  const list = newList(repaired ? nItems : n, n), slope = new Float64Array(D);
  putRated(list, ascent, given, y, 0, n);
  if (repaired) putUnrated(list, ascent, rated, nItems);
  const squares = repaired ? new Float64Array(D) : null;
  for (let iteration = 1; iteration <= nIter; iteration += 1) {
    climbList(list, ascent, u, 0, V, b);
    for (let q = 0; q < D; q += 1) slope[q] = -reg * u[q];
    for (let k = 0; k < list.n; k += 1) {
      for (let q = 0; q < D; q += 1) slope[q] += list.c[k] * V[list.items[k] * D + q];
    }
    move(u, slope, learningRate, squares);
    if (!u.every(Number.isFinite)) throw diverged(iteration, learningRate);
  }
  return u;
}

// ------------------------------------------------------------------------------------ training

function checkTraining(options) {
  const highest = checkGrades(options.grades, 1).reduce((a, b) => Math.max(a, b), 1);
  const ascent = checkAscent({ ...options, maxGrade: options.maxGrade ?? highest });
  const { repaired, D } = ascent;
  const { nSelected, selection = "adaptive", nNegatives, seed = 0 } = options;
  const nItems = checkCount(options.nItems, "nItems");
  const limits = { low: 0, high: nItems - 1, whole: true };
  const items = checkArray(options.items, "items", "pass positions of items", limits);
  const starts = { low: 0, high: items.length, whole: true };
  const indptr = checkArray(options.indptr, "indptr", "pass where each user's ratings begin", starts);
  const nUsers = indptr.length - 1;
  if (!items.length || indptr[0] !== 0 || indptr[nUsers] !== items.length) {
    throw new Error(`indptr must run from 0 to the ${items.length} ratings, of which there must be some`);
  }
  for (let m = 0; m < nUsers; m += 1) {
    for (let k = indptr[m] + 1; k < indptr[m + 1]; k += 1) {
      if (items[k] > items[k - 1]) continue;
      throw new Error(`a user's items must ascend; items[${k}] is ${items[k]} after ${items[k - 1]}`);
    }
    if (indptr[m + 1] >= indptr[m]) continue;
    throw new Error(`indptr must not descend; indptr[${m + 1}] is ${indptr[m + 1]}`);
  }
  checkChoice(selection, "selection", ["adaptive", "random"]);
  const state = {
    userFactors: checkFactors(options.userFactors, "userFactors", nUsers, D),
    itemFactors: checkFactors(options.itemFactors, "itemFactors", nItems, D),
  };
  const bias = options.itemBias ?? new Float64Array(nItems);
  if (repaired) state.itemBias = checkFactors(bias, "itemBias", nItems, 1);
  return Object.assign(ascent, {
    indptr, items, nItems, nUsers, selection, state, rng: mulberry32(seed),
    grades: checkGrades(options.grades, 1, ascent.maxGrade, items.length),
    nSelected: nSelected == null ? Infinity : checkCount(nSelected, "nSelected"),
    nDrawn: nNegatives == null ? nItems : Math.min(nItems, checkCount(nNegatives, "nNegatives")),
    uniforms: options.uniforms,
  });
}

// The uniform numbers of an iteration that draw unrated items: nDrawn for each user, or none.
function drawUniforms({ repaired, nUsers, nDrawn, nItems, rng, uniforms }, iteration) {
  if (!repaired || nDrawn === nItems) return null;
  if (!uniforms) return Float64Array.from({ length: nUsers * nDrawn }, rng);
  const remedy = "pass nUsers times nNegatives numbers in [0, 1)";
  const limits = { length: nUsers * nDrawn, low: 0, high: 1 };
  return checkArray(uniforms(iteration), "uniforms", remedy, limits);
}

// Algorithm 1: which items of a user's list move, the K most misranked or any K.
function choose(list, { nSelected, selection, rng }, grades) {
  const { n, f, x: distance, moved } = list;
  if (n <= nSelected) return;
  if (selection === "adaptive") markMisranked(grades, f, n, nSelected, distance, moved);
  else {
    for (let k = 0; k < n; k += 1) distance[k] = rng();
    for (let k = 0; k < n; k += 1) moved[k] = rankOf(distance, k, n) <= nSelected;
  }
}

// A function that returns the objective at `state` and fills `slopes`, its gradient by name.
function gradientOf(training) {
  const { indptr, items, grades, nItems, nUsers, D, reg, repaired, nDrawn } = training;
  const longest = indptr.reduce((most, end, m) => Math.max(most, m && end - indptr[m - 1]), 0);
  const list = newList(repaired ? Math.min(nItems, longest + nDrawn) : longest, longest);
  const addUser = (m, state, slopes) => {
    const { userFactors: U, itemFactors: V } = state, { n, items: listed, moved } = list;
    const { userFactors: byUser, itemFactors: byItem, itemBias: byBias } = slopes, own = m * D;
    for (let k = 0; k < n; k += 1) {
      const c = list.c[k], other = listed[k] * D, moving = moved[k] * c;
      for (let q = 0; q < D; q += 1) {
        byUser[own + q] += c * V[other + q];
        byItem[other + q] += moving * U[own + q];
      }
      if (repaired) byBias[listed[k]] += c;
    }
  };
  return (state, slopes, iteration) => {
    const uniforms = drawUniforms(training, iteration);
    let value = 0;
    for (const [name, x] of Object.entries(state)) {
      for (let i = 0; i < x.length; i += 1) {
        slopes[name][i] = -reg * x[i];
        value -= (reg / 2) * x[i] ** 2;
      }
    }
    for (let m = 0; m < nUsers; m += 1) {
      const begin = indptr[m], end = indptr[m + 1];
      if (begin === end) continue;
      putRated(list, training, items, grades, begin, end);
      const drawn = uniforms?.subarray(m * nDrawn, (m + 1) * nDrawn);
      if (repaired) putUnrated(list, training, items.subarray(begin, end), nItems, drawn);
      value += climbList(list, training, state.userFactors, m * D, state.itemFactors, state.itemBias);
      if (!repaired) choose(list, training, grades.subarray(begin, end));
      addUser(m, state, slopes);
    }
    return value;
  };
}

function diverged(iteration, rate) {
  return new Error(
    `training left the finite numbers in iteration ${iteration}; try a learningRate below ${rate}, ` +
    `such as ${Math.min(rate / 10, 0.1)}, or milder values of reg, temperature and the start`,
  );
}

// Lets a page do something else; no timer, as browsers delay those.
function nextTask() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { port1.close(); resolve(); };
    port2.postMessage(null);
  });
}

/**
 * Algorithm 2 in batch, from the start given, which is left as it is. `onIteration` gets the training's own
 * arrays, so copy what you keep. For the repaired objectives `nNegatives` unrated items of each user are drawn
 * an iteration, or all are taken.
 * @param {Omit<Ascent, "maxGrade"> & {indptr: Numbers, items: Numbers, grades: Numbers, nItems: number,
 *   userFactors: Numbers, itemFactors: Numbers, itemBias?: Numbers, maxGrade?: number, nSelected?: number,
 *   selection?: "adaptive" | "random", nNegatives?: number, seed?: number, signal?: AbortSignal,
 *   uniforms?: (iteration: number) => Numbers, onIteration?: (now: {iteration: number, objective: number,
 *   userFactors: Float64Array, itemFactors: Float64Array, itemBias?: Float64Array}) => void}} options the items of
 *   user m are items[indptr[m]], ..., items[indptr[m + 1] - 1], and ascend
 * @returns {Promise<{userFactors: Float64Array, itemFactors: Float64Array, itemBias?: Float64Array,
 *   history: {iteration: number, objective: number}[]}>}
 */
export const train = async (options) => {
  const training = checkTraining(options), { state, nIter, learningRate, repaired } = training;
  const zeros = () => Object.fromEntries(
    Object.entries(state).map(([name, x]) => [name, new Float64Array(x.length)]),
  );
  const slopes = zeros(), squares = repaired ? zeros() : {}, history = [];
  const { onIteration, signal } = options, gradient = gradientOf(training);
  gradient(state, slopes, 1);
  let rested = performance.now();
  for (let iteration = 1; iteration <= nIter; iteration += 1) {
    if (performance.now() - rested > PAUSE) {
      await nextTask();
      rested = performance.now();
    }
    signal?.throwIfAborted();
    for (const name of Object.keys(state)) move(state[name], slopes[name], learningRate, squares[name]);
    const objective = gradient(state, slopes, iteration + 1);
    if (!Number.isFinite(objective)) throw diverged(iteration, learningRate);
    history.push({ iteration, objective });
    onIteration?.({ iteration, objective, ...state });
  }
  return { ...state, history };
};
