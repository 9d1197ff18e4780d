/** Workers that share a queue, and never do the same thing twice. */
import type { Step } from "../player.ts";

export const WORKERS: Step = {
  title: "Workers, in Python",
  says:
    "Two workers use the AgentKeeper SDK, unchanged. They elect a leader, take tasks from a " +
    "queue, and hold a lease while they work, so that nobody does the same work twice.",
  needs: "workers",
  async play(stage) {
    const { scene } = stage;
    await stage.prompt("python test/tour/actors/worker.py scraper-1 &");
    await stage.prompt("python test/tour/actors/worker.py scraper-2 &");
    const [first] = await scene.workers();
    const task = "tasks create prices --input shop.example --tool browser --retries 3 --ttl 1h";
    await stage.command(task);
    const { token } = await first.works();
    const tasks = await stage.command("tasks");
    const leases = await stage.command("leases");
    const elections = await stage.command("elections");
    await stage.claim("scraper-1 works on it", /prices +claimed.*scraper-1/.test(tasks));
    await stage.claim(
      `it alone holds site:shop.example, with token ${token}`,
      /shop\.example.*scraper-1/.test(leases),
    );
    await stage.claim("and it leads", /scrapers.*scraper-1/.test(elections));
  },
};
