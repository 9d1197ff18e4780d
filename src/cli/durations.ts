/** How long, as people type it: 30s, 1.5m, 2h; a number alone is seconds. */

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** In milliseconds; throws what the parser of flags tells. */
export function parseDuration(text: string): number {
  const [, amount, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
  if (amount === undefined) throw new Error("not a duration, such as 30s, 5m or 2h");
  return Math.round(Number(amount) * (UNITS[unit] ?? 1));
}
