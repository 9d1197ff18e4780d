/**
 * `agentkeeper`: the same daemon as `rollcall up`, for those who call it by its old name. Without a
 * data dir it keeps its state in memory, as the original does, whatever the environment says. An
 * address without a host is every interface there, and so it is here; callers on other machines are
 * refused all the same, until there is TLS or their network is trusted.
 */
import { buildCommand } from "@stricli/core";
import type { Context } from "../context.ts";
import { about } from "../help.ts";
import { serve } from "../serve.ts";
import { settingFlags, spokenFlags, type SettingFlags } from "../settings.ts";

const FLAGS = {
  addr: "127.0.0.1:7070",
  "data-dir": "in memory",
  "metrics-addr": "127.0.0.1:9090",
  "tls-cert": "",
  "tls-key": "",
  trust: "",
};

const ADDRESSES = ["addr", "metrics-addr"];

export const agentkeeper = buildCommand<SettingFlags, [], Context>({
  docs: about(
    "The rollcall daemon, as a drop-in for agentkeeper. Without --data-dir its state is in\n" +
      "memory; when the port of --metrics-addr is taken and was not given, it takes a free one.\n" +
      "`rollcall up` is the same with more to set.",
    { call: "agentkeeper --addr=127.0.0.1:7070", does: "in memory" },
    { call: "agentkeeper --addr=:7070 --data-dir=state", does: "state kept on disk" },
    { call: "agentkeeper --addr=:7070 --trust=10.1.0.0/16", does: "for agents of that network" },
  ),
  parameters: { flags: settingFlags(FLAGS) },
  async func(flags) {
    const spoken = spokenFlags(flags);
    for (const name of ADDRESSES) {
      if (spoken[name]?.startsWith(":")) spoken[name] = `0.0.0.0${spoken[name]}`;
    }
    const settings = "data-dir" in spoken ? spoken : { ...spoken, memory: "true" };
    // Programs bring it along, each with a port for gRPC of its own and no word about HTTP.
    await serve(this, settings, { mayMoveHttp: true });
  },
});
