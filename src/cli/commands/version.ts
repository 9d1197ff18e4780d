/** `rollcall version`: what to name in a bug report, in one line. */
import { buildCommand } from "@stricli/core";
import type { Context } from "../context.ts";
import { jsonFlag } from "../flags.ts";
import { about } from "../help.ts";
import { releaseVersion } from "../../daemon/version.ts";

interface Flags {
  readonly json?: boolean;
}

export const version = buildCommand<Flags, [], Context>({
  docs: about("Say which version this is, and what it runs on.", {
    call: "rollcall version --json",
    does: "for a bug report or a script",
  }),
  parameters: { flags: { json: jsonFlag } },
  async func({ json }) {
    const { version: node, platform, arch } = process;
    const rollcall = releaseVersion();
    await this.out.line(
      json
        ? JSON.stringify({ rollcall, node: node.slice(1), platform, arch })
        : `rollcall ${rollcall} (node ${node.slice(1)}, ${platform} ${arch})`,
    );
  },
});
