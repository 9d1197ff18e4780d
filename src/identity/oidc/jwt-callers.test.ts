import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { TestClock } from "../../../test/support/engine/fixture.ts";
import { TestIssuer, type JwtOptions } from "../../../test/support/identity/issuer.ts";
import { MINUTE, SECOND } from "../../core/units.ts";
import { Fetcher } from "../../net/fetch/fetcher.ts";
import { JwtCallers, looksLikeJwt, type OidcConfig } from "./jwt-callers.ts";
import { OIDC } from "./limits.ts";

const ROLES: OidcConfig["roles"] = [
  { claim: "groups", value: "staff", role: "viewer" },
  { claim: "realm_access.roles", value: "boss", role: "admin" },
  { claim: "email", value: "bob@example.com", role: "operator" },
];

/** A budget that an issuer that hangs uses up at once. */
const HASTE = { requestMs: 300, budgetMs: 600 } as const;

async function ground(config: Partial<OidcConfig> = {}, limits: Partial<typeof HASTE> = {}) {
  const issuer = await TestIssuer.start();
  const clock = new TestClock();
  // Loopback is where the test's issuer is.
  const fetcher = new Fetcher({ reach: { allowsLoopback: true }, limits });
  const callers = new JwtCallers({
    config: { issuer: issuer.url, audience: "rollcall", claim: "sub", roles: ROLES, ...config },
    fetcher,
    clock,
  });
  onTestFinished(async () => {
    callers.close();
    await issuer.close().catch(() => undefined);
  });
  const jwt = (options?: JwtOptions) => issuer.jwt(clock.wallMs(), options);
  const admit = async (given: string) => callers.admit(given, {});
  return { issuer, clock, callers, jwt, admit };
}

const UNAUTHENTICATED = "UNAUTHENTICATED";

describe("a JWT of the issuer", () => {
  test("is the principal that its claims say, with the roles of every rule that fits", async () => {
    const { jwt, admit } = await ground();
    const claims = { realm_access: { roles: ["x", "boss"] } };
    expect(await admit(await jwt({ claims }))).toEqual({
      name: "oidc:ann",
      kind: "person",
      namespace: "default",
      roles: ["viewer", "admin"],
    });
  });

  test("without a role is refused, and says so", async () => {
    const { jwt, admit } = await ground();
    await expect(admit(await jwt({ claims: { groups: ["guests"] } }))).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      message: "oidc:ann has no role here: no entry of oidc_roles fits its JWT",
    });
  });

  test("may be named by another claim, but not by an email that nobody verified", async () => {
    const { jwt, admit } = await ground({ claim: "email" });
    const email = "bob@example.com";
    const verified = await jwt({ claims: { email, email_verified: true } });
    expect(await admit(verified)).toMatchObject({ name: `oidc:${email}` });
    const unverified = await jwt({ claims: { email, email_verified: false } });
    await expect(admit(unverified)).rejects.toThrow("the issuer has not verified its email");
    await expect(admit(await jwt())).rejects.toThrow("the JWT is not usable: has no email");
    const inWords = await jwt({ claims: { email, email_verified: "false" } });
    await expect(admit(inWords)).rejects.toThrow("the issuer has not verified its email");
    const strange = await jwt({ claims: { email: "a\nb", email_verified: true } });
    await expect(admit(strange)).rejects.toMatchObject({ code: UNAUTHENTICATED });
  });

  test.each([
    [true, ["viewer", "operator"]],
    ["true", ["viewer", "operator"]],
    [undefined, ["viewer", "operator"]],
    [false, ["viewer"]],
    ["false", ["viewer"]],
  ])("has a role by its email, unless that is not verified: %j", async (verified, roles) => {
    const { jwt, admit } = await ground();
    const groups = ["staff"];
    const claims = { groups, email: "bob@example.com", email_verified: verified };
    expect(await admit(await jwt({ claims }))).toMatchObject({ name: "oidc:ann", roles });
  });

  test.each<[string, JwtOptions]>([
    ["for another audience", { audience: "payroll" }],
    ["of another issuer", { issuer: "https://evil.example" }],
    ["not usable: its claim exp is missing or wrong", { expiresAtMs: false }],
  ])("that is %s is refused", async (reason, options) => {
    const { jwt, admit } = await ground();
    await expect(admit(await jwt(options))).rejects.toMatchObject({
      code: UNAUTHENTICATED,
      message: `the JWT is ${reason}`,
    });
  });

  test("is good up to its end and the skew of clocks, and not before its beginning", async () => {
    const { clock, jwt, admit } = await ground();
    const nowMs = clock.wallMs();
    expect(await admit(await jwt({ expiresAtMs: nowMs - 59 * SECOND }))).toMatchObject({});
    const expired = await jwt({ expiresAtMs: nowMs - 61 * SECOND });
    await expect(admit(expired)).rejects.toThrow("the JWT is expired");
    expect(await admit(await jwt({ notBeforeMs: nowMs + 59 * SECOND }))).toMatchObject({});
    const early = await jwt({ notBeforeMs: nowMs + 62 * SECOND });
    await expect(admit(early)).rejects.toThrow("the JWT is not good yet");
  });

  test("that was let in is refused once its time is over", async () => {
    const { clock, jwt, admit } = await ground();
    const short = await jwt({ expiresAtMs: clock.wallMs() + MINUTE });
    await admit(short);
    await clock.advance(2 * MINUTE + SECOND);
    await expect(admit(short)).rejects.toThrow("the JWT is expired");
  });

  test("takes its connections with it when its time is over", async () => {
    const { clock, callers, jwt } = await ground();
    const socket = Object.assign(new EventEmitter(), {
      destroyed: false,
      destroy() {
        socket.destroyed = true;
        socket.emit("close");
      },
    });
    const short = await jwt({ expiresAtMs: clock.wallMs() + MINUTE });
    await callers.admit(short, { socket: socket as unknown as Socket });
    await clock.advance(MINUTE + OIDC.skewMs - SECOND);
    expect(socket.destroyed).toBe(false);
    await clock.advance(2 * SECOND);
    expect(socket.destroyed).toBe(true);
  });

  test("that was changed, or signed by a secret or by nobody, is refused", async () => {
    const { issuer, clock, jwt, admit } = await ground();
    const [head = "", body = "", signature = ""] = (await jwt()).split(".");
    const other = Buffer.from(JSON.stringify({ sub: "boss", iss: issuer.url })).toString(
      "base64url",
    );
    await expect(admit([head, other, signature].join("."))).rejects.toThrow(
      "the JWT is not signed by its issuer",
    );
    const symmetric = await issuer.symmetricJwt(clock.wallMs());
    await expect(admit(symmetric)).rejects.toThrow("signed with an algorithm that is not allowed");
    const none = Buffer.from('{"alg":"none"}').toString("base64url");
    await expect(admit(`${none}.${body}.`)).rejects.toThrow(
      "signed with an algorithm that is not allowed",
    );
    await expect(admit("eyJ4.eyJ4.x")).rejects.toThrow("the JWT is not well-formed");
  });

  test("is checked once while it is remembered, not for every call", async () => {
    const { issuer, callers, jwt, admit } = await ground();
    const given = await jwt();
    const principal = await admit(given);
    expect(callers.admit(given, {})).toBe(principal);
    expect(issuer.asked).toBe(1);
  });
});

