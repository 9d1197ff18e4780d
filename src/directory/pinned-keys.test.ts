import { exportJWK, generateKeyPair, type JWK } from "jose";
import { beforeAll, expect, test } from "vitest";
import { pinnedKeys } from "./pinned-keys.ts";
import { SIGNATURE } from "./signature-limits.ts";

let key: JWK;
let secret: JWK;

beforeAll(async () => {
  const pair = await generateKeyPair("ES256", { extractable: true });
  key = { ...(await exportJWK(pair.publicKey)), kid: "k1" };
  secret = { ...(await exportJWK(pair.privateKey)), kid: "k1" };
});

function read(...keys: readonly unknown[]) {
  return pinnedKeys(JSON.stringify({ keys }));
}

test("keys are pinned for all origins, or for those that they name", async () => {
  const origins = ["https://agent.example", "http://127.0.0.1:8080"];
  const other = { ...key, kid: "k2", origins };
  expect(await read(key, other)).toEqual([{ jwk: key }, { jwk: { ...key, kid: "k2" }, origins }]);
});

test.each(["EdDSA", "ES384", "ES512", "PS256"])("a key for %s is taken", async (alg) => {
  const { publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: alg };
  expect(await read(jwk)).toEqual([{ jwk }]);
  expect(await read({ ...jwk, alg })).toHaveLength(1);
});

test("what could go wrong later goes wrong at once, by the name of the key", async () => {
  const many = Array.from({ length: SIGNATURE.keysInSet + 1 }, (_, i) => ({ ...key, kid: `${i}` }));
  const bad: readonly (readonly [keys: readonly unknown[], why: string])[] = [
    [[], "the key set has no keys"],
    [many, "the key set has too many keys"],
    [[{ ...key, kid: undefined }], "key 1 of the set has no kid: signatures name their key by it"],
    [[secret], "key k1 is a secret one: only public keys belong into the set"],
    [[{ kty: "oct", k: "AA", kid: "k1" }], "key k1 is a secret one"],
    [[{ ...key, kty: "EC", crv: "P-257" }], "key k1: its type or curve is not supported"],
    [[{ ...key, use: "enc" }], "key k1: the key is not for signatures"],
    [[{ ...key, alg: "HS256" }], "key k1: the algorithm HS256 does not match the key type"],
    [[{ ...key, x: "AA" }], "key k1: it is not a valid key"],
    [[{ kty: "RSA", n: "AQAB", e: "AQAB", kid: "k1" }], "key k1: the key is too short"],
    [[key, key], "key k1 is there twice for all origins"],
    [[{ ...key, origins: [] }], "key k1: origins is not a list of 1 to 64"],
    [[{ ...key, origins: ["https://a.example/"] }], "is not written as https://HOST[:PORT]"],
  ];
  for (const [keys, why] of bad) {
    await expect(read(...keys)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining(why) as string,
    });
  }
});

test("what is no key set is told so", async () => {
  for (const [text, why] of [
    ["-----BEGIN PUBLIC KEY-----", "not JSON"],
    ["null", "no keys"],
    ['{"keys":{}}', "no keys"],
  ] as const) {
    await expect(pinnedKeys(text)).rejects.toThrow(why);
  }
});
