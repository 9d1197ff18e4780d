import { afterEach, beforeEach, expect, test } from "vitest";
import { openApi, type Api } from "../../test/support/daemon/api.ts";
import { secretHash } from "../machine/secrets.ts";

const DAY_MS = 24 * 3_600_000;

let api: Api;

beforeEach(async () => {
  api = await openApi();
});

afterEach(async () => {
  await api.close();
});

test("a token's secret is told once; the list has the rest, and says which are over", async () => {
  const { status, body } = await api.post("/v1/tokens/create", { name: "ci", role: "viewer" });
  expect(status).toBe(200);
  const secret = String(body["secret"]);
  expect(secret).toMatch(/^rollcall_[\w-]{43}$/);
  const { nowMs } = api.engine;
  const token = {
    name: "ci",
    role: "viewer",
    kind: "service",
    status: "live",
    createdAtMs: nowMs,
    expiresAtMs: nowMs + 30 * DAY_MS,
  };
  expect(body["token"]).toEqual(token);
  const kept = api.engine.peek(({ tokens }) => tokens.byName.get("ci")?.token);
  expect(kept?.hash).toBe(secretHash(secret));
  await api.post("/v1/tokens/create", { name: "box", role: "outpost", host: "b", ttlMs: 1000 });
  await api.post("/v1/tokens/create", { name: "worker", role: "agent" });
  expect(await api.post("/v1/tokens/revoke", { name: "ci" })).toEqual({ status: 200, body: {} });
  await api.clock.advance(1000);
  const { body: listed } = await api.get("/v1/tokens");
  expect(listed["tokens"]).toMatchObject([
    { name: "box", status: "expired", host: "b", kind: "service" },
    { name: "ci", status: "revoked", revokedAtMs: nowMs },
    { name: "worker", status: "live", kind: "agent" },
  ]);
  expect(JSON.stringify(listed)).not.toContain(kept?.hash);
});

test.each([
  [400, "role is not set", { name: "x" }],
  [400, 'role is "root"', { name: "x", role: "root" }],
  [400, "host is missing", { name: "x", role: "outpost" }],
  [400, "ttlMs is 0.001 s, allowed are 1 s to 366 days", { name: "x", role: "agent", ttlMs: 1 }],
  [400, "hash", { name: "x", role: "agent", hash: "0".repeat(64) }],
  [409, "there is a token ci already", { name: "ci", role: "admin" }],
])("a wrong token is refused with %i: %s", async (status, reason, fields) => {
  await api.post("/v1/tokens/create", { name: "ci", role: "viewer" });
  const refused = await api.post("/v1/tokens/create", fields);
  expect(refused.status).toBe(status);
  expect(JSON.stringify(refused.body)).toContain(JSON.stringify(reason).slice(1, -1));
});

test("a token that is not there cannot be revoked", async () => {
  expect((await api.post("/v1/tokens/revoke", { name: "x" })).status).toBe(404);
});
