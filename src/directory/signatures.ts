/**
 * Whether a card is signed by a key we have reason to believe (A2A v1.0, `signatures`): a JWS with
 * its payload left out, made over the canonical JSON of the card without its signatures.
 *
 *   protected header ─▶ alg on our list? ─▶ key by `kid`: pinned, ─▶ signature right? ─▶ valid
 *                                           else from `jku`
 *
 * Everything in the card may come from an attacker, the header that says how to check
 * it included. So the algorithm comes from our list and fits the kind of the key (no `none`, no
 * shared secrets); a pinned key counts only for the origins it was pinned for; and keys are fetched
 * only from the card's own origin or one that the operator has named, by the safe fetcher. A kid
 * that is pinned is never looked up elsewhere.
 *
 * The SDKs leave empty fields out of what they sign but may publish them: both forms count. That
 * lets others add emptiness to a card, and nothing else.
 */
import {
  base64url,
  calculateJwkThumbprint,
  decodeProtectedHeader,
  flattenedVerify,
  importJWK,
  type JWK,
} from "jose";
import { canonicalMembers } from "./cards/canonical.ts";
import { httpUrl } from "../net/http/url.ts";
import { objectsIn, textIn, type Card } from "./cards/card.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { cleanProse } from "./cards/prose.ts";
import { invalidArgument, RollcallError } from "../core/errors.ts";
import { SIGNATURE } from "./signature-limits.ts";

/** For each algorithm, the kind of key it takes. */
const ALGORITHMS: Readonly<Record<string, string>> = {
  ES256: "EC",
  ES384: "EC",
  ES512: "EC",
  EdDSA: "OKP",
  Ed25519: "OKP",
  PS256: "RSA",
  PS384: "RSA",
  PS512: "RSA",
  RS256: "RSA",
  RS384: "RSA",
  RS512: "RSA",
};

export interface SignatureTrust {
  readonly pinned?: readonly PinnedKey[];
  /** Beside the card's own: such as `https://keys.example`. */
  readonly keyOrigins?: readonly string[];
  /** How key sets are fetched; without it none are. */
  readonly fetcher?: TextFetcher;
}

export interface PinnedKey {
  readonly jwk: JWK;
  /** Of the agents it may sign for; without any, for all. */
  readonly origins?: readonly string[];
}

/** The part of the safe fetcher that is needed here. */
export interface TextFetcher {
  text(url: string, options: { readonly signal?: AbortSignal | undefined }): Promise<string>;
}

export type SignatureVerdict =
  | { readonly kind: "unsigned" }
  | {
      readonly kind: "valid";
      readonly keyId: string;
      readonly algorithm: string;
      /** Of the key (RFC 7638): what to compare, and to pin. */
      readonly thumbprint: string;
      readonly source: "pinned" | "fetched";
    }
  | { readonly kind: "invalid"; readonly reason: string };

export interface VerifyOptions {
  readonly signal?: AbortSignal | undefined;
}

/** One right signature is enough; otherwise the reason is that of the last one. */
export async function verifySignatures(
  card: Card,
  trust: SignatureTrust,
  options: VerifyOptions = {},
): Promise<SignatureVerdict> {
  const found = card.json.members.get("signatures");
  if (found === undefined || found.text === "null") return { kind: "unsigned" };
  const signatures = objectsIn(card.json, "signatures");
  if (signatures.length === 0) {
    const isNone = found.kind === "array" && found.items.length === 0;
    return isNone ? { kind: "unsigned" } : invalid("`signatures` is not a list of objects");
  }
  if (card.isAmbiguous) return invalid("the card is ambiguous: it has a field twice");
  if (signatures.length > SIGNATURE.perCard) {
    return invalid(`it has ${signatures.length} signatures, at most ${SIGNATURE.perCard} are read`);
  }
  let last: SignatureVerdict = invalid("it has no signature");
  for (const signature of signatures) {
    last = await verify(card, signature, { ...trust, ...options });
    if (last.kind === "valid") return last;
  }
  return last;
}

async function verify(
  card: Card,
  signature: JsonObject,
  trust: SignatureTrust & VerifyOptions,
): Promise<SignatureVerdict> {
  try {
    const header = headerOf(signature);
    const { jwk, source } = await keyFor(card, header, trust);
    const problem = keyProblem(jwk, header.alg);
    if (problem !== undefined) return invalid(problem);
    const key = await importJWK(jwk, header.alg);
    const jws = { protected: header.text, signature: textIn(signature, "signature") ?? "" };
    for (const payload of payloadsOf(card)) {
      const signed = { ...jws, payload: base64url.encode(payload) };
      const checked = flattenedVerify(signed, key, { algorithms: [header.alg] });
      const isRight = await checked.then(
        () => true,
        () => false,
      );
      if (!isRight) continue;
      const thumbprint = await calculateJwkThumbprint(jwk);
      return { kind: "valid", keyId: shown(header.kid), algorithm: header.alg, thumbprint, source };
    }
    return invalid(`the signature of key ${shown(header.kid)} does not match the card`);
  } catch (error) {
    trust.signal?.throwIfAborted();
    if (error instanceof RollcallError) return invalid(error.message);
    return invalid("the key or the header cannot be read");
  }
}

