/**
 * Data of others as it comes out of JSON: what may be in it, and reading fields from it without
 * trusting any. A reader notes the first thing that is wrong, by the name of its field, and goes
 * on with harmless values: reading needs no exceptions, and ends with one look at `problem`.
 *
 * An own field called `__proto__` is legal JSON, and a trap for code that copies the object: it is
 * refused wherever free data is let in.
 */
import { isRecord, type JsonRecord } from "../json-object.ts";

/** The problem of free data, if any: it nests too deep, or has a field no data should have. */
export function problemOfJson(value: unknown, depth: number): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (depth === 0) return "nests too deep";
  if (Array.isArray(value)) {
    for (const each of value) {
      const problem = problemOfJson(each, depth - 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  for (const key in value) {
    if (key === "__proto__") return "holds a field named __proto__";
    const problem = problemOfJson((value as JsonRecord)[key], depth - 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

interface TextBounds {
  readonly max: number;
  /** Empty text is refused unless it is said to be fine. */
  readonly mayBeEmpty?: boolean;
}

interface NumberBounds {
  readonly min: number;
  readonly max?: number;
}

/** Reads the fields of one object; `null` is absent. */
export class Reader {
  problem: string | undefined;
  readonly #object: JsonRecord;
  readonly #path: string;

  constructor(object: JsonRecord, path: string) {
    this.#object = object;
    this.#path = path;
  }

  fail(field: string, what: string): void {
    this.problem ??= `${this.#path}${field} ${what}`;
  }

  raw(field: string): unknown {
    return this.#object[field] ?? undefined;
  }

  isNull(field: string): boolean {
    return this.#object[field] === null;
  }

  /** The first of several names that is there. */
  nameOf(...names: readonly [string, ...string[]]): string {
    return names.find((name) => this.raw(name) !== undefined) ?? names[0];
  }

  text(field: string, bounds: TextBounds): string {
    const value = this.raw(field);
    if (value === undefined) this.fail(field, "is missing");
    return this.#checkedText(field, value ?? "-", bounds);
  }

  optionalText(field: string, bounds: TextBounds): string | undefined {
    const value = this.raw(field);
    return value === undefined ? undefined : this.#checkedText(field, value, bounds);
  }

  #checkedText(field: string, value: unknown, { max, mayBeEmpty = false }: TextBounds): string {
    if (typeof value !== "string") {
      this.fail(field, "is not text");
      return "";
    }
    if (value === "" && !mayBeEmpty) this.fail(field, "is empty");
    if (value.length > max) {
      this.fail(field, `has ${value.length} characters, at most ${max} are allowed`);
    }
    return value;
  }

  whole(field: string, bounds: NumberBounds): number {
    const value = this.optionalWhole(field, bounds);
    if (value === undefined) this.fail(field, "is missing");
    return value ?? 0;
  }

  optionalWhole(field: string, bounds: NumberBounds): number | undefined {
    const value = this.raw(field);
    if (value === undefined) return undefined;
    if (!Number.isSafeInteger(value)) {
      this.fail(field, "is not a whole number");
      return undefined;
    }
    return this.#inRange(field, value as number, bounds);
  }

  number(field: string, bounds: NumberBounds): number {
    const value = this.optionalNumber(field, bounds);
    if (value === undefined) this.fail(field, "is missing");
    return value ?? 0;
  }

  optionalNumber(field: string, bounds: NumberBounds): number | undefined {
    const value = this.raw(field);
    if (value === undefined) return undefined;
    if (typeof value !== "number" || !Number.isFinite(value)) {
      this.fail(field, "is not a number");
      return undefined;
    }
    return this.#inRange(field, value, bounds);
  }

  #inRange(field: string, value: number, { min, max = Infinity }: NumberBounds): number {
    if (value >= min && value <= max) return value;
    const allowed = max === Infinity ? `at least ${min}` : `${min} to ${max}`;
    this.fail(field, `is ${value}, allowed is ${allowed}`);
    return min;
  }

  optionalFlag(field: string): boolean | undefined {
    const value = this.raw(field);
    if (value === undefined || typeof value === "boolean") return value;
    this.fail(field, "is not true or false");
    return undefined;
  }

  /** An object whose fields the caller reads. */
  optionalObject(field: string): JsonRecord | undefined {
    const value = this.raw(field);
    if (value === undefined || isRecord(value)) return value;
    this.fail(field, "is not an object");
    return undefined;
  }

  /** Data that is passed on as it is. */
  free(field: string, depth: number): unknown {
    const value = this.raw(field);
    const problem = problemOfJson(value, depth);
    if (problem !== undefined) this.fail(field, problem);
    return value;
  }

  optionalFreeObject(field: string, depth: number): JsonRecord | undefined {
    const value = this.optionalObject(field);
    return value === undefined ? undefined : (this.free(field, depth) as JsonRecord);
  }

  optionalTexts(field: string, bounds: { readonly max: number; readonly entries: number }) {
    const value = this.raw(field);
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || !value.every((each) => typeof each === "string")) {
      this.fail(field, "is not a list of texts");
      return undefined;
    }
    const texts: readonly string[] = value;
    if (texts.length > bounds.entries) {
      this.fail(field, `has ${texts.length} entries, at most ${bounds.entries} are allowed`);
    }
    if (texts.some((text) => text.length > bounds.max)) {
      this.fail(field, `has an entry of more than ${bounds.max} characters`);
    }
    return texts;
  }

  /** A reader of an inner object; what is wrong there is wrong here. Missing reads as empty. */
  inner<Read>(field: string, read: (inner: Reader) => Read): Read {
    const inner = new Reader(this.optionalObject(field) ?? {}, `${this.#path}${field}.`);
    const value = read(inner);
    this.problem ??= inner.problem;
    return value;
  }
}
