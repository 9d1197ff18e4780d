/** §4.1, §2.1, §2.2, §6: opening a session, and what is refused before there is one. */
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { FEATURES } from "../codec/messages.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";
import { jwtTokens } from "./verifiers.ts";

test('"send the intersection": the welcome names the features both sides have', async () => {
  const { open } = await play();
  const peer = await open({ features: ["subscribe", "teleport", "heartbeat", "model.use"] });
  const { payload, session_id } = peer.last("session.welcome");
  expect(payload["capabilities"].features).toEqual(["subscribe", "heartbeat"]);
  expect(payload).toMatchObject({
    session_id,
    runtime: { name: "test-runtime", version: "1.0.0" },
    resume_window_sec: 600,
    heartbeat_interval_sec: 30,
  });
  expect(payload["accepted_at"]).toMatch(/Z$/);
});

test('"send only if heartbeat negotiated"; "≥256 random bits" in the resume token', async () => {
  const { open } = await play();
  const [one, two] = [await open({ features: [] }), await open({ features: [] })];
  expect(one.last("session.welcome").payload).not.toHaveProperty("heartbeat_interval_sec");
  expect(one.token).toMatch(/^rt_[0-9a-f]{64}$/);
  expect(one.token).not.toBe(two.token);
  expect(one.sessionId).not.toBe(two.sessionId);
});

test('"rich form if agent_versions negotiated, else flat names"', async () => {
  const { open } = await play({
    agents: (runtime) => {
      runtime.registerAgent("indexer", () => 1, { version: "1.0.0", isDefault: true });
      runtime.registerAgent("indexer", () => 2, { version: "1.1.0" });
      runtime.registerAgent("echo", () => 3);
    },
  });
  const agentsOf = async (features: readonly string[]) =>
    (await open({ features })).last("session.welcome").payload["capabilities"].agents;
  expect(await agentsOf(["agent_versions"])).toEqual([
    { name: "echo", versions: [] },
    { name: "indexer", versions: ["1.0.0", "1.1.0"], default: "1.0.0" },
  ]);
  expect(await agentsOf([])).toEqual(["echo", "indexer"]);
});

test("model.use and provisioned_credentials are offered only with a provisioner", async () => {
  const provisioner = { issue: async () => [], revoke: async () => undefined };
  const { open } = await play({ provisioner });
  const peer = await open({ features: FEATURES });
  expect(peer.last("session.welcome").payload["capabilities"].features).toEqual(FEATURES);
});

test('"UNAUTHENTICATED: session.error + close", with a session_id and no null', async () => {
  const { connect } = await play();
  const peer = connect();
  const answer = await peer.hello({ token: "wrong" });
  expect(answer).toMatchObject({
    type: "session.error",
    payload: { code: "UNAUTHENTICATED", retryable: false },
  });
  expect(answer.session_id).toMatch(/^sess_/);
  expect(JSON.stringify(answer)).not.toContain("null");
  expect(JSON.stringify(answer)).not.toContain("wrong");
  expect(peer.wire.ending?.code).toBe(1000);
});

test.each([
  ["not json", "a frame is one JSON object"],
  ["[]", "a frame is one JSON object"],
  ['{"arcp":"1.1","id":"x","type":"job.submit","payload":{"agent":"a"}}', "not a session.hello"],
  ['{"arcp":"2","id":"x","type":"session.hello","payload":{}}', 'arcp is not "1.1"'],
])("a first frame %s is refused by name and the connection ends", async (text, message) => {
  const { connect } = await play();
  const peer = connect();
  peer.sendText(text);
  await quiet();
  expect(peer.frames).toMatchObject([{ type: "session.error" }]);
  expect(peer.last("session.error").payload).toMatchObject({ code: "INVALID_REQUEST" });
  expect(peer.last("session.error").payload["message"]).toContain(message);
  expect(peer.wire.ending?.code).toBe(1000);
});

test('"Neither has a hello deadline": ours closes one that says nothing for 10 s', async () => {
  const { connect, clock } = await play();
  const peer = connect();
  await clock.advance(9_999);
  expect(peer.wire.ending).toBeUndefined();
  await clock.advance(1);
  expect(peer.wire.ending?.code).toBe(1008);
  const welcomed = connect();
  await welcomed.hello({ features: [] });
  await clock.advance(60_000);
  expect(welcomed.wire.ending).toBeUndefined();
});

test('"Nothing may precede the welcome": what comes before it waits', async () => {
  let answer: (principal: string) => void = () => undefined;
  const { connect } = await play({
    bearer: () => new Promise<string>((resolve) => (answer = resolve)),
  });
  const peer = connect();
  const hello = peer.hello().catch(() => undefined);
  peer.send("session.ping", { nonce: "early", sent_at: "now" });
  await quiet();
  expect(peer.frames).toEqual([]);
  answer("alice");
  await quiet();
  await hello;
  expect(peer.frames.map(({ type }) => type)).toEqual(["session.welcome", "session.pong"]);
});

test("too much before the welcome ends the connection", async () => {
  const { connect } = await play({ bearer: () => new Promise<string>(() => undefined) });
  const peer = connect();
  void peer.hello().catch(() => undefined);
  for (let i = 0; i < 300; i += 1) peer.send("session.ping", { nonce: "p", sent_at: "now" });
  expect(peer.wire.ending?.code).toBe(1008);
});

test("a verifier that fails is our trouble: retryable, told without its text", async () => {
  const { connect, troubles } = await play({
    bearer: () => {
      throw new Error("secret host unreachable");
    },
  });
  const peer = connect();
  const { payload } = await peer.hello();
  expect(payload).toMatchObject({ code: "INTERNAL_ERROR", retryable: true });
  expect(JSON.stringify(payload)).not.toContain("secret");
  expect(troubles).toHaveLength(1);
});

test("a signed token is its subject; an expired one, or one for others, is nobody", async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const key = { ...(await exportJWK(publicKey)), kid: "k", alg: "ES256" };
  const bearer = jwtTokens({ jwks: { keys: [key] }, issuer: "us", audience: "arcp" });
  const { connect } = await play({ bearer });
  const tokenOf = (audience: string, ttl: string) =>
    new SignJWT({})
      .setProtectedHeader({ alg: "ES256", kid: "k" })
      .setIssuer("us")
      .setSubject("carol")
      .setAudience(audience)
      .setExpirationTime(ttl)
      .sign(privateKey);
  const answerTo = async (token: string) => {
    const peer = connect();
    void peer.hello({ token }).catch(() => undefined);
    await expect.poll(() => peer.frames.length).toBe(1);
    return peer.frames[0]?.payload["code"] ?? peer.frames[0]?.type;
  };
  expect(await answerTo(await tokenOf("arcp", "1h"))).toBe("session.welcome");
  expect(await answerTo(await tokenOf("arcp", "-1h"))).toBe("UNAUTHENTICATED");
  expect(await answerTo(await tokenOf("others", "1h"))).toBe("UNAUTHENTICATED");
  expect(await answerTo("no.token.atall")).toBe("UNAUTHENTICATED");
});

test("a principal opens so many sessions and no more; those of others do not count", async () => {
  const { open, connect } = await play({ sessions: { perPrincipal: 2 } });
  await open();
  await open();
  const third = connect();
  expect((await third.hello()).payload).toMatchObject({ code: "INTERNAL_ERROR" });
  expect(third.wire.ending?.code).toBe(1000);
  await open({ token: "bob-token" });
});
