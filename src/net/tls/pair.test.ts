import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { X509Certificate } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { authority, looked, pairFolder, pairFor } from "../../../test/support/tls/pairs.ts";
import { TestClock } from "../../../test/support/engine/fixture.ts";
import { KeyPair } from "./pair.ts";

async function open(files: Parameters<typeof KeyPair.open>[0]["files"]) {
  const clock = new TestClock();
  const [onRenewal, onTrouble] = [vi.fn(), vi.fn()];
  const pair = await KeyPair.open({ files, clock, onRenewal, onTrouble });
  return { clock, pair, onRenewal, onTrouble };
}

function fingerprint(cert: string): string {
  return new X509Certificate(cert).fingerprint256;
}

describe("a pair of files", () => {
  test("is read again when it changes, and those that follow it get the new one", async () => {
    const [first, second] = [pairFor(["a.example"]), pairFor(["b.example"])];
    using folder = pairFolder(first);
    const { clientCa: _, ...files } = folder.files;
    const { clock, pair, onRenewal, onTrouble } = await open(files);
    const given: string[] = [];
    pair.follow(({ cert }) => given.push(fingerprint(cert)));
    await looked(clock);
    expect(onRenewal).not.toHaveBeenCalled();
    folder.put(second);
    await looked(clock);
    expect(given).toEqual([first, second].map(({ cert }) => fingerprint(cert)));
    expect(pair.certificate.fingerprint256).toBe(fingerprint(second.cert));
    expect(onRenewal).toHaveBeenCalledOnce();
    expect(onTrouble).not.toHaveBeenCalled();
    pair.close();
    expect(clock.timers).toBe(0);
  });

  test("that cannot be used changes nothing, and is told once, without the key", async () => {
    const [first, second] = [pairFor(["a.example"]), pairFor(["b.example"])];
    using folder = pairFolder(first);
    const { clientCa: _, ...files } = folder.files;
    const { clock, pair, onRenewal, onTrouble } = await open(files);
    const breaks = [
      [() => writeFileSync(files.key, second.key), /tls_key .* with tls_cert .* cannot be used/],
      [() => writeFileSync(files.key, "no key"), /tls_key \S+ cannot be used/],
      [() => writeFileSync(files.cert, "no certificate"), /tls_cert \S+ cannot be used/],
      [() => rmSync(files.cert), /tls_cert \S+ cannot be used: ENOENT/],
    ] as const;
    for (const [spoil, words] of breaks) {
      onTrouble.mockClear();
      spoil();
      await looked(clock);
      await looked(clock);
      expect(onTrouble).toHaveBeenCalledOnce();
      const [[error]] = onTrouble.mock.calls as [[Error]];
      expect(error.message).toMatch(words);
      expect(error.message).not.toContain(second.key.slice(40, 60));
      expect(pair.texts.cert).toBe(first.cert);
    }
    folder.put(second);
    await looked(clock);
    expect(onRenewal).toHaveBeenCalledOnce();
    expect(pair.texts.cert).toBe(second.cert);
    pair.close();
  });

  test("that is wrong at the start is refused, with the setting and the file", async () => {
    using folder = pairFolder(pairFor(["a.example"]), authority());
    const { files } = folder;
    const swapped = { cert: files.key, key: files.cert };
    await expect(open(swapped)).rejects.toThrow(`tls_cert ${files.key} cannot be used`);
    await expect(open({ ...files, key: "/nowhere" })).rejects.toThrow("tls_key /nowhere");
    writeFileSync(files.clientCa, readFileSync(files.key));
    await expect(open(files)).rejects.toThrow(`tls_client_ca ${files.clientCa}`);
  });
});