interface Header {
  readonly text: string;
  readonly alg: string;
  readonly kid: string;
  readonly jku: string | undefined;
}

function headerOf(signature: JsonObject): Header {
  const text = textIn(signature, "protected") ?? "";
  const value = textIn(signature, "signature") ?? "";
  if (text.length > SIGNATURE.headerLength || value.length > SIGNATURE.valueLength) {
    throw refusal("the signature is too long");
  }
  const { alg, kid, jku, crit } = decodeProtectedHeader({ protected: text });
  if (typeof alg !== "string" || !Object.hasOwn(ALGORITHMS, alg)) {
    throw refusal(`the algorithm ${shown(alg)} is not allowed`);
  }
  if (typeof kid !== "string" || kid === "") throw refusal("the signature names no key");
  if (crit !== undefined) throw refusal("the signature asks for an extension we do not have");
  return { text, alg, kid, jku: typeof jku === "string" ? jku : undefined };
}

interface FoundKey {
  readonly jwk: JWK;
  readonly source: "pinned" | "fetched";
}

async function keyFor(
  card: Card,
  { kid, jku }: Header,
  trust: SignatureTrust & VerifyOptions,
): Promise<FoundKey> {
  const origin = httpUrl(card.key)?.origin ?? "";
  const pinned = trust.pinned?.filter(({ jwk }) => jwk.kid === kid) ?? [];
  if (pinned.length > 0) {
    const fit = pinned.find(({ origins }) => origins?.includes(origin) ?? true);
    if (!fit) throw refusal(`key ${shown(kid)} is pinned for other origins`);
    return { jwk: fit.jwk, source: "pinned" };
  }
  const url = jku === undefined ? undefined : httpUrl(jku);
  if (!url)
    throw refusal(`key ${shown(kid)} is not pinned, and the signature says no place for it`);
  if (url.origin !== origin && !trust.keyOrigins?.includes(url.origin)) {
    throw refusal(`keys are not fetched from ${shown(url.origin)}`);
  }
  if (!trust.fetcher) throw refusal("keys are not fetched");
  const text = await trust.fetcher.text(url.href, { signal: trust.signal }).catch(() => {
    throw refusal("the key set could not be fetched");
  });
  const keys = keysIn(text).filter((jwk) => jwk.kid === kid);
  const [jwk] = keys;
  if (!jwk || keys.length > 1) throw refusal(`the key set does not have one key ${shown(kid)}`);
  return { jwk, source: "fetched" };
}

export function keysIn(text: string): readonly JWK[] {
  const set = keySet(text);
  if (!Array.isArray(set?.keys)) throw refusal("the key set has no keys");
  if (set.keys.length > SIGNATURE.keysInSet) throw refusal("the key set has too many keys");
  return set.keys.filter((key): key is JWK => typeof key === "object" && key !== null);
}

function keySet(text: string): { readonly keys?: unknown } | null {
  try {
    return JSON.parse(text) as { readonly keys?: unknown } | null;
  } catch (cause) {
    throw invalidArgument("the key set is not JSON", cause);
  }
}

/** The key itself decides its use, never the header of the signature alone. */
export function keyProblem(jwk: JWK, alg: string): string | undefined {
  if (jwk.kty !== ALGORITHMS[alg]) return `the algorithm ${alg} does not match the key type`;
  if (jwk.alg !== undefined && jwk.alg !== alg)
    return `the key is for ${shown(jwk.alg)}, not ${alg}`;
  if (jwk.use !== undefined && jwk.use !== "sig") return "the key is not for signatures";
  if (jwk.key_ops && !jwk.key_ops.includes("verify")) return "the key is not for signatures";
  if (jwk.d !== undefined) return "the key is a private one, for everybody to see";
  const bits = jwk.n === undefined ? Infinity : base64url.decode(jwk.n).length * 8;
  return bits < SIGNATURE.leastRsaBits ? "the key is too short" : undefined;
}

function* payloadsOf({ json }: Card): Iterable<string> {
  const members = [...json.members].filter(([name]) => name !== "signatures");
  yield canonicalMembers(members);
  yield canonicalMembers(filled(members));
}

type SignedMember = readonly [string, Json];

/** Without what is empty, all the way down. */
function filled(members: Iterable<SignedMember>): readonly SignedMember[] {
  return [...members].flatMap(([name, value]): readonly SignedMember[] => {
    const rest = fill(value);
    return rest === undefined ? [] : [[name, rest]];
  });
}

function fill(value: Json): Json | undefined {
  switch (value.kind) {
    case "word":
      return value.value === null ? undefined : value;
    case "string":
      return value.value === "" ? undefined : value;
    case "number":
      return value;
    case "array": {
      const items = value.items.map(fill).filter((item) => item !== undefined);
      return items.length === 0 ? undefined : { ...value, items };
    }
    case "object": {
      const members = new Map(filled(value.members));
      return members.size === 0 ? undefined : { ...value, members };
    }
  }
}

function invalid(reason: string): SignatureVerdict {
  return { kind: "invalid", reason };
}

function refusal(reason: string): RollcallError {
  return invalidArgument(reason);
}

/** A word of a stranger in a sentence of ours. */
export function shown(word: unknown): string {
  return cleanProse(typeof word === "string" ? word : typeof word, 128);
}
