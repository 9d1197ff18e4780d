import { describe, expect, test } from "vitest";
import { ownHooks, withHooks, withoutHooks } from "../install/hook-settings.ts";
import { codexDialect } from "./dialect.ts";
import { trustIn } from "./trust.ts";

const plan = {
  host: "codex",
  events: codexDialect.events,
  command: "rollcall hook codex",
} as const;
const PATH = "/home/ada/.codex/hooks.json";
const OTHER = { hooks: [{ type: "command", command: "say done" }] };

/** As Codex 0.166 wrote it when a person trusted the hook `Stop` of this very command. */
const STOP = "sha256:760927f372f79c39e57313c40a199a683755ba7909b1ad306e4cd96f9130dea5";

const toml = (place: string, hash: string) =>
  `[hooks.state."${PATH}:${place}"]\ntrusted_hash = "${hash}"\n`;

describe("hooks that a person trusted", () => {
  const stop = ownHooks(withHooks("", plan), "codex").filter(({ event }) => event === "Stop");

  test.each([
    ["trusted", toml("stop:0:0", STOP), 0],
    ["of another place", toml("stop:1:0", STOP), 1],
    ["changed since", toml("stop:0:0", "sha256:00"), 1],
    ["new", "", 1],
    ["of a file that cannot be read", "[hooks", 1],
  ])("%s", (_, config, untrusted) => {
    expect(trustIn(config, PATH, stop)).toEqual({ trusted: 1 - untrusted, untrusted });
  });

  test("keep their places when ours are taken out, and get them back", () => {
    const before = JSON.stringify({ hooks: { Stop: [] } }, null, 2);
    const ours = withHooks(before, { ...plan, events: { Stop: 10 } });
    const both = ours.replace(/\n {4}\]/, `,\n      ${JSON.stringify(OTHER)}\n    ]`);
    const without = withoutHooks(both, "codex", { keepsPlaces: true });
    expect(JSON.parse(without)).toEqual({ hooks: { Stop: [{ hooks: [] }, OTHER] } });
    const again = withHooks(without, { ...plan, events: { Stop: 10 } });
    expect(JSON.parse(again)).toEqual(JSON.parse(both));
    expect(ownHooks(again, "codex")).toMatchObject([{ event: "Stop", group: 0, index: 0 }]);
  });
});
