/** `arcp --version`, in the form of the SDK's own, and the protocol it speaks. */
import { buildCommand } from "@stricli/core";
import { releaseVersion } from "../../daemon/version.ts";
import type { Context } from "../context.ts";
import { about } from "../help.ts";

export const version = buildCommand<object, [], Context>({
  docs: about("Say which version this is."),
  parameters: {},
  async func() {
    await this.out.line(`arcp, version ${releaseVersion()} (rollcall, ARCP 1.1)`);
  },
});
