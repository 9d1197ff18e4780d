/**
 * The keys that an operator believes: a JWK set, where each key may also say for which origins
 * (`"origins": ["https://agent.example"]`). Cards are checked with them for as long as the daemon
 * runs, so whatever could go wrong with a key goes wrong here, at the start, and by its name.
 */
import { importJWK, type JWK } from "jose";
import { httpUrl } from "../net/http/url.ts";
import { invalidArgument } from "../core/errors.ts";
import { SIGNATURE } from "./signature-limits.ts";
import { keyProblem, keysIn, shown, type PinnedKey } from "./signatures.ts";

export async function pinnedKeys(text: string): Promise<readonly PinnedKey[]> {
  const keys = keysIn(text);
  if (keys.length === 0) throw invalidArgument("the key set has no keys");
  const pinned = await Promise.all(keys.map(pin));
  const taken = new Set<string>();
  for (const { jwk, origins } of pinned) {
    for (const place of origins ?? ["all origins"]) {
      const claim = `${jwk.kid ?? ""} ${place}`;
      if (taken.has(claim))
        throw invalidArgument(`key ${shown(jwk.kid)} is there twice for ${place}`);
      taken.add(claim);
    }
  }
  return pinned;
}

async function pin(key: JWK, index: number): Promise<PinnedKey> {
  const { origins, ...jwk } = key as JWK & { readonly origins?: unknown };
  if (typeof jwk.kid !== "string" || jwk.kid === "") {
    throw invalidArgument(
      `key ${index + 1} of the set has no kid: signatures name their key by it`,
    );
  }
  const name = `key ${shown(jwk.kid)}`;
  if (jwk.d !== undefined || jwk.k !== undefined) {
    throw invalidArgument(`${name} is a secret one: only public keys belong into the set`);
  }
  const alg = jwk.alg ?? usualAlgorithm(jwk);
  const problem = alg === undefined ? "its type or curve is not supported" : keyProblem(jwk, alg);
  if (problem !== undefined) throw invalidArgument(`${name}: ${problem}`);
  await importJWK(jwk, alg).catch((cause: unknown) => {
    throw invalidArgument(`${name}: it is not a valid key`, cause);
  });
  if (origins === undefined) return { jwk };
  return { jwk, origins: originsOf(origins, name) };
}

const CURVES: Readonly<Record<string, string>> = {
  "P-256": "ES256",
  "P-384": "ES384",
  "P-521": "ES512",
  Ed25519: "Ed25519",
};

/** To read a key one must say what it is for; this does not bind those who use it. */
function usualAlgorithm({ kty, crv = "" }: JWK): string | undefined {
  if (kty === "RSA") return "RS256";
  return Object.hasOwn(CURVES, crv) ? CURVES[crv] : undefined;
}

function originsOf(origins: unknown, name: string): readonly string[] {
  const isList = Array.isArray(origins) && origins.length > 0;
  if (!isList || origins.length > SIGNATURE.originsOfKey) {
    throw invalidArgument(`${name}: origins is not a list of 1 to ${SIGNATURE.originsOfKey}`);
  }
  return origins.map((each: unknown) => {
    if (typeof each === "string" && httpUrl(each)?.origin === each) return each;
    throw invalidArgument(`${name}: origin ${shown(each)} is not written as https://HOST[:PORT]`);
  });
}
