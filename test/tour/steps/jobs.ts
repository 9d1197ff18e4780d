/** Jobs: work for an agent, with what it may do and spend, and a stream of what it says. */
import type { Step } from "../player.ts";

export const A_JOB: Step = {
  title: "A job",
  says:
    "A job runs on an agent, over ARCP. Its client may come and go: all it says is kept, and " +
    "told once. This one reads the project, and takes its time. It nests in the row of its " +
    "agent.",
  async play(stage) {
    const { scene } = stage;
    await stage.prompt("rollcall run indexer shop --follow");
    const job = await scene.job();
    await scene.sees("indexer", ({ jobs }) => jobs?.newest[0]?.id === job.id);
    await stage.print(job.errors.trimEnd().split("\n"));
    const jobs = await stage.command("jobs");
    await stage.claim("it runs, and goes on in another window", /indexer +running/.test(jobs));
  },
};
