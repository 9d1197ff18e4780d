/** A worker is killed: what it held is free, and the same is told everywhere. */
import { Model } from "../cast/model.ts";
import { clean } from "../../../src/cli/terminal/clean.ts";
import type { Step } from "../player.ts";

const TOPICS = ["agent.", "lease.", "leader.", "task."];
const ABOUT = TOPICS.map((topic) => `--topic ${topic}`).join(" ");

export const A_DEATH: Step = {
  title: "A worker is killed",
  says:
    "scraper-1 dies at its work, without a word. It asked to be missed after three seconds of " +
    "silence, and counts as dead after three more. Then, in one step: its lease is free, its " +
    "candidacy over, its task back in the queue.",
  needs: "workers",
  async play(stage) {
    const { scene } = stage;
    const [first, second] = await scene.workers();
    // From the beginning, because names are told when agents come.
    const words = ["events", "--from", "0", ...ABOUT.split(" ")];
    const events = scene.follow(words, stage.look);
    await stage.prompt(`kill -9 ${first.pid}`);
    await first.kill();
    await stage.prompt(`rollcall events ${ABOUT}`);
    const told = await stage.stream(
      events,
      /agent\.unreachable +scraper-1/,
      /lease\.acquired.*scraper-2/,
    );
    const { token } = await second.works();
    await events.close();
    const isFree = /lease\.released.*shop\.example/.test(told) && /task\.requeued/.test(told);
    await stage.claim("all that it held is free", isFree);
    await stage.claim(
      `scraper-2 leads, and works on the task, with a token that is higher: ${token}`,
      /leader\.changed.*scraper-2.*leads/.test(told) && token > 2,
    );
  },
};

export const ONE_STORY: Step = {
  title: "One story, told everywhere",
  says:
    "The list, the line for your status bar, the leases, and the resource that a model reads " +
    "over MCP: one engine is behind all of them, so they cannot disagree.",
  needs: "workers",
  async play(stage) {
    const { scene } = stage;
    const list = await stage.command("ls");
    const line = await stage.command("ls --oneline");
    const leases = await stage.command("leases");
    await using model = await Model.connect(scene.place);
    const { counts, agents } = await model.fleet();
    await stage.prompt("rollcall mcp   # a model reads rollcall://fleet");
    const shown = agents.filter(({ name }) => name.startsWith("scraper"));
    await stage.print(
      shown.map(({ name, headline, why }) => clean(`${name}: ${headline}, ${why}`)),
    );
    const isDead = /PROBLEM.*scraper-1.*heartbeats stopped/;
    await stage.claim(
      "all say: scraper-1 is a problem, scraper-2 works",
      isDead.test(list) &&
        line.includes("1 problem") &&
        counts["PROBLEM"] === 1 &&
        /shop\.example.*scraper-2/.test(leases) &&
        shown.some(({ name, headline }) => name === "scraper-2" && headline === "WORKING"),
    );
  },
};
