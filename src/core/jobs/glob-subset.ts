/**
 * Whether one pattern covers another: does everything the inner one matches also match the outer?
 * Answered exactly, by walking both machines side by side and looking for a text that the inner
 * takes and the outer does not. The walk goes by length, so a text that is found is a shortest one:
 * it says why the answer is no.
 *
 * Of all characters only those that one of the patterns spells out can matter, and the slash; one
 * more stands for all the rest.
 *
 * Comparing costs effort, which is bounded for a whole lease. No honest one comes near, and beyond
 * the answer is "too complex", which the caller takes for a no.
 */
import {
  compileGlob,
  isAccepting,
  isLiteral,
  matchesGlob,
  startOf,
  step,
  type Glob,
  type States,
} from "./glob.ts";
import { LEASE } from "./limits.ts";

export type Coverage =
  | { readonly covered: true }
  /** A text that only the inner pattern matches. */
  | { readonly covered: false; readonly because: "wider"; readonly example: string }
  | { readonly covered: false; readonly because: "too complex" };

/** The moves of a state that may still be made; shared by all comparisons of one check. */
export interface Effort {
  left: number;
}

export function newEffort(): Effort {
  return { left: LEASE.subsetMoves };
}

interface Pair {
  readonly inner: States;
  readonly outer: States;
  readonly text: string;
}

export function coverageOf(inner: string, outer: string, effort: Effort = newEffort()): Coverage {
  if (inner === outer || outer === "**") return { covered: true };
  if (effort.left <= 0) return { covered: false, because: "too complex" };
  effort.left -= 1;
  const [a, b] = [compileGlob(inner), compileGlob(outer)];
  if (isLiteral(a)) {
    if (matchesGlob(b, inner)) return { covered: true };
    return { covered: false, because: "wider", example: inner };
  }
  if (areApart(a, b)) return { covered: false, because: "wider", example: shortestOf(a) };
  const found = firstPair(a, b, {
    isFound: (pair) => isAccepting(a, pair.inner) && !isAccepting(b, pair.outer),
    isDead: (pair) => pair.inner.length === 0,
    effort,
  });
  if (found === "too many") return { covered: false, because: "too complex" };
  if (!found) return { covered: true };
  return { covered: false, because: "wider", example: found.text };
}

/** Whether every match of one begins otherwise than every match of the other. */
function areApart(a: Glob, b: Glob): boolean {
  return !a.beginning.startsWith(b.beginning) && !b.beginning.startsWith(a.beginning);
}

/** Every wildcard may stand for nothing. */
function shortestOf({ parts }: Glob): string {
  return parts.map((part) => (part.is === "char" ? part.char : "")).join("");
}

/** Whether some text matches both patterns; undefined where that is too hard to say. */
export function overlap(
  one: string,
  other: string,
  effort: Effort = newEffort(),
): boolean | undefined {
  if (effort.left <= 0) return undefined;
  effort.left -= 1;
  const [a, b] = [compileGlob(one), compileGlob(other)];
  if (isLiteral(a)) return matchesGlob(b, one);
  if (isLiteral(b)) return matchesGlob(a, other);
  if (areApart(a, b)) return false;
  const found = firstPair(a, b, {
    isFound: (pair) => isAccepting(a, pair.inner) && isAccepting(b, pair.outer),
    isDead: (pair) => pair.inner.length === 0 || pair.outer.length === 0,
    effort,
  });
  return found === "too many" ? undefined : found !== undefined;
}

interface Search {
  readonly isFound: (pair: Pair) => boolean;
  readonly isDead: (pair: Pair) => boolean;
  readonly effort: Effort;
}

function firstPair(a: Glob, b: Glob, search: Search): Pair | "too many" | undefined {
  const alphabet = charactersOf(a, b);
  const start: Pair = { inner: startOf(a), outer: startOf(b), text: "" };
  const seen = new Set([keyOf(start)]);
  let wave: readonly Pair[] = [start];
  while (wave.length > 0) {
    const found = wave.find(search.isFound);
    if (found) return found;
    const next: Pair[] = [];
    for (const { inner, outer, text } of wave) {
      for (const char of alphabet) {
        // A step takes as long as it has states to move.
        search.effort.left -= 1 + inner.length + outer.length;
        if (search.effort.left < 0) return "too many";
        const pair = {
          inner: step(a, inner, char),
          outer: step(b, outer, char),
          text: text + char,
        };
        const key = keyOf(pair);
        if (search.isDead(pair) || seen.has(key)) continue;
        seen.add(key);
        next.push(pair);
      }
    }
    wave = next;
  }
  return undefined;
}

function keyOf({ inner, outer }: Pair): string {
  return `${inner.join(",")}|${outer.join(",")}`;
}

/** The literal characters of both patterns, the slash, and one character of neither. */
function charactersOf(...globs: readonly Glob[]): readonly string[] {
  const spelled = new Set(["/"]);
  for (const { parts } of globs) {
    for (const part of parts) if (part.is === "char") spelled.add(part.char);
  }
  let other = "x".charCodeAt(0);
  while (spelled.has(String.fromCharCode(other))) other += 1;
  return [...spelled, String.fromCharCode(other)];
}
