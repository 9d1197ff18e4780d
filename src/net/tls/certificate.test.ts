import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { authority, pairFor } from "../../../test/support/tls/pairs.ts";
import { issue } from "./certificate.ts";
import { namesOf } from "./names.ts";

describe("a certificate", () => {
  const names = ["box.example", "10.1.2.3", "fd00::5", "spiffe://corp/agent"];

  test("that signs itself has its names, its dates and its own key", () => {
    const [fromMs, untilMs] = [Date.UTC(2026, 0, 2, 3, 4, 5), Date.UTC(2051, 11, 31)];
    const pair = issue({ title: "box é", names, fromMs, untilMs });
    const read = new X509Certificate(pair.cert);
    expect(read.subject).toBe("CN=box é");
    expect(Date.parse(read.validFrom)).toBe(fromMs);
    expect(Date.parse(read.validTo)).toBe(untilMs);
    expect(namesOf(read)).toEqual(names);
    expect(read.checkHost("box.example")).toBe("box.example");
    expect(read.checkIP("fd00::5")).toBe("fd00::5");
    expect(read.ca).toBe(false);
    expect(read.verify(read.publicKey)).toBe(true);
    expect(read.checkPrivateKey(pair.keys.privateKey)).toBe(true);
  });

  test("that an authority signs is known as issued by it, and by no other", () => {
    const [signer, other] = [authority(), authority("another")];
    const [ours, theirs] = [signer, other].map(({ cert }) => new X509Certificate(cert));
    const read = new X509Certificate(pairFor(names, { issuer: signer }).cert);
    expect(ours?.ca).toBe(true);
    expect(ours && read.checkIssued(ours) && read.verify(ours.publicKey)).toBe(true);
    expect(theirs && read.checkIssued(theirs)).toBe(false);
  });

  test("has another number and another key each time", () => {
    const [one, two] = [pairFor(names), pairFor(names)].map(
      ({ cert }) => new X509Certificate(cert),
    );
    expect(one?.serialNumber).not.toBe(two?.serialNumber);
    expect(one?.fingerprint256).not.toBe(two?.fingerprint256);
  });

  test("with a name that looks like two has that one name", () => {
    const { cert } = pairFor(["urn:a, DNS:admin.example", "b.example"]);
    expect(namesOf(new X509Certificate(cert))).toEqual(["urn:a, dns:admin.example", "b.example"]);
  });
});
