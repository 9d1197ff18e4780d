/** The agent of the members under test: it takes a moment, and says what it was given. */
import { ArcpRuntime, processTransport, staticTokens } from "../../dist/lib/arcp.js";

const { ARCP_TOKEN = "" } = process.env;

const runtime = new ArcpRuntime({
  runtime: { name: "echo", version: "1.0.0" },
  bearer: staticTokens({ [ARCP_TOKEN]: "daemon" }),
});
runtime.registerAgent("echo", async (input, job) => {
  await job.log("info", "here");
  return { echoed: input };
});
runtime.accept(processTransport());
