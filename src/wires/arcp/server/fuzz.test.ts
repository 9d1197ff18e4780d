import { expect, test } from "vitest";
import type { DecodeResult } from "../codec/envelope.ts";
import { decodeReply } from "../codec/reading.ts";
import { decodeRequest } from "../codec/requests.ts";
import { frame, REPLIES, REQUESTS } from "../../../../test/support/arcp/frames.ts";

const INPUTS = 1_000_000;
const SEEDS = [...REQUESTS, ...REPLIES];
const DECODERS: readonly ((text: string) => DecodeResult<unknown>)[] = [decodeRequest, decodeReply];

/** Chance that can be repeated: the seed is printed with what failed. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Chance = (below: number) => number;

function pick<Item>(items: readonly Item[], next: Chance): Item {
  const item = items[next(items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

const JUNK = [
  '"\\{}[]:,0-.eE \u0000\u001b\ud800é/*_'.split(""),
  ["null", "true", "1e999", "-0", "{}", "[]", '"__proto__":', '"__proto__":{"x":1},'],
  ['"\\u005f_proto__":1,', '"constructor":{"prototype":{"x":1}},', "[".repeat(70), '"x":'],
  ['"9007199254740993"', "9007199254740993", '"type":"job.submit",', '"payload":[],'],
].flat();

/** Values that a field may be given instead of its own, as JSON. */
const VALUES: readonly string[] = [
  ["null", "true", "false", "0", "-1", "0.5", "1e308", "9007199254740992", "[]", "{}", "[[]]"],
  ['""', '"x"', `"${"x".repeat(300)}"`, '"1.1"', '"session.hello"', '"job.cancel"', '"\ud800"'],
  ['{"a":{"b":1}}', '["a",1]', '"2026-01-01"', '{"__proto__":{"polluted":1}}'],
].flat();

/** One spoilt frame: characters changed, cut, put in, or a field given another value. */
function spoilt(next: Chance): string {
  const text = pick(SEEDS, next);
  const at = next(text.length);
  switch (next(6)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + text.slice(at + 1 + next(8));
    case 2:
      return text.slice(0, at) + pick(JUNK, next) + text.slice(at + next(2));
    case 3:
      return text.slice(0, at) + pick(SEEDS, next).slice(next(200));
    case 4:
      return Array.from({ length: next(40) }, () => pick(JUNK, next)).join("");
    default:
      return withOtherValue(text, next);
  }
}

function withOtherValue(text: string, next: Chance): string {
  const whole = JSON.parse(text) as Record<string, unknown>;
  let object = whole;
  for (;;) {
    const key = pick([...Object.keys(object), "extensions", "arcp"], next);
    const inner = object[key];
    const isObject = typeof inner === "object" && inner !== null && !Array.isArray(inner);
    if (!isObject || next(3) === 0 || Object.keys(inner).length === 0) {
      object[key] = JSON.parse(pick(VALUES, next));
      return JSON.stringify(whole);
    }
    object = inner as Record<string, unknown>;
  }
}

test("a million spoilt frames give messages or INVALID_REQUEST, and nothing else", () => {
  const seed = Number(process.env["FUZZ_SEED"] ?? Date.now() % 2 ** 31);
  const next = chance(seed);
  const counts = { decoded: 0, refused: 0 };
  let slowestMs = 0;
  for (let i = 0; i < INPUTS; i += 1) {
    const text = spoilt(next);
    const startedMs = performance.now();
    const problem = problemOf(pick(DECODERS, next), text, counts);
    if (problem !== undefined) throw new Error(`seed ${seed}, input ${i}: ${problem}: ${text}`);
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
  }
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  // Both ends of the decoder were reached, many times.
  expect(Math.min(counts.decoded, counts.refused)).toBeGreaterThan(INPUTS / 10);
  // A pause of the machine may fall into it; a decoder that runs away does not end in that.
  // Far more than any takes, also when other work has the core: what blows up takes minutes.
  expect(slowestMs).toBeLessThan(5_000);
}, 600_000);

/** The rule that a decoder broke. */
function problemOf(
  decode: (text: string) => DecodeResult<unknown>,
  text: string,
  counts: { decoded: number; refused: number },
): string | undefined {
  let decoded: DecodeResult<unknown>;
  try {
    decoded = decode(text);
  } catch (error) {
    return `threw ${String(error)}`;
  }
  if (decoded.ok) {
    counts.decoded += 1;
    return undefined;
  }
  counts.refused += 1;
  const code: string = decoded.code;
  if (code !== "INVALID_REQUEST") return `refused with ${code}`;
  if (decoded.message === "" || decoded.message.length > 300) return "a refusal that tells nothing";
  return undefined;
}

test("the largest and the deepest frames are refused in no time", () => {
  const startedMs = performance.now();
  const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  const inside = frame("job.submit", { agent: "echo", input: 0 }).replace("0}}", `${deep}}}`);
  expect(decodeRequest(inside)).toMatchObject({ message: "payload.input nests too deep" });
  expect(decodeRequest(deep)).toMatchObject({ message: "type is missing" });
  expect(decodeRequest(" ".repeat(5_000_000))).toMatchObject({ ok: false });
  expect(performance.now() - startedMs).toBeLessThan(5_000);
});
