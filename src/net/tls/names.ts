/**
 * The names that a certificate is for. Node gives them as one text:
 *
 *   DNS:box.example, IP Address:10.0.0.5, URI:spiffe://corp/agent, DNS:"a, DNS:b"
 *
 * A name that could be mistaken for two stands in quotes, so it is read as the one that it is.
 */
import type { X509Certificate } from "node:crypto";
import { isIP } from "node:net";

const NAME = /([^:,"]+):("(?:[^"\\]|\\.)*"|[^,"]*)(?:, |$)/gy;
const KINDS = ["DNS", "IP Address", "URI", "email"];

/** In lower case, addresses in their shortest form. */
export function namesOf({ subjectAltName = "" }: X509Certificate): readonly string[] {
  return [...subjectAltName.matchAll(NAME)].flatMap(([, kind = "", text = ""]) => {
    if (!KINDS.includes(kind)) return [];
    const name = text.startsWith('"') ? (JSON.parse(text) as string) : text;
    return [plainName(name)];
  });
}

export function plainName(name: string): string {
  return isIP(name) === 6 ? new URL(`http://[${name}]`).hostname.slice(1, -1) : name.toLowerCase();
}
