/**
 * JSON in the form that Python prints, because scripts read what the SDK's own `arcp` prints: a
 * space after each comma and colon, and everything beyond ASCII escaped. The last also keeps what
 * agents say from doing anything to a terminal.
 */
const BEYOND_ASCII = /[\u007f-\uffff]/g;

/** On one line, or with each level indented by so many spaces. */
export function pythonJson(value: unknown, indent?: number): string {
  return indent === undefined ? oneLine(value) : ascii(JSON.stringify(value, null, indent));
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(", ")}]`;
  if (typeof value !== "object" || value === null) return ascii(JSON.stringify(value));
  const fields = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]) => `${ascii(JSON.stringify(name))}: ${oneLine(each)}`);
  return `{${fields.join(", ")}}`;
}

function ascii(json: string): string {
  return json.replace(BEYOND_ASCII, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
