/**
 * Exact amounts of money. Binary floats drift (0.1 + 0.2), so an amount is a whole number of the
 * smallest unit there is, 10^-24, read from decimal text and written back as the shortest text.
 *
 * A JSON number has become a double before anybody sees it; its shortest decimal text is what its
 * sender wrote, and that is what counts.
 */
import { BUDGET } from "./limits.ts";

/** A whole number of 10^-24. */
export type Amount = bigint;

const DIGITS = BUDGET.fractionDigits;
const ONE = 10n ** BigInt(DIGITS);
const PLAIN = /^(\d+)(?:\.(\d+))?$/;
const SCIENTIFIC = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/i;

/** Reads `digits["." digits]`, nothing else: no sign, no exponent. */
export function amountOf(text: string): Amount | undefined {
  const found = PLAIN.exec(text);
  if (!found) return undefined;
  const [, whole = "", fraction = ""] = found;
  if (whole.length > BUDGET.wholeDigits || fraction.length > DIGITS) return undefined;
  return BigInt(whole) * ONE + BigInt(fraction.padEnd(DIGITS, "0"));
}

/**
 * Reads a JSON number, or a number in text, by its decimal digits. Digits beyond the 24th round
 * away from zero: a cost is never too small to count.
 */
export function amountOfNumber(value: number | string): Amount | undefined {
  const found = SCIENTIFIC.exec(typeof value === "number" ? String(value) : value);
  if (!found) return undefined;
  const [, sign, whole = "", fraction = "", exponent = "0"] = found;
  const digits = whole + fraction;
  // The point moves right by this many digits to make a whole number of the smallest unit.
  const shift = DIGITS - fraction.length + Number(exponent);
  if (digits.length > 64 || whole.length + Number(exponent) > BUDGET.wholeDigits) return undefined;
  const amount = shifted(BigInt(digits), shift);
  return sign === "-" ? -amount : amount;
}

function shifted(digits: bigint, shift: number): bigint {
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return (digits + divisor - 1n) / divisor;
}

/** The shortest decimal text: also a JSON number. */
export function amountText(amount: Amount): string {
  const sign = amount < 0n ? "-" : "";
  const digits = (amount < 0n ? -amount : amount).toString().padStart(DIGITS + 1, "0");
  const whole = digits.slice(0, -DIGITS);
  const fraction = digits.slice(-DIGITS).replace(/0+$/, "");
  return sign + whole + (fraction === "" ? "" : `.${fraction}`);
}
