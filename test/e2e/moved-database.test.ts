/** The database is moved away under a daemon, as cleaners and sync tools do, and comes back. */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { daemon, run, scratch } from "./programs.ts";

vi.setConfig({ testTimeout: 90_000 });

test("a daemon whose database is moved says so, and goes on when it is back", async () => {
  using home = scratch();
  const data = join(home.path, "state");
  const { up, url } = await daemon("--data-dir", data, "--no-status-files");
  await using _ = up;
  const register = (name: string) => run(["agents", "register", name, "--url", url]);
  const readiness = async (status: number) =>
    vi.waitFor(async () => {
      const answer = await fetch(`${url}/readyz`);
      expect(answer.status).toBe(status);
      return answer.text();
    });
  expect(await register("before")).toMatchObject({ code: 0 });
  await readiness(200);

  renameSync(data, `${data}.moved`);
  expect(await readiness(503)).toMatch(/not ready/);
  await up.says(/rollcall\.db was moved or deleted while it was open/, "stderr");
  const refused = await register("meanwhile");
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("was moved or deleted");

  // Another daemon may have the place meanwhile, and is the only one that leads there.
  const second = await daemon("--data-dir", data, "--no-status-files");
  expect((await fetch(`${second.url}/readyz`)).status).toBe(200);
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  second.up.signal("SIGTERM");
  expect(await second.up.end()).toMatchObject({ code: 0 });
  renameSync(data, `${data}.of-the-second`);

  renameSync(`${data}.moved`, data);
  await readiness(200);
  expect(await register("after")).toMatchObject({ code: 0 });
  const { stdout } = await run(["agents", "list", "--url", url]);
  expect(stdout).toContain("before");
  expect(stdout).toContain("after");
  expect(stdout).not.toContain("meanwhile");
});
