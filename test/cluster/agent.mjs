/** The agents of the members under test: they take the time they are told, and say their input. */
// tidy-allow sleep: an agent at work takes its time
import { setTimeout as pause } from "node:timers/promises";
import { ArcpRuntime, processTransport, staticTokens } from "../../dist/lib/arcp.js";

const { ARCP_TOKEN = "" } = process.env;

const runtime = new ArcpRuntime({
  runtime: { name: "echo", version: "1.0.0" },
  bearer: staticTokens({ [ARCP_TOKEN]: "daemon" }),
});
for (const name of ["echo", "steady"]) {
  runtime.registerAgent(name, async (input, job) => {
    await job.log("info", "here");
    const { ms = 0 } = /** @type {{ ms?: number }} */ (input);
    // Without its daemon there is nobody to work for: the process ends.
    await pause(ms, undefined, { ref: false });
    return { echoed: input };
  });
}
runtime.accept(processTransport());
