import { AgentCard, generateAgentCardSignature } from "@a2a-js/sdk";
import { exportJWK, FlattenedSign, generateKeyPair, type CryptoKey, type JWK } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { canonical } from "./cards/canonical.ts";
import { readCard, type Card } from "./cards/card.ts";
import { readJson } from "../core/json.ts";
import { world } from "../../test/support/fetch/fixture.ts";
import { verifySignatures, type SignatureTrust, type TextFetcher } from "./signatures.ts";

const PLAIN = {
  name: "Signed",
  supportedInterfaces: [{ url: "https://agent.example/rpc", protocolBinding: "JSONRPC" }],
  version: "1.0.0",
  skills: [{ id: "s", name: "S", tags: ["t"], price: 1.5 }],
};
const JKU = "https://agent.example/keys.json";

interface Keys {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

async function keys(alg: string, kid: string): Promise<Keys> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid } };
}

let ours: Keys;
let theirs: Keys;

beforeAll(async () => {
  ours = await keys("ES256", "k1");
  theirs = await keys("ES256", "k1");
});

function cardFrom(value: unknown): Card {
  return cardOfText(JSON.stringify(value));
}

function cardOfText(text: string): Card {
  const read = readCard(text);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.card;
}

function canonicalText(value: unknown): string {
  const read = readJson(JSON.stringify(value));
  return read.ok ? canonical(read.value) : "";
}

async function signature(
  { privateKey }: Keys,
  header: Readonly<Record<string, unknown>> = {},
  signed: unknown = PLAIN,
): Promise<{ protected: string; signature: string }> {
  const payload = new TextEncoder().encode(canonicalText(signed));
  const protectedHeader = { alg: "ES256", kid: "k1", typ: "JOSE", ...header };
  const jws = await new FlattenedSign(payload).setProtectedHeader(protectedHeader).sign(privateKey);
  return { protected: jws.protected ?? "", signature: jws.signature };
}

/** A header of one's own, where the library would not write it. */
function forged(header: unknown): { protected: string; signature: string } {
  return { protected: Buffer.from(JSON.stringify(header)).toString("base64url"), signature: "AA" };
}

function pinned(...jwks: readonly JWK[]): SignatureTrust {
  return { pinned: jwks.map((jwk) => ({ jwk })) };
}

/** Serves one key set, and says what it was asked for. */
class KeyServer implements TextFetcher {
  readonly asked: string[] = [];
  readonly #text: string;

  constructor(...jwks: readonly JWK[]) {
    this.#text = JSON.stringify({ keys: jwks });
  }

  async text(url: string): Promise<string> {
    this.asked.push(url);
    return this.#text;
  }
}

describe("a right signature", () => {
  test.each(["ES256", "ES384", "ES512", "EdDSA", "PS256", "RS256"])(
    "by %s is valid",
    async (alg) => {
      const made = await keys(alg, "k1");
      const card = cardFrom({ ...PLAIN, signatures: [await signature(made, { alg })] });
      await expect(verifySignatures(card, pinned(made.jwk))).resolves.toMatchObject({
        kind: "valid",
        keyId: "k1",
        algorithm: alg,
        source: "pinned",
        thumbprint: expect.stringMatching(/^[\w-]{43}$/) as string,
      });
    },
  );

  test("of the A2A SDK is valid, although it publishes what it did not sign", async () => {
    const made = AgentCard.fromJSON({ ...PLAIN, skills: [], description: "An agent" });
    const header = { alg: "ES256", kid: "k1", typ: "JOSE" };
    const signed = await generateAgentCardSignature(ours.privateKey, header)(made);
    const published = AgentCard.toJSON(signed) as Record<string, unknown>;
    for (const empty of [{}, { documentationUrl: "", skills: [], provider: null }]) {
      const verdict = await verifySignatures(
        cardFrom({ ...empty, ...published }),
        pinned(ours.jwk),
      );
      expect(verdict).toMatchObject({ kind: "valid", keyId: "k1" });
    }
  });

  test("holds however the card is written", async () => {
    const signatures = [await signature(ours)];
    const { skills, ...rest } = PLAIN;
    const text = JSON.stringify({ signatures, skills, ...rest }, null, 3).replace("1.5", "15e-1");
    const verdict = await verifySignatures(cardOfText(text), pinned(ours.jwk));
    expect(verdict).toMatchObject({ kind: "valid" });
  });

  test("is enough, beside wrong ones", async () => {
    const wrong = await signature(theirs);
    const signatures = [wrong, forged({ alg: "none", kid: "k1" }), await signature(ours)];
    const verdict = await verifySignatures(cardFrom({ ...PLAIN, signatures }), pinned(ours.jwk));
    expect(verdict).toMatchObject({ kind: "valid" });
  });
});

