import { describe, expect, test } from "vitest";
import { loadConfig } from "./config.ts";
import { answersOthers, checkExposure, exposureOf } from "./exposure.ts";

async function configOf(flags: Record<string, string>) {
  return loadConfig({ flags: { "local-trust": "user", ...flags }, env: {}, home: "/nowhere" });
}

const WIDE = { "http-addr": "0.0.0.0:9090" };
const TLS = { "tls-cert": "c.pem", "tls-key": "k.pem" };

describe("a port beyond this machine", () => {
  test.each([
    ["addr", "0.0.0.0:7070"],
    ["http-addr", "[::]:9090"],
    ["arcp-addr", "10.1.0.5:7777"],
    ["a2a-addr", "box.example:8000"],
  ])("is refused without TLS, by its setting: %s %s", async (flag, address) => {
    const config = await configOf({ [flag]: address });
    const name = flag.replace("-", "_");
    expect(() => checkExposure(config)).toThrow(`${name} ${address} reaches beyond this machine`);
    expect(answersOthers(config)).toBe(false);
  });

  test.each([
    TLS,
    { trust: "10.1.0.0/16" },
    { "trusted-proxies": "10.1.0.5" },
    { insecure: "true" },
  ])("is allowed with %j", async (flags) => {
    const config = await configOf({ ...WIDE, ...flags });
    checkExposure(config);
    expect(answersOthers(config)).toBe(true);
  });

  test("is no matter where there is none", async () => {
    for (const flags of [{}, TLS, { trust: "10.1.0.0/16" }, { insecure: "true" }]) {
      const config = await configOf(flags);
      checkExposure(config);
      expect(answersOthers(config)).toBe(false);
    }
  });
});

test("what is insecure or trusted is said, a sentence each", async () => {
  expect(exposureOf(await configOf({ ...WIDE, ...TLS }))).toEqual([]);
  const proxies = { "trusted-proxies": "10.2.0.1", "proxy-users": "33" };
  const open = { insecure: "true", trust: "10.1.0.0/16=viewer", ...proxies };
  expect(exposureOf(await configOf({ ...WIDE, ...open, "local-trust": "any" }))).toEqual([
    "insecure: other machines are answered without TLS, tokens can be read on their way",
    "trusted: callers from 10.1.0.0/16 need no token, role viewer",
    "trusted: proxies at 10.2.0.1 say where a call comes from",
    "trusted: processes of user 33 are such proxies",
    "trusted: every user of this machine is the owner",
  ]);
});

test("to answer without TLS is said also where there is a certificate", async () => {
  const config = await configOf({ ...WIDE, ...TLS, insecure: "true" });
  expect(exposureOf(config)).toEqual([expect.stringContaining("answered without TLS")]);
});

describe("settings that lack others", () => {
  test.each([
    [{ "tls-cert": "c" }, "tls_cert needs tls_key beside it"],
    [{ "tls-key": "k" }, "tls_key needs tls_cert beside it"],
    [{ "tls-client-ca": "a" }, "tls_client_ca needs tls_cert and tls_key beside it"],
    [{ ...TLS, "tls-clients": "a" }, "tls_clients needs tls_client_ca beside it"],
    [{ trust: "10.1.0.0/33" }, '--trust is "10.1.0.0/33": expected'],
    [{ trust: "box=agent" }, '--trust is "box=agent": expected'],
    [{ trust: "10.1.0.0/16=boss" }, "with one of viewer, agent"],
  ])("%j are refused", async (flags, reason) => {
    await expect(configOf(flags as Record<string, string>)).rejects.toThrow(reason);
  });
});
