/** `rollcall tls`: a pair to try TLS with, and a client that knows the daemon by it. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connect } from "../../src/wires/api/client/client.ts";
import { run, scratch, start } from "./programs.ts";

test("a self-signed pair is made, kept from others, and known by its fingerprint", async () => {
  using home = scratch();
  const env = { XDG_STATE_HOME: home.path };
  const made = await run(["tls", "self-signed", "box.example", "10.1.0.5"], { env });
  expect(made.stderr).toBe("");
  const [, fingerprint = ""] = /SHA-256 +(\S+)/.exec(made.stdout) ?? [];
  const [cert, key] = ["cert", "key"].map((name) => join(home.path, `rollcall/tls/${name}.pem`));
  expect(statSync(key ?? "").mode & 0o777).toBe(0o600);
  const shown = JSON.parse((await run(["tls", "--json"], { env })).stdout) as object;
  expect(shown).toMatchObject({
    fingerprint,
    names: expect.arrayContaining(["box.example"]) as [],
  });
  const again = await run(["tls", "self-signed"], { env });
  expect([again.code, again.stderr]).toEqual([4, expect.stringContaining("--force replaces it")]);
  const flags = ["--tls-cert", cert ?? "", "--tls-key", key ?? "", "--memory", "--no-status-files"];
  await using up = start(["up", "--addr", "off", "--http-addr", ":0", ...flags]);
  const [, url = ""] = await up.says(/HTTP +(https:\S+)/);
  await using pinned = connect({ url, trust: { fingerprint } });
  expect(await pinned.get("/v1/status")).toMatchObject({ exposure: [] });
  await using unsure = connect({ url });
  await expect(unsure.get("/v1/status")).rejects.toThrow(/no authority that is known here signed/);
});

test.skipIf(process.platform !== "linux")(
  "a pair that is not there, and a folder that cannot be made, are said in words",
  async () => {
    using home = scratch();
    const shown = await run(["tls"], { env: { XDG_STATE_HOME: home.path } });
    expect(shown.code).toBe(1);
    expect(shown.stderr).toContain("cert.pem is not there: `rollcall tls self-signed` makes one");
    const made = await run(["tls", "self-signed", "--out", "/proc/nowhere"]);
    expect(made.code).toBe(4);
    expect(made.stderr).toContain("error: cannot make the folder /proc/nowhere: ");
  },
);
