import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readStatus, readStatusDir, statusNames } from "./read.ts";
import { NOW, NOW_MS, scratch, statusOf } from "../../../test/support/files/fixture.ts";
import { writeStatusSync } from "./write.ts";

describe("a hostile file is refused with one sentence", () => {
  const cases: readonly (readonly [string, string, string, (path: string) => void])[] = [
    [
      "bytes that are no text",
      "unreadable",
      "is not UTF-8",
      (path) => {
        fs.writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d]));
      },
    ],
    [
      "a pipe that nobody writes to",
      "unreadable",
      "is no file",
      (path) => {
        expect(spawnSync("mkfifo", [path]).status).toBe(0);
      },
    ],
    [
      "a link, even to a good file",
      "unreadable",
      "is a link",
      (path) => {
        fs.symlinkSync("good.json", path);
      },
    ],
    ["a folder", "unreadable", "is a directory", (path) => fs.mkdirSync(path)],
    [
      "a hundred megabytes",
      "unreadable",
      "has 104857600 bytes or more",
      (path) => {
        fs.writeFileSync(path, "{}");
        fs.truncateSync(path, 100 * 1024 * 1024);
      },
    ],
    [
      "no JSON",
      "json",
      "Expecting value: line 1 column 1 (char 0)",
      (path) => {
        fs.writeFileSync(path, "hello");
      },
    ],
    [
      "nothing",
      "json",
      "Expecting value: line 1 column 1 (char 0)",
      (path) => {
        fs.writeFileSync(path, "");
      },
    ],
    [
      "a pit of brackets",
      "json",
      "Nested more than 64 levels deep",
      (path) => {
        fs.writeFileSync(
          path,
          JSON.stringify(statusOf()).replace(/}$/, `,"x":${"[".repeat(5000)}${"]".repeat(5000)}}`),
        );
      },
    ],
    [
      "JSON that is no status",
      "status",
      "missing required field: schema_version",
      (path) => {
        fs.writeFileSync(path, "{}");
      },
    ],
    [
      "a process id with a point",
      "status",
      "runtime.pid must be integer",
      (path) => {
        const text = JSON.stringify(statusOf({ agent_id: "bad", runtime: { pid: 7 } }));
        fs.writeFileSync(path, text.replace('"pid":7', '"pid":7.0'));
      },
    ],
  ];

  test.for(cases)("%s: %s, %s", ([, reason, problem, make]) => {
    using folder = scratch();
    const path = join(folder.path, "bad.json");
    writeStatusSync(statusOf({ agent_id: "good" }), folder.path);
    make(path);
    const readings = readStatusDir(folder.path, { nowMs: NOW_MS });
    expect(readings).toMatchObject([
      { kind: "status", status: { agent_id: "good" }, oddities: [] },
      { kind: "refused", path, reason },
    ]);
    const [, bad] = readings;
    expect(bad?.kind === "refused" && bad.problems[0]).toContain(problem);
  });
});

test("a file that is not there is missing, and one that left while reading is no row", () => {
  using folder = scratch();
  expect(readStatus(join(folder.path, "x.json"))).toMatchObject({ reason: "missing" });
  expect(readStatusDir(join(folder.path, "none"))).toEqual([]);
});

test("only files that end in .json count, hidden ones too", () => {
  using folder = scratch();
  for (const id of ["a", ".b"]) writeStatusSync(statusOf({ agent_id: id }), folder.path);
  fs.writeFileSync(join(folder.path, ".a.json.k3j4h5.tmp"), "{");
  fs.writeFileSync(join(folder.path, "README"), "{");
  const names = readStatusDir(folder.path).map(({ path }) => path.split("/").at(-1));
  expect(names).toEqual([".b.json", "a.json"]);
});

test("the newest come first", () => {
  using folder = scratch();
  const updates = {
    a: "2026-06-20T10:00:00Z",
    b: "2026-06-20T12:00:00Z",
    c: "2026-06-20T11:00:00Z",
  };
  for (const [agent_id, updated_at] of Object.entries(updates)) {
    writeStatusSync(statusOf({ agent_id, runtime: { updated_at } }), folder.path);
  }
  const paths = readStatusDir(folder.path, { nowMs: NOW_MS }).map(({ path }) => path);
  expect(paths.map((path) => path.slice(-6, -5))).toEqual(["b", "c", "a"]);
});

test("a file under another name is read, and marked", () => {
  using folder = scratch();
  const path = writeStatusSync(statusOf(), folder.path);
  const other = join(folder.path, "other.json");
  fs.renameSync(path, other);
  expect(readStatus(other, { nowMs: NOW_MS })).toMatchObject({ oddities: ["misnamed"] });
});

test("a time in the future is taken for when the file was written, and marked", () => {
  using folder = scratch();
  const status = statusOf({ runtime: { updated_at: "2029-01-01T00:00:00Z" } });
  const path = writeStatusSync(status, folder.path);
  fs.utimesSync(path, NOW_MS / 1000, NOW_MS / 1000 - 100);
  expect(readStatus(path, { nowMs: NOW_MS })).toMatchObject({
    updatedAtMs: NOW_MS - 100_000,
    oddities: ["ahead"],
    status: { runtime: { updated_at: "2029-01-01T00:00:00Z" } },
  });
});

test("a clock that is a little ahead is nothing odd, and nothing is newer than now", () => {
  using folder = scratch();
  const path = writeStatusSync(statusOf({ runtime: { updated_at: NOW } }), folder.path);
  const nowMs = NOW_MS - 3000;
  expect(readStatus(path, { nowMs })).toMatchObject({ updatedAtMs: nowMs, oddities: [] });
});

test("numbers that doubles cannot hold do not make a status invalid", () => {
  using folder = scratch();
  const path = join(folder.path, "pi-1.json");
  const text = JSON.stringify(statusOf({ x_meta: { span: 0, ratio: 0 } }));
  fs.writeFileSync(
    path,
    text.replace('"span":0', '"span":12345678901234567890').replace('"ratio":0', '"ratio":NaN'),
  );
  expect(readStatus(path)).toMatchObject({ kind: "status", status: { x_meta: { ratio: NaN } } });
});

test("a file of exactly the allowed size is read, one byte more is not", () => {
  using folder = scratch();
  const path = join(folder.path, "pi-1.json");
  const text = JSON.stringify(statusOf());
  fs.writeFileSync(path, text.padEnd(1024 * 1024));
  expect(readStatus(path).kind).toBe("status");
  fs.writeFileSync(path, text.padEnd(1024 * 1024 + 1));
  expect(readStatus(path).kind).toBe("refused");
});

test("of more files than anybody needs the first are read, and that is said", () => {
  using folder = scratch();
  for (const id of ["a", "b", "c"]) writeStatusSync(statusOf({ agent_id: id }), folder.path);
  expect(statusNames(folder.path, 3).overfull).toEqual([]);
  expect(statusNames(folder.path, 2)).toMatchObject({
    names: ["a.json", "b.json"],
    overfull: [
      {
        kind: "refused",
        path: folder.path,
        reason: "unreadable",
        problems: ["holds 3 files, of which the first 2 are read"],
      },
    ],
  });
});
