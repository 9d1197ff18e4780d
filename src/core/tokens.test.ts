import { describe, expect, test, vi } from "vitest";
import { DAY, SECOND, START_MS, World } from "../../test/support/core/fixture.ts";
import { hashOf, tokenCreate } from "../../test/support/core/tokens.ts";
import type * as Limits from "./limits.ts";
import { capture, fingerprint, restore } from "./snapshot.ts";
import { principalOf, statusOf, type Token } from "./tokens.ts";

vi.mock("./limits.ts", async (original) => {
  const { COUNT, ...others } = await original<typeof Limits>();
  return { ...others, COUNT: { ...COUNT, tokens: 2 } };
});

function tokenOf(world: World, name = "ci"): Token | undefined {
  return world.state.tokens.byName.get(name)?.token;
}

function status(world: World, name = "ci"): string | undefined {
  const token = tokenOf(world, name);
  return token && statusOf(token, world.nowMs);
}

describe("a token", () => {
  test("is live for its time, and known by the digest of its secret alone", () => {
    const world = new World();
    const token = world.run(tokenCreate({ ttlMs: 5 * SECOND }));
    expect(token).toEqual({
      name: "ci",
      role: "viewer",
      kind: "service",
      host: "",
      hash: hashOf(1),
      createdAtMs: START_MS,
      expiresAtMs: START_MS + 5 * SECOND,
      revokedAtMs: 0,
    });
    expect(world.state.tokens.byHash.get(hashOf(1))).toEqual(token);
    world.pass(5 * SECOND - 1);
    expect(status(world)).toBe("live");
    world.pass(1);
    expect(status(world)).toBe("expired");
  });

  test("lives 30 days where nothing is said", () => {
    const world = new World();
    world.run(tokenCreate({ ttlMs: 0 }));
    expect(tokenOf(world)?.expiresAtMs).toBe(START_MS + 30 * DAY);
  });

  test("that is revoked is over at once; to revoke it again is no news", () => {
    const world = new World();
    world.run(tokenCreate());
    const revoke = () => world.run({ type: "token.revoke", name: "ci" });
    expect(world.topicsOf(revoke)).toEqual(["token.revoked"]);
    expect(status(world)).toBe("revoked");
    expect(world.topicsOf(revoke)).toEqual([]);
  });

  test.each(["expired", "revoked"])("that is %s is forgotten 30 days later", (how) => {
    const world = new World();
    world.run(tokenCreate({ ttlMs: SECOND }));
    if (how === "revoked") world.run({ type: "token.revoke", name: "ci" });
    else world.pass(SECOND);
    expect(world.topicsOf(() => world.pass(30 * DAY - 1))).toEqual([]);
    expect(status(world)).toBe(how);
    expect(world.topicsOf(() => world.pass(1))).toEqual(["token.forgotten"]);
    expect(world.state.tokens.byHash.size).toBe(0);
  });

  test("that is over gives its name to another, and its secret opens nothing", () => {
    const world = new World();
    world.run(tokenCreate());
    world.run({ type: "token.revoke", name: "ci" });
    world.run(tokenCreate({ hash: hashOf(2) }));
    expect(status(world)).toBe("live");
    expect([...world.state.tokens.byHash.keys()]).toEqual([hashOf(2)]);
  });

  test("is the same after a restart", async () => {
    const world = new World();
    world.run(tokenCreate({ role: "outpost", host: "box" }));
    world.run(tokenCreate({ name: "other", hash: hashOf(2) }));
    world.run({ type: "token.revoke", name: "other" });
    const restored = await restore(capture(world.state));
    expect(fingerprint(restored)).toBe(fingerprint(world.state));
    expect(restored.tokens.byHash.get(hashOf(2))?.revokedAtMs).toBe(START_MS);
    expect(restored.tokens.endings.nextAt()).toBe(START_MS + 30 * DAY);
  });

  test("is a principal in its one role, an outpost on its one host", () => {
    const world = new World();
    expect(principalOf(world.run(tokenCreate()))).toEqual({
      name: "token:ci",
      kind: "service",
      namespace: "default",
      roles: ["viewer"],
    });
    const outpost = tokenCreate({ name: "box", role: "outpost", host: "box", hash: hashOf(2) });
    expect(principalOf(world.run(outpost)).host).toBe("box");
  });
});

describe("refused is", () => {
  test.each([
    [{ name: "" }, "name is empty"],
    [{ name: "x".repeat(129) }, "name has 129 characters, at most 128 are allowed"],
    [{ name: "a\nb" }, "name holds a control character"],
    [{ ttlMs: 999 }, "ttlMs is 0.999 s, allowed are 1 s to 366 days"],
    [{ ttlMs: 367 * DAY }, "ttlMs is 31708800 s, allowed are 1 s to 366 days"],
    [{ ttlMs: Number.NaN }, "ttlMs is NaN s, allowed are 1 s to 366 days"],
    [{ role: "outpost" }, "host is missing: the machine that the outpost is on"],
    [{ host: "box" }, "host is for the role outpost only, the role is viewer"],
    [{ hash: "rollcall_secret" }, "hash is not a SHA-256 in hex"],
  ] as const)("%j", (facts, reason) => {
    expect(new World().refusal(tokenCreate(facts))).toBe(`INVALID_ARGUMENT: ${reason}`);
  });

  test("a name or a secret that another one has", () => {
    const world = new World();
    world.run(tokenCreate());
    expect(world.refusal(tokenCreate({ hash: hashOf(2) }))).toContain(
      "ALREADY_EXISTS: there is a token ci already: revoke it first",
    );
    expect(world.refusal(tokenCreate({ name: "other" }))).toContain("hash is that of another");
    world.run({ type: "token.revoke", name: "ci" });
    expect(world.refusal(tokenCreate({ name: "other" }))).toContain("hash is that of another");
  });

  test("one more than there is room for", () => {
    const world = new World();
    for (const id of [1, 2]) world.run(tokenCreate({ name: `t${id}`, hash: hashOf(id) }));
    expect(world.refusal(tokenCreate({ hash: hashOf(3) }))).toBe(
      "LIMIT_EXCEEDED: local already has 2 tokens: that is the limit",
    );
    world.run({ type: "token.revoke", name: "t1" });
    world.run(tokenCreate({ name: "t1", hash: hashOf(3) }));
  });

  test("to revoke what is not there", () => {
    const revoke = { type: "token.revoke", name: "x" } as const;
    expect(new World().refusal(revoke)).toBe("NOT_FOUND: no token x");
  });
});