describe("the keys of the issuer", () => {
  test("are fetched anew for a key that is new, and no old key opens anything then", async () => {
    const { issuer, clock, jwt, admit } = await ground();
    const old = await jwt();
    const older = await jwt({ claims: { jti: "2" } });
    await admit(old);
    await issuer.rotate("RS256");
    await clock.advance(OIDC.fetchPauseMs);
    expect(await admit(await jwt())).toMatchObject({ name: "oidc:ann" });
    await expect(admit(older)).rejects.toThrow("a key that its issuer does not have");
  });

  test("are asked for every 30 s at most, however many JWTs name others", async () => {
    const { issuer, clock, jwt, admit } = await ground();
    await admit(await jwt());
    await using stranger = await TestIssuer.start();
    await stranger.rotate();
    const forged = await stranger.jwt(clock.wallMs(), { issuer: issuer.url });
    for (let i = 0; i < 20; i += 1) {
      await expect(admit(forged)).rejects.toThrow("a key that its issuer does not have");
    }
    expect(issuer.asked).toBe(1);
    await clock.advance(OIDC.fetchPauseMs);
    await Promise.all(Array.from({ length: 20 }, () => admit(forged).catch(() => undefined)));
    expect(issuer.asked).toBe(2);
  });

  test("serve for an hour while the issuer is away, and then nobody is let in", async () => {
    const { issuer, clock, jwt, admit } = await ground();
    await admit(await jwt());
    issuer.answer = (response) => response.writeHead(500).end();
    await clock.advance(OIDC.keysMaxMs - SECOND);
    expect(await admit(await jwt())).toMatchObject({ name: "oidc:ann" });
    await clock.advance(MINUTE);
    await expect(admit(await jwt())).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("/keys: HTTP status 500, not 200") as string,
    });
    issuer.answer = undefined;
    await clock.advance(OIDC.fetchPauseMs);
    expect(await admit(await jwt())).toMatchObject({ name: "oidc:ann" });
  });

  test.each<[string, TestIssuer["answer"]]>([
    ["hangs", () => undefined],
    ["is huge", (response) => void json(response).end(`{"keys":["${"x".repeat(300_000)}"]}`)],
    ["is no key set", (response) => void json(response).end('{"keys":7}')],
    ["is no JSON", (response) => void json(response).end("<html>")],
  ])("are not there where the answer %s: refused, with the reason", async (_, answer) => {
    const { issuer, jwt, admit } = await ground({}, HASTE);
    issuer.answer = answer;
    await expect(admit(await jwt())).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(/^the keys of the issuer http:\S+ cannot be .+\)$/) as string,
    });
  });

  test("are not there where nobody answers", async () => {
    const { issuer, jwt, admit } = await ground();
    const given = await jwt();
    await issuer.close();
    await expect(admit(given)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});

function json(response: Parameters<NonNullable<TestIssuer["answer"]>>[0]) {
  return response.setHeader("content-type", "application/json");
}

test.each([
  ["eyJhbGciOiJub25lIn0.eyJ4IjoxfQ.", true],
  ["eyJh.b.c", true],
  ["rollcall_kX2v", false],
  ["a.b.c", false],
  ["eyJh.b", false],
  [`eyJh.${"b".repeat(9_000)}.c`, false],
])("%s is a JWT by its form: %s", (secret, isOne) => {
  expect(looksLikeJwt(secret)).toBe(isOne);
});
