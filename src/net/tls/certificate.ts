/**
 * Makes X.509 certificates (RFC 5280) of the one kind that is needed here: a P-256 key, and the
 * names that it stands for. Node reads certificates and makes none, and the libraries that do bring
 * eighteen packages for these hundred lines. Nothing here reads what a stranger wrote.
 */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { isIP } from "node:net";
import { bytesOfAddress } from "../ip.ts";
import { bits, contextTag, der, positive, sequence, TAG, time } from "./der.ts";

export interface CertificateRequest {
  /** For people. */
  readonly title: string;
  /** Host names, IP addresses and URIs. */
  readonly names: readonly string[];
  readonly fromMs: number;
  readonly untilMs: number;
  /** Whether it may sign others. */
  readonly isAuthority?: boolean;
  /** Absent: it signs itself. */
  readonly issuer?: IssuedPair;
}

export interface IssuedPair {
  readonly title: string;
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  readonly keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
}

const OID = {
  commonName: oid("550403"),
  ecdsaWithSha256: oid("2a8648ce3d040302"),
  subjectKeyId: oid("551d0e"),
  keyUsage: oid("551d0f"),
  subjectNames: oid("551d11"),
  basicConstraints: oid("551d13"),
  authorityKeyId: oid("551d23"),
  extendedKeyUsage: oid("551d25"),
  serverAuth: oid("2b06010505070301"),
  clientAuth: oid("2b06010505070302"),
};

const ALGORITHM = sequence(OID.ecdsaWithSha256);
const TRUE = der(TAG.boolean, Buffer.from([0xff]));
/** With bits counted from the left: sign data; sign certificates. */
const USAGE = { leaf: bits(Buffer.from([0x80]), 7), authority: bits(Buffer.from([0x04]), 2) };

export function issue(request: CertificateRequest): IssuedPair {
  const { title, fromMs, untilMs } = request;
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = request.issuer ?? { title, keys };
  const body = sequence(
    der(contextTag(0, "inner"), positive(Buffer.from([2]))),
    positive(randomBytes(16)),
    ALGORITHM,
    nameOf(issuer.title),
    sequence(time(fromMs), time(untilMs)),
    nameOf(title),
    spkiOf(keys.publicKey),
    der(contextTag(3, "inner"), sequence(...extensions(request, keys.publicKey, issuer.keys))),
  );
  const signature = bits(sign("sha256", body, issuer.keys.privateKey));
  return {
    title,
    cert: pem(sequence(body, ALGORITHM, signature)),
    key: keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    keys,
  };
}

function extensions(
  { names, isAuthority = false }: CertificateRequest,
  publicKey: KeyObject,
  issuer: IssuedPair["keys"],
): readonly Buffer[] {
  return [
    extension(OID.basicConstraints, sequence(...(isAuthority ? [TRUE] : [])), "critical"),
    extension(OID.keyUsage, isAuthority ? USAGE.authority : USAGE.leaf, "critical"),
    extension(OID.subjectKeyId, der(TAG.bytes, keyId(publicKey))),
    extension(OID.authorityKeyId, sequence(der(contextTag(0, "plain"), keyId(issuer.publicKey)))),
    ...(isAuthority
      ? []
      : [extension(OID.extendedKeyUsage, sequence(OID.serverAuth, OID.clientAuth))]),
    ...(names.length === 0
      ? []
      : [extension(OID.subjectNames, sequence(...names.map(subjectName)))]),
  ];
}

function extension(id: Buffer, value: Buffer, weight?: "critical"): Buffer {
  return sequence(id, ...(weight ? [TRUE] : []), der(TAG.bytes, value));
}

/** A URI has a scheme, an address is one; all else is the name of a host. */
function subjectName(name: string): Buffer {
  if (isIP(name)) return der(contextTag(7, "plain"), bytesOfAddress(name));
  return der(contextTag(name.includes(":") ? 6 : 2, "plain"), Buffer.from(name));
}

function nameOf(title: string): Buffer {
  const part = sequence(OID.commonName, der(TAG.utf8, Buffer.from(title)));
  return sequence(der(TAG.set, part));
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}

/** Any number that tells keys apart will do. */
function keyId(key: KeyObject): Buffer {
  return createHash("sha1").update(spkiOf(key)).digest();
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
