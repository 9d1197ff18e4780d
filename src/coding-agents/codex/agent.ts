/** Codex: hooks in a file of their own, which run once a person trusted them. */
import { join } from "node:path";
import type { CodingAgent } from "../adapter.ts";
import { codexDialect } from "./dialect.ts";
import { hookInstaller } from "../install/hook-installer.ts";
import { ownHooks } from "../install/hook-settings.ts";
import { readIfThere, type Scene } from "../../machine/settings/installer.ts";
import { trustIn } from "./trust.ts";

const HOW_TO_TRUST = "start codex, type /hooks and press t to trust them";

export const codex: CodingAgent<"codex"> = {
  name: "codex",
  title: "Codex",
  tried: ["0.166.0"],
  home: codexHome,
  observe: { by: "hooks", beside: "its app-server" },
  install: hookInstaller({
    host: "codex",
    events: codexDialect.events,
    file: (scene) => join(codexHome(scene), "hooks.json"),
    warnings(settings, scene) {
      const config = { ...scene, project: undefined };
      const toml = readIfThere(join(codexHome(config), "config.toml")) ?? "";
      const hooks = ownHooks(settings ?? "", "codex");
      const { untrusted } = trustIn(toml, join(codexHome(scene), "hooks.json"), hooks);
      return [...switchedOff(toml), ...untrustedHooks(untrusted)];
    },
    keepsPlaces: true,
    next: HOW_TO_TRUST,
  }),
};

function untrustedHooks(count: number): readonly string[] {
  return count === 0 ? [] : [`${count} hooks are not trusted, and do not run: ${HOW_TO_TRUST}`];
}

function codexHome({ env, home, project }: Scene): string {
  return project === undefined
    ? env["CODEX_HOME"] || join(home, ".codex")
    : join(project, ".codex");
}

/** The switch of its config file, under its name and the one it had before. */
function switchedOff(toml: string): readonly string[] {
  const features = /^\s*\[features\]\s*$(?<table>[^]*?)(?=^\s*\[|$(?![^]))/m.exec(toml)?.groups;
  const isOff = /^\s*(?:codex_)?hooks\s*=\s*false\b/m.test(features?.["table"] ?? "");
  return isOff ? ["hooks = false stands under [features] in config.toml: no hooks run"] : [];
}
