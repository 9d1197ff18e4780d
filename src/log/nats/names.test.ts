import { expect, test } from "vitest";
import { codeOf } from "../../core/errors.ts";
import { namesOf, streamOf, subjectOf, subjectsOf } from "./names.ts";
import { parseNatsUrl } from "./url.ts";

const names = namesOf("fleet");

test("a stream has a subject that operators can read, and comes back from it", () => {
  expect(subjectOf(names, "job/7f3a-01")).toBe("rollcall.fleet.stream.job.7f3a-01");
  const awkward = ["a.b", "*", ">", "a//b", "/", "é 😀", "=7e", "a\u{10FFFF}", "x=", "A", " "];
  for (const stream of awkward) {
    const subject = subjectOf(names, stream);
    expect(subject).toMatch(/^[\w=-]+(?:\.[\w=-]+)+$/);
    expect(streamOf(names, subject)).toBe(stream);
  }
  expect(new Set(awkward.map((stream) => subjectOf(names, stream))).size).toBe(awkward.length);
});

test("a name that is longer than a line of NATS is refused", () => {
  expect(() => subjectOf(names, "é".repeat(200))).toThrow("too long for NATS");
});

test("streams of a prefix are asked for by the parts that are whole", () => {
  expect(subjectsOf(names, "job/")).toBe("rollcall.fleet.stream.job.>");
  expect(subjectsOf(names, "job/7f/x")).toBe("rollcall.fleet.stream.job.7f.>");
  expect(subjectsOf(names, "jo")).toBe("rollcall.fleet.stream.>");
  expect(subjectsOf(names, "")).toBe("rollcall.fleet.stream.>");
});

test("a URL names servers and a log", () => {
  expect(parseNatsUrl("nats://a,b:5222,[::1]/fleet")).toMatchObject({
    servers: ["a:4222", "b:5222", "[::1]:4222"],
    name: "fleet",
    user: undefined,
    isTls: true,
    description: "a:4222,b:5222,[::1]:4222/fleet",
  });
  expect(parseNatsUrl("nats://me@127.0.0.1/x")).toMatchObject({ user: "me", isTls: false });
  expect(parseNatsUrl("nats://127.0.0.1/x?tls=require&tlsca=/ca.pem")).toMatchObject({
    isTls: true,
    tlsCa: "/ca.pem",
  });
  expect(parseNatsUrl("nats://nats.local/x?tls=off").isTls).toBe(false);
});

test.each([
  ["nats://a", "expected nats://"],
  ["nats://a/", '"" is no name for a log'],
  ["nats://a/Fleet", "is no name for a log"],
  ["nats://a/x/y", "expected nats://"],
  ["nats://me:secret@a/x", "it has a password: take it out"],
  ["nats://a:0/x", "is no HOST[:PORT]"],
  ["nats://a,,b/x", "is no HOST[:PORT]"],
  ["nats://a/x?tls=maybe", "tls is maybe: expected one of off, require"],
  ["nats://a/x?sslmode=off", "it has no parameter sslmode"],
])("%s is refused, without being repeated", (url, problem) => {
  let error: unknown;
  try {
    parseNatsUrl(url);
  } catch (thrown) {
    error = thrown;
  }
  expect(codeOf(error)).toBe("INVALID_ARGUMENT");
  expect(String(error)).toContain(problem);
  expect(String(error)).not.toContain("secret");
});