test("a card without signatures is unsigned, which is not wrong", async () => {
  for (const none of [{}, { signatures: [] }, { signatures: null }]) {
    const verdict = await verifySignatures(cardFrom({ ...PLAIN, ...none }), pinned(ours.jwk));
    expect(verdict).toEqual({ kind: "unsigned" });
  }
});

describe("a card that was touched", () => {
  test.each([
    ["another name", { name: "Evil" }],
    ["another place", { supportedInterfaces: [{ url: "https://evil.example" }] }],
    ["one field more", { extension: true }],
    ["a number that differs", { skills: [{ ...PLAIN.skills[0], price: 15 }] }],
  ])("%s: the signature does not fit", async (_, change) => {
    const card = cardFrom({ ...PLAIN, ...change, signatures: [await signature(ours)] });
    await expect(verifySignatures(card, pinned(ours.jwk))).resolves.toEqual({
      kind: "invalid",
      reason: "the signature of key k1 does not match the card",
    });
  });

  test("a name that occurs twice lets two readers see two cards: refused", async () => {
    const good = JSON.stringify({ ...PLAIN, signatures: [await signature(ours)] });
    const text = good.replace('{"name":"Signed"', '{"name":"Evil","name":"Signed"');
    expect(await verifySignatures(cardOfText(good), pinned(ours.jwk))).toMatchObject({
      kind: "valid",
    });
    expect(await verifySignatures(cardOfText(text), pinned(ours.jwk))).toMatchObject({
      kind: "invalid",
    });
  });
});

describe("a header that would have us believe it", () => {
  test.each(["none", "HS256", "HS512", "", "es256", "__proto__", 5, undefined])(
    "the algorithm %s is not allowed",
    async (alg) => {
      const card = cardFrom({ ...PLAIN, signatures: [forged({ alg, kid: "k1" })] });
      await expect(verifySignatures(card, pinned(ours.jwk))).resolves.toMatchObject({
        kind: "invalid",
        reason: expect.stringMatching(/^the algorithm .* is not allowed$/) as string,
      });
    },
  );

  test("a public key used as a secret: the key is for something else", async () => {
    const rsa = await keys("RS256", "k1");
    const secret: JWK = { kty: "oct", k: rsa.jwk.n ?? "", kid: "k1" };
    const card = cardFrom({ ...PLAIN, signatures: [await signature(rsa, { alg: "RS256" })] });
    await expect(verifySignatures(card, pinned(secret))).resolves.toEqual({
      kind: "invalid",
      reason: "the algorithm RS256 does not match the key type",
    });
  });

  test("a key for one algorithm is not used for another", async () => {
    const rsa = await keys("PS256", "k1");
    const card = cardFrom({ ...PLAIN, signatures: [await signature(rsa, { alg: "PS256" })] });
    const reasons: unknown[] = [];
    for (const change of [{ alg: "RS256" }, { use: "enc" }, { key_ops: ["encrypt"] }, { d: "x" }]) {
      reasons.push(await verifySignatures(card, pinned({ ...rsa.jwk, ...change })));
    }
    expect(reasons.map((verdict) => (verdict as { kind: string }).kind)).toEqual(
      Array.from({ length: 4 }, () => "invalid"),
    );
  });

  test("somebody else's key of the same name does not count", async () => {
    const card = cardFrom({ ...PLAIN, signatures: [await signature(theirs)] });
    await expect(verifySignatures(card, pinned(ours.jwk))).resolves.toMatchObject({
      kind: "invalid",
    });
  });

  test.each([
    ["an extension", { crit: ["exp"], exp: 1 }],
    ["no key", { kid: undefined }],
  ])("%s: refused", async (_, change) => {
    const header = { alg: "ES256", kid: "k1", ...change };
    const card = cardFrom({ ...PLAIN, signatures: [forged(header)] });
    const verdict = await verifySignatures(card, pinned(ours.jwk));
    expect(verdict).toMatchObject({ kind: "invalid" });
  });

  test("what is no header, no list, or too many is refused without a crash", async () => {
    const many = Array.from({ length: 5 }, () => forged({ alg: "ES256", kid: "k1" }));
    const long = { ...forged({}), protected: "x".repeat(10_000) };
    for (const signatures of ["x", [1], [{}], [{ protected: "%%%" }], [long], many]) {
      const verdict = await verifySignatures(cardFrom({ ...PLAIN, signatures }), pinned(ours.jwk));
      expect(verdict).toMatchObject({ kind: "invalid" });
    }
  });
});

