/** The daemon: what it says when it starts, and what is left of it after a `kill -9`. */
import { isDeepStrictEqual } from "node:util";
import type { Step } from "../player.ts";
import { storyOf } from "../story.ts";
import { until } from "../until.ts";

export const ONE_DAEMON: Step = {
  title: "One daemon",
  says:
    "Rollcall is one control plane for AI agents: it knows who is here, what each is doing, and " +
    "which one needs you. One program runs, and agents reach it by the protocols they already " +
    "speak. This one lives in a folder of its own, and goes when the tour ends.",
  async play(stage) {
    const { daemon } = stage.scene;
    await stage.prompt("rollcall up");
    await stage.print(daemon.announcement.trimEnd().split("\n"));
    await stage.scene.sees("indexer");
    const text = await stage.command("ls");
    const isAlone = text.includes("indexer") && text.trim().split("\n").length === 2;
    await stage.claim("it is up; so far it has one agent, which it runs itself", isAlone);
  },
};

export const A_CRASH: Step = {
  title: "The daemon is killed",
  says:
    "Now the daemon itself: no warning, no last words. What was acknowledged is on disk, and " +
    "everybody finds it again where it was: workers, the editor's agent, the job.",
  async play(stage) {
    const { scene } = stage;
    const before = await storyOf(scene);
    await stage.prompt(`kill -9 ${scene.daemon.pid}`);
    await scene.daemon.kill();
    await stage.prompt("rollcall up");
    await scene.daemon.restart();
    const job = await scene.job();
    await job.notes(/is restarted[^]*120/);
    const after = await until("the same story", async () => {
      const now = await storyOf(scene);
      if (isDeepStrictEqual(now, before)) return now;
      throw new Error(`${JSON.stringify(before)} became ${JSON.stringify(now)}`);
    });
    await stage.command("ls");
    await stage.note("and the command that follows the job, in the other window:");
    await stage.print(job.errors.trimEnd().split("\n").slice(3));
    await stage.claim(`the same ${after.rows.length} rows`, after.rows.length > 0);
    const { rows: _, ...kept } = after;
    const counts = Object.entries(kept).map(([what, lines]) => `${what} ${lines.length}`);
    await stage.claim(
      `and of all else as many: ${counts.join(", ")}`,
      after.questions.length === 2,
    );
  },
};
