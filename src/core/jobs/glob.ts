/**
 * Patterns of leases. Segments are separated by `/`; a match covers the whole text.
 *
 *   *            any run of characters within a segment
 *   /** /        between slashes: any number of whole segments, none too
 *   /**          at the end: everything below, and the parent itself
 *   **           anywhere else: any run of characters, slashes included
 *
 * A pattern becomes a small machine with one state for each of its parts, and matching walks all
 * its possible states at once: the time is at most pattern times text, whatever is written there.
 * Whether one pattern covers another is asked of the machines too (see glob-subset.ts).
 */
export type Part =
  /** This character. */
  | { readonly is: "char"; readonly char: string }
  /** `*`: any characters but a slash. */
  | { readonly is: "star" }
  /** `**`: any characters. */
  | { readonly is: "any" }
  /** A slash that may be left out together with the "any" after it. */
  | { readonly is: "below" };

export interface Glob {
  readonly pattern: string;
  readonly parts: readonly Part[];
  /** The literal prefix of every match; all of it where there is no wildcard. */
  readonly beginning: string;
}

const STAR: Part = { is: "star" };
const ANY: Part = { is: "any" };
const BELOW: Part = { is: "below" };

export function compileGlob(pattern: string): Glob {
  const parts: Part[] = [];
  let at = 0;
  while (at < pattern.length) {
    const isBelow = pattern.startsWith("/**", at) && isBoundary(pattern[at + 3]);
    const stars = isBelow ? 0 : starsAt(pattern, at);
    if (isBelow) parts.push(BELOW, ANY);
    else if (stars > 1) parts.push(ANY);
    else if (stars === 1) parts.push(STAR);
    else parts.push({ is: "char", char: pattern.charAt(at) });
    at += isBelow ? 3 : Math.max(1, stars);
  }
  const wild = parts.findIndex((part) => part.is !== "char");
  return { pattern, parts, beginning: wild < 0 ? pattern : pattern.slice(0, wild) };
}

/** A pattern without wildcards: it matches itself. */
export function isLiteral({ pattern, beginning }: Glob): boolean {
  return pattern.length === beginning.length;
}

function isBoundary(next: string | undefined): boolean {
  return next === undefined || next === "/";
}

function starsAt(pattern: string, at: number): number {
  let end = at;
  while (pattern[end] === "*") end += 1;
  return end - at;
}

export function matchesGlob(glob: Glob, text: string): boolean {
  const { parts, beginning } = glob;
  if (isLiteral(glob)) return glob.pattern === text;
  if (!text.startsWith(beginning)) return false;
  let now = new Uint8Array(parts.length + 1);
  let next = new Uint8Array(parts.length + 1);
  now[beginning.length] = 1;
  skip(parts, now, beginning.length);
  for (let at = beginning.length; at < text.length; at += 1) {
    advance({ parts, now, next, char: text.charAt(at), from: beginning.length });
    skip(parts, next, beginning.length);
    [now, next] = [next, now];
    next.fill(0);
  }
  return now[parts.length] === 1;
}

interface Advance {
  readonly parts: readonly Part[];
  readonly now: Uint8Array;
  readonly next: Uint8Array;
  readonly char: string;
  readonly from: number;
}

function advance({ parts, now, next, char, from }: Advance): void {
  for (let state = from; state < parts.length; state += 1) {
    const part = now[state] === 1 ? parts[state] : undefined;
    const to = part && after(part, state, char);
    if (to !== undefined) next[to] = 1;
  }
}

/** Which state a character leads to; undefined where it leads nowhere. */
function after(part: Part, state: number, char: string): number | undefined {
  switch (part.is) {
    case "char":
      return part.char === char ? state + 1 : undefined;
    case "star":
      return char === "/" ? undefined : state;
    case "any":
      return state;
    case "below":
      return char === "/" ? state + 1 : undefined;
  }
}

/** Marks what can be reached without a character: such steps only lead forward. */
function skip(parts: readonly Part[], states: Uint8Array, from: number): void {
  for (let state = from; state < parts.length; state += 1) {
    const part = states[state] === 1 ? parts[state]?.is : undefined;
    if (part === "star" || part === "any") states[state + 1] = 1;
    else if (part === "below") states[state + 2] = 1;
  }
}

/** The states of a machine, ascending: each the index of the part that comes next. */
export type States = readonly number[];

export function startOf(glob: Glob): States {
  return closure(glob, [0]);
}

export function isAccepting(glob: Glob, states: States): boolean {
  return states.at(-1) === glob.parts.length;
}

export function step(glob: Glob, states: States, char: string): States {
  const next: number[] = [];
  for (const state of states) {
    const part = glob.parts[state];
    const to = part && after(part, state, char);
    if (to !== undefined) next.push(to);
  }
  return closure(glob, next);
}

/** Adds what can be reached without a character, and leaves out what another state covers. */
function closure({ parts }: Glob, states: readonly number[]): States {
  const reached = new Set<number>();
  for (const state of states) reach(parts, state, reached);
  return withoutCovered(
    parts,
    [...reached].sort((a, b) => a - b),
  );
}

function reach(parts: readonly Part[], from: number, reached: Set<number>): void {
  let state = from;
  while (!reached.has(state)) {
    reached.add(state);
    const part = parts[state]?.is;
    if (part === "below") reach(parts, state + 2, reached);
    if (part !== "star" && part !== "any") return;
    state += 1;
  }
}

/**
 * Every way to the end leads through all later parts. So once an "any" is reached, whatever the
 * states before it could still match, it can match as well; likewise a "star", for states from
 * which it is reached without a slash. Leaving those out keeps the sets few and small, which is
 * what makes the comparison of patterns quick.
 */
function withoutCovered(parts: readonly Part[], states: readonly number[]): States {
  const kept: number[] = [];
  let star = -1;
  for (let at = states.length - 1; at >= 0; at -= 1) {
    const state = states[at] ?? 0;
    if (star < 0 || holdsSlash(parts, state, star)) {
      kept.push(state);
      star = parts[state]?.is === "star" ? state : star;
    }
    if (parts[state]?.is === "any") break;
  }
  return kept.reverse();
}

function holdsSlash(parts: readonly Part[], from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const part = parts[at];
    if (part?.is === "any" || part?.is === "below") return true;
    if (part?.is === "char" && part.char === "/") return true;
  }
  return false;
}
