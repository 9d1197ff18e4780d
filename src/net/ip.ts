/** IP addresses: their bytes, and whether one lies in a range. */
import { BlockList, isIP } from "node:net";
import { invalidArgument } from "../core/errors.ts";

/** Of an IPv4 address four, of an IPv6 address sixteen. */
export function bytesOfAddress(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  return Buffer.from(wordsOf(address).flatMap((word) => [word >> 8, word & 255]));
}

/** The eight numbers of an IPv6 address. */
export function wordsOf(address: string): readonly number[] {
  const plain = address.replace(/%.*$/, "");
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(plain);
  const [, start = "", a, b, c, d] = dotted ?? [];
  const pair = (high: unknown, low: unknown) => ((Number(high) << 8) | Number(low)).toString(16);
  const text = dotted ? `${start}${pair(a, b)}:${pair(c, d)}` : plain;
  const [left = "", right] = text.split("::");
  const [head, tail] = [left, right ?? ""].map((part) => part.split(":").filter(Boolean));
  const gap = right === undefined ? 0 : 8 - (head?.length ?? 0) - (tail?.length ?? 0);
  const zeros = Array.from({ length: gap }, () => "0");
  return [...(head ?? []), ...zeros, ...(tail ?? [])].map((word) => Number.parseInt(word, 16));
}

/** An IPv4 address that came mapped into IPv6, as itself. */
export function unmapped(address: string): string {
  const plain = address.replace(/^::ffff:/i, "");
  return isIP(plain) === 4 ? plain : address;
}

export function isIn(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Of addresses, and of ranges such as `10.0.0.0/8`; throws where one is neither. */
export function ranges(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [address = "", bits, ...rest] = text.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    const most = family === "ipv6" ? 128 : 32;
    const isWrong = isIP(address) === 0 || rest.length > 0 || !/^\d{1,3}$/.test(bits ?? "0");
    if (isWrong || Number(bits ?? 0) > most) {
      throw invalidArgument(`${text} is not a range of addresses: write one such as 10.0.0.0/8`);
    }
    list.addSubnet(address, bits === undefined ? most : Number(bits), family);
  }
  return list;
}
