/** `grpc-timeout`: how long a caller waits for its answer, as at most eight digits and a unit. */

const UNITS_MS: Readonly<Record<string, number>> = {
  n: 1e-6,
  u: 1e-3,
  m: 1,
  S: 1_000,
  M: 60_000,
  H: 3_600_000,
};

const MOST_DIGITS = 99_999_999;

/** Nothing when that is not a timeout. */
export function parseTimeout(header: string): number | undefined {
  const [, digits = "", unit = ""] = /^(\d{1,8})([numSMH])$/.exec(header) ?? [];
  const unitMs = UNITS_MS[unit];
  return unitMs === undefined ? undefined : Number(digits) * unitMs;
}

/** Rounded up: who waits a little longer than promised loses nothing. */
export function formatTimeout(ms: number): string {
  const millis = Math.max(0, Math.ceil(ms));
  if (millis <= MOST_DIGITS) return `${millis}m`;
  return `${Math.min(MOST_DIGITS, Math.ceil(millis / 1_000))}S`;
}
