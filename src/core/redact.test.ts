import { array, assert, constantFrom, property } from "fast-check";
import { expect, test } from "vitest";
import { redact } from "./redact.ts";

test.each([
  ["--my-token abc def", "--my-token *** def"],
  ["the api-token abc", "the api-token ***"],
  ["--token -x abc", "--token -x abc"],
  ["token = 'a b' c", "token = *** c"],
  ['{"x_secret_y" : "a b", "n": 1}', '{"x_secret_y" : ***, "n": 1}'],
  ["AUTH_TOKEN=a;PASSWORD=b&c", "AUTH_TOKEN=***;PASSWORD=***&c"],
  ["token=--secret abc", "token=*** ***"],
  ["say 'token' = 5", "say 'token' = ***"],
  ["postgres://me:hunter2@db/x", "postgres://***@db/x"],
])("%j becomes %j", (text, hidden) => {
  expect(redact(text)).toBe(hidden);
});

test("a quote that was cut off before its end hides all that follows", () => {
  expect(redact('password="correct horse')).toBe("password=***");
  expect(redact("--secret 'correct horse")).toBe("--secret ***");
});

test("a token of three parts is hidden in one, and so is a part of it", () => {
  const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc";
  expect(redact(`x-${token}, then`)).toBe("x-***, then");
  expect(redact(token.slice(0, 25))).toBe("***");
});

/** What the patterns look for, and what makes them look on. */
const PIECES = [
  ...Array.from("aA0_-.:/@=\"' \n&"),
  "token",
  "auth.",
  "api_key",
  "secret=",
  "password: ",
  "--",
  "Bearer ",
  "://",
  "http://",
  "sk-",
  "ghp_",
  "eyJ",
  "eyJabcdefgh.",
  "rollcall_",
  "-----BEGIN ",
  "PRIVATE KEY-----",
  "😀",
];

/**
 * At 25 MB a second; a pattern that looks back at each place takes a hundred times as long. Of a
 * worse one the long text would not be done today: it is seen by the short one.
 */
const LENGTHS = [1_000, 50_000];
const CPU_MS = 100;

function cpuMsOf(text: string): number {
  const before = process.cpuUsage();
  redact(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

test("whatever the text, it takes time in proportion to its length", () => {
  const piece = array(constantFrom(...PIECES), { minLength: 1, maxLength: 4 });
  assert(
    property(piece, piece, (pieces, ending) => {
      const unit = pieces.join("");
      for (const length of LENGTHS) {
        const text = unit.repeat(length / unit.length) + ending.join("");
        // The collector and the compiler may run in any one of them.
        const tries = [text, text, text].map((each) => () => cpuMsOf(each));
        expect(tries.some((measure) => measure() < CPU_MS)).toBe(true);
      }
    }),
    // A smaller text that takes too long is not looked for: that takes too long.
    { numRuns: 300, endOnFailure: true },
  );
});
