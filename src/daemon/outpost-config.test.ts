import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isExcluded } from "../wires/outpost/policy.ts";
import { loadConfig } from "./config.ts";

async function excludedBy(exclude: string, home: string) {
  const { outpost } = await loadConfig({
    flags: { join: "https://team.example", "token-file": "/t", "share-exclude": exclude },
    env: {},
    home,
  });
  const { policy } = outpost ?? expect.fail();
  return (workspace: string) => isExcluded(policy, workspace);
}

test("a folder of the home is excluded with a slash at its end, and as a link", async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "rollcall-home-")));
  mkdirSync(join(home, "disk", "private"), { recursive: true });
  symlinkSync(join(home, "disk", "private"), join(home, "private"));
  const isOut = await excludedBy("~/private/", home);
  expect([join(home, "private", "a"), join(home, "disk", "private", "a")].map(isOut)).toEqual([
    true,
    true,
  ]);
  expect(isOut(join(home, "disk"))).toBe(false);
});

test("a pattern that begins with * is of folders everywhere", async () => {
  const isOut = await excludedBy("*/client-a", "/home/of-nobody");
  expect(["/srv/client-a", "/home/x/client-a/b", "/srv/client-b"].map(isOut)).toEqual([
    true,
    true,
    false,
  ]);
});
