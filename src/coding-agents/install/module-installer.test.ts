import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { apply } from "../../machine/settings/apply.ts";
import { agentNamed } from "../agents.ts";

let home = "";

beforeEach(() => (home = fs.mkdtempSync(join(tmpdir(), "rollcall-module-"))));

afterEach(() => fs.rmSync(home, { recursive: true, force: true }));

function write(path: string, text: string): string {
  const whole = join(home, path);
  fs.mkdirSync(dirname(whole), { recursive: true });
  fs.writeFileSync(whole, text);
  return whole;
}

/** A Rollcall whose modules say where they are. */
function putRollcall(folder: string): string {
  write(`${folder}/dist/bin/rollcall.cjs`, "");
  const give = (name: string) =>
    `export const ${name} = (host) => host.loaded(${JSON.stringify(folder)});`;
  write(`${folder}/dist/lib/opencode.js`, give("RollcallPlugin"));
  write(`${folder}/dist/lib/pi.js`, give("rollcallExtension"));
  return join(home, folder, "dist/bin");
}

/** The file that the host loads, once Rollcall was installed from `old`. */
async function loadAs(name: "opencode" | "pi"): Promise<Record<string, unknown>> {
  const programs = join(home, "old/dist/bin");
  const scene = { env: {}, home, project: undefined, programs, node: "/usr/bin/node" };
  const { after = "" } = agentNamed(name).install.install(scene);
  const path = write(`${name}-${performance.now()}.mjs`, after);
  return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
}

async function run(name: "opencode" | "pi", host: object): Promise<unknown> {
  const module = await loadAs(name);
  const entry = module[name === "pi" ? "default" : "RollcallPlugin"];
  return (entry as (input: object) => unknown)(host);
}

test.each(["opencode", "pi"] as const)("%s loads Rollcall from where it is", async (name) => {
  const loaded = vi.fn();
  vi.stubEnv("PATH", "");
  putRollcall("old");
  await run(name, { loaded });
  expect(loaded).toHaveBeenLastCalledWith("old");
  fs.rmSync(join(home, "old"), { recursive: true });
  const programs = putRollcall("new");
  fs.mkdirSync(join(home, "bin"));
  fs.symlinkSync(join(programs, "rollcall.cjs"), join(home, "bin/rollcall"));
  vi.stubEnv("PATH", `/nowhere:${join(home, "bin")}`);
  await run(name, { loaded });
  expect(loaded).toHaveBeenLastCalledWith("new");
});

test("OpenCode says at the first prompt that Rollcall is gone", async () => {
  vi.stubEnv("PATH", "");
  const showToast = vi.fn(() => Promise.resolve());
  const hooks = await run("opencode", { client: { tui: { showToast } } });
  await (hooks as { "chat.message": () => Promise<void> })["chat.message"]();
  const message = "rollcall is not where it was: run `rollcall hooks install opencode`";
  expect(showToast).toHaveBeenCalledWith({
    body: { title: "Rollcall", message, variant: "warning" },
  });
});

test("Pi says at its start that Rollcall is gone", async () => {
  vi.stubEnv("PATH", "");
  const notify = vi.fn();
  const on = (event: string, handler: (event: object, context: object) => void) => {
    expect(event).toBe("session_start");
    handler({}, { ui: { notify } });
  };
  await run("pi", { on });
  const message = "rollcall is not where it was: run `rollcall hooks install pi`";
  expect(notify).toHaveBeenCalledWith(message, "warning");
});

test("a file of ours leaves no copy behind", () => {
  const scene = { env: {}, home, project: undefined, programs: home, node: "/usr/bin/node" };
  const { install } = agentNamed("opencode");
  apply(install.install(scene));
  apply(install.install({ ...scene, programs: join(home, "elsewhere") }));
  apply(install.uninstall(scene));
  expect(fs.readdirSync(join(home, ".config/opencode/plugins"))).toEqual([]);
});
