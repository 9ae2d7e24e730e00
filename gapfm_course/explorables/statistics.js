// The two distributions that a comparison of systems needs: Student's t, and drawing without
// putting back.

// log(n!) for n = 0 to `most`.
export function logFactorials(most) {
  const table = new Float64Array(most + 1);
  for (let n = 2; n <= most; n += 1) table[n] = table[n - 1] + Math.log(n);
  return table;
}

const LANCZOS = [676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];

function logGamma(x) {
  let sum = 0.99999999999980993;
  LANCZOS.forEach((c, k) => { sum += c / (x + k); });
  const t = x + 6.5; // the argument x - 1, plus 7.5
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

// The regularised incomplete beta function I_x(a, b) by its continued fraction (Lentz).
function incompleteBeta(x, a, b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  let c = 1, d = 1 / (1 - ((a + b) * x) / (a + 1)), fraction = d;
  for (let m = 1; m < 500; m += 1) {
    for (const term of [(m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)), (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))]) {
      d = 1 / (1 + term * d);
      c = 1 + term / c;
      fraction *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-14) break;
  }
  return front * fraction;
}

// The two-sided p-value of t with df degrees of freedom.
export function tTails(t, df) {
  return incompleteBeta(df / (df + t * t), df / 2, 0.5);
}

// Where the two-sided p-value is `p`: 1.96 for .05 and many degrees of freedom.
export function tQuantile(p, df) {
  let low = 0, high = 1;
  while (tTails(high, df) > p) high *= 2;
  for (let k = 0; k < 60; k += 1) {
    const middle = (low + high) / 2;
    if (tTails(middle, df) > p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
