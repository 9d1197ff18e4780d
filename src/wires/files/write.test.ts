import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Status } from "./format.ts";
import { readStatus } from "./read.ts";
import { NOW_MS, scratch, statusOf } from "../../../test/support/files/fixture.ts";
import { sweepDrafts, writeStatus, writeStatusSync } from "./write.ts";

const WAYS = [
  ["at once", async (status: Status, folder: string) => writeStatusSync(status, folder)],
  ["in its own time", writeStatus],
] as const;

describe.each(WAYS)("%s", (_, write) => {
  test("the file is as the peer writes it: sorted, indented, for the owner alone", async () => {
    using folder = scratch();
    const deep = join(folder.path, "made", "on", "demand");
    const path = await write(statusOf({ x_meta: { é: 1 } }), deep);
    expect(path).toBe(join(deep, "pi-1.json"));
    expect(fs.readFileSync(path, "utf8")).toBe(
      [
        "{",
        '  "agent_id": "pi-1",',
        '  "agent_name": "pi",',
        '  "runtime": {',
        '    "lifecycle": "running",',
        '    "updated_at": "2026-06-20T16:45:00Z"',
        "  },",
        '  "schema_version": "agent-status/v1alpha1",',
        '  "x_meta": {',
        String.raw`    "\u00e9": 1`,
        "  }",
        "}",
        "",
      ].join("\n"),
    );
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
    expect(fs.statSync(deep).mode & 0o777).toBe(0o700);
    expect(fs.readdirSync(deep)).toEqual(["pi-1.json"]);
  });

  test("what is no status is refused before anything is touched", async () => {
    using folder = scratch();
    const nothing = join(folder.path, "none");
    const { agent_name: _name, ...nameless } = statusOf();
    const refused = write(nameless as Status, nothing);
    await expect(refused).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "missing required field: agent_name",
    });
    await expect(write(statusOf({ agent_id: "../x" }), nothing)).rejects.toThrow("filename-safe");
    expect(fs.existsSync(nothing)).toBe(false);
  });

  test("a status that nobody would read is not written", async () => {
    using folder = scratch();
    const status = statusOf({ x_meta: { log: "x".repeat(1024 * 1024) } });
    await expect(write(status, folder.path)).rejects.toMatchObject({ code: "TOO_LARGE" });
  });

  test("when the name cannot be taken over, the draft goes too", async () => {
    using folder = scratch();
    fs.mkdirSync(join(folder.path, "pi-1.json", "in-the-way"), { recursive: true });
    await expect(write(statusOf(), folder.path)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(fs.readdirSync(folder.path)).toEqual(["pi-1.json"]);
  });

  test("a link under the name is replaced, not followed", async () => {
    using folder = scratch();
    const secret = join(folder.path, "secret");
    fs.writeFileSync(secret, "untouched");
    fs.symlinkSync(secret, join(folder.path, "pi-1.json"));
    const path = await write(statusOf(), folder.path);
    expect(fs.readFileSync(secret, "utf8")).toBe("untouched");
    expect(readStatus(path).kind).toBe("status");
  });
});

test("many writers at once leave one whole file and no drafts", async () => {
  using folder = scratch();
  const writers = Array.from({ length: 50 }, (_, pid) =>
    writeStatus(statusOf({ runtime: { pid } }), folder.path),
  );
  await Promise.all(writers);
  expect(fs.readdirSync(folder.path)).toEqual(["pi-1.json"]);
  expect(readStatus(join(folder.path, "pi-1.json")).kind).toBe("status");
});

test("drafts of killed writers are swept when they are old, and nothing else is", () => {
  using folder = scratch();
  const names = [".a.json.k3j4h5.tmp", ".b.json.0f0f.tmp", ".notes.tmp", "a.json"];
  for (const name of names) fs.writeFileSync(join(folder.path, name), "{");
  const old = NOW_MS / 1000 - 100;
  for (const name of [names[0], ".notes.tmp", "a.json"]) {
    fs.utimesSync(join(folder.path, name ?? ""), old, old);
  }
  sweepDrafts(folder.path, NOW_MS - 50_000);
  expect(fs.readdirSync(folder.path).toSorted()).toEqual([
    ".b.json.0f0f.tmp",
    ".notes.tmp",
    "a.json",
  ]);
});
