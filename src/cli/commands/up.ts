/** `rollcall up`: the daemon, in the foreground, until Ctrl-C. */
import { buildCommand } from "@stricli/core";
import type { Context } from "../context.ts";
import { about } from "../help.ts";
import { serve } from "../serve.ts";
import { settingFlags, spokenFlags, type SettingFlags } from "../settings.ts";

export const up = buildCommand<SettingFlags, [], Context>({
  docs: about(
    "Start the daemon, in the foreground. Ctrl-C (or SIGTERM) lets it finish what it has\n" +
      "begun and ends it within 5 s; a second one ends it at once.\n\n" +
      "Every flag is also a line of the config file and an environment variable:\n" +
      "--http-addr is http_addr and ROLLCALL_HTTP_ADDR. Flags win over variables, those over\n" +
      "the file.",
    { call: "rollcall up", does: "the usual ports, state on disk" },
    { call: "rollcall up --memory", does: "to try it: nothing is kept" },
    { call: "rollcall up --addr :7071 --http-addr :9091", does: "a second one beside it" },
    { call: "rollcall up --config rollcall.toml", does: "settings from a file" },
  ),
  parameters: { flags: settingFlags() },
  async func(flags) {
    await serve(this, spokenFlags(flags), { isStrict: true });
  },
});
