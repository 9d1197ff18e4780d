/** The fleet as a whole: everybody at once, as it was, and how it goes on. */
import { timeOfDay } from "../../../src/cli/terminal/time.ts";
import type { Step } from "../player.ts";
import { storyOf } from "../story.ts";

/** Names, however many rows each has. */
function isEverybodyHere(names: readonly string[], hasWorkers: boolean): boolean {
  const wanted = ["claude-code", "pair", "Translator", "indexer"];
  const workers = hasWorkers ? ["scraper-1", "scraper-2"] : [];
  return [...wanted, ...workers].every((name) => names.includes(name));
}

/** After its last heartbeat (6 s before its death), and before it was missed (3 s before). */
const BEFORE_DEATH_MS = 5_000;

export const EVERYBODY: Step = {
  title: "Everybody, in one list",
  says:
    "Five protocols, one list. Who needs you comes first; `--watch` keeps it live, " +
    "and the one line goes into a status bar.",
  async play(stage) {
    const { scene } = stage;
    await stage.command("ls");
    await stage.command("inbox");
    const line = await stage.command("ls --oneline");
    const names = (await scene.rows()).map(({ name }) => name);
    await stage.claim("everybody is here", isEverybodyHere(names, scene.hasWorkers));
    await stage.claim("two of them need you", line.includes("2 need you"));
  },
};

export const LOOKING_BACK: Step = {
  title: "Looking back",
  says:
    "The log has it all, also from before the daemon was killed: `rollcall at` shows the fleet " +
    "as it was, `rollcall timeline scraper-1` what became of that one.",
  needs: "workers",
  async play(stage) {
    const { liveness } = await stage.scene.sees("scraper-1");
    const time = timeOfDay(liveness.evidence.reportedAtMs - BEFORE_DEATH_MS).slice(0, 8);
    const then = await stage.command(`at ${time} ls`);
    await stage.claim("then, scraper-1 was at work", /WORKING.*scraper-1/.test(then));
  },
};

export const THE_END: Step = {
  title: "You answer, and they go on",
  says:
    "You say yes in the terminal and in the editor; the worker and the job finish what they had, " +
    "under the very claims they held before the daemon died.",
  async play(stage) {
    const { scene } = stage;
    const [claude, editor, job] = [await scene.claude(), await scene.editor(), await scene.job()];
    await Promise.all([claude.finish(), editor.allow()]);
    await scene.sees("pair", ({ headline }) => headline === "WORKING");
    await editor.finish();
    if (scene.hasWorkers) await (await scene.workers())[1].finish();
    const result = await job.finish();
    await scene.sees("pair", ({ headline }) => headline === "IDLE");
    await scene.sees("claude-code", ({ headline }) => headline === "IDLE");
    await stage.command("inbox --all");
    await stage.command("ls");
    await stage.claim(`the job's result: ${result}`, result.includes("400 files"));
    const { questions } = await storyOf(scene);
    await stage.claim("nobody waits for you", questions.length === 0);
    await stage.print([]);
    await stage.say(
      "That is Rollcall. `npm start` runs it for you, `rollcall hooks install claude-code` and " +
        "`rollcall acp install zed` bring your own agents in, and README.md has the rest.",
    );
  },
};
