/** JSON of anybody's making, before anything is known of it. */

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Nothing where the text is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Nothing where it is no JSON object. */
export function parsedRecord(text: string): JsonRecord | undefined {
  const value = parsedJson(text);
  return isRecord(value) ? value : undefined;
}