describe("where keys come from", () => {
  test("from the card's own origin", async () => {
    const fetcher = new KeyServer(ours.jwk);
    const card = cardFrom({ ...PLAIN, signatures: [await signature(ours, { jku: JKU })] });
    await expect(verifySignatures(card, { fetcher })).resolves.toMatchObject({
      kind: "valid",
      source: "fetched",
    });
    expect(fetcher.asked).toEqual([JKU]);
  });

  test("from another only where the operator has named it", async () => {
    const fetcher = new KeyServer(theirs.jwk);
    const jku = "https://keys.example/set";
    const card = cardFrom({ ...PLAIN, signatures: [await signature(theirs, { jku })] });
    await expect(verifySignatures(card, { fetcher })).resolves.toEqual({
      kind: "invalid",
      reason: "keys are not fetched from https://keys.example",
    });
    expect(fetcher.asked).toEqual([]);
    const keyOrigins = ["https://keys.example"];
    await expect(verifySignatures(card, { fetcher, keyOrigins })).resolves.toMatchObject({
      kind: "valid",
    });
  });

  test.each([
    "http://agent.example/keys.json",
    "https://agent.example:8443/keys.json",
    "https://agent.example.evil.example/",
    "https://user:secret@agent.example/",
    "https://169.254.169.254/",
    "file:///etc/keys",
  ])("never from %s", async (jku) => {
    const fetcher = new KeyServer(theirs.jwk);
    const card = cardFrom({ ...PLAIN, signatures: [await signature(theirs, { jku })] });
    const verdict = await verifySignatures(card, { fetcher });
    expect(verdict).toMatchObject({ kind: "invalid" });
    expect(fetcher.asked).toEqual([]);
  });

  test("a key that is pinned is not looked up elsewhere", async () => {
    const fetcher = new KeyServer(theirs.jwk);
    const card = cardFrom({ ...PLAIN, signatures: [await signature(theirs, { jku: JKU })] });
    const verdict = await verifySignatures(card, { ...pinned(ours.jwk), fetcher });
    expect(verdict).toMatchObject({ kind: "invalid" });
    expect(fetcher.asked).toEqual([]);
  });

  test("a key pinned for one origin does not speak for another", async () => {
    const card = cardFrom({ ...PLAIN, signatures: [await signature(ours)] });
    const trust = (origin: string): SignatureTrust => ({
      pinned: [{ jwk: ours.jwk, origins: [origin] }],
    });
    expect(await verifySignatures(card, trust("https://agent.example"))).toMatchObject({
      kind: "valid",
    });
    expect(await verifySignatures(card, trust("https://other.example"))).toEqual({
      kind: "invalid",
      reason: "key k1 is pinned for other origins",
    });
  });

  test("a set with two keys of one name, or none, or no set at all decides nothing", async () => {
    const card = cardFrom({ ...PLAIN, signatures: [await signature(ours, { jku: JKU })] });
    const sets = [[ours.jwk, theirs.jwk], [], [{ ...ours.jwk, kid: "k2" }]];
    for (const set of sets) {
      const verdict = await verifySignatures(card, { fetcher: new KeyServer(...set) });
      expect(verdict).toMatchObject({ kind: "invalid" });
    }
    for (const text of ["null", "{", '{"keys":{}}', '{"keys":[null]}']) {
      const fetcher: TextFetcher = { text: async () => text };
      expect(await verifySignatures(card, { fetcher })).toMatchObject({ kind: "invalid" });
    }
  });

  test("through the safe fetcher, which does not follow a key set into the network", async () => {
    const url = "http://agent.example/rpc";
    const jku = "http://agent.example/keys";
    const value = { ...PLAIN, supportedInterfaces: [{ url }] };
    const signatures = [await signature(ours, { jku }, value)];
    await using here = await world((_, response) => {
      response.writeHead(302, { location: "http://169.254.169.254/keys" }).end();
    });
    const card = cardFrom({ ...value, signatures });
    const verdict = await verifySignatures(card, { fetcher: here.fetcher });
    expect(verdict).toEqual({ kind: "invalid", reason: "the key set could not be fetched" });
    expect(here.asked).toEqual(["agent.example"]);
    expect(here.dialled).toHaveLength(1);
  });
});
