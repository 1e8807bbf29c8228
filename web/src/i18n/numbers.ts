/** Numbers as people read them: the same in both languages. */

const GROUPED = new Intl.NumberFormat("en-US");

/** An integer with thin groups: 12,345. */
export function number(value: number): string {
  return GROUPED.format(value);
}

/** A whole number that came as a double: every digit, as long as a double has them. */
export function whole(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : real(value);
}

/** A real number in a table: 6 significant digits at most, an exponent where it is far from 1. */
export function real(value: number | string, digits = 6): string {
  if (typeof value === "string") return { nan: "NaN", inf: "Inf", "-inf": "-Inf" }[value] ?? value;
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "Inf" : "-Inf";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e9) return value.toExponential(Math.min(digits - 1, 4)).replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(digits)));
}

/** A share of a whole: "12.5 %"; what is more than nothing is never "0 %", what is not all never "100 %". */
export function percent(part: number, whole: number): string {
  if (whole === 0 || part === 0) return "0 %";
  if (part === whole) return "100 %";
  const share = (100 * part) / whole;
  if (share < 0.1) return "< 0.1 %";
  if (share > 99.9) return "> 99.9 %";
  return `${share < 10 || share > 99 ? share.toFixed(1) : Math.round(share)} %`;
}
