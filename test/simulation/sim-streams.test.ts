import { describe, test } from "vitest";
import { storeConformance } from "../support/log/conformance.ts";
import { Process } from "./process.ts";
import { CALM_LOG } from "./profile.ts";
import { Random } from "./random.ts";
import { Scheduler } from "./scheduler.ts";
import { SimDisk } from "./sim-disk.ts";
import { simStore } from "./sim-streams.ts";
import { Transcript } from "./transcript.ts";

/** A disk that several processes share, in a world whose time goes by as fast as it can. */
function medium() {
  const scheduler = new Scheduler();
  const transcript = new Transcript(scheduler);
  const disk = new SimDisk(scheduler, transcript, true);
  const random = new Random(1);
  let isOver = false;
  const goesBy = async () => {
    while (!isOver) await scheduler.run(scheduler.nowMs + 1000);
  };
  void goesBy();
  const connect = () =>
    simStore({
      node: "n1",
      shared: true,
      disk,
      process: new Process(scheduler),
      scheduler,
      random: random.fork("log"),
      transcript,
      faults: () => CALM_LOG,
    });
  const remove = () => {
    isOver = true;
    return Promise.resolve();
  };
  return Promise.resolve({ connect, remove });
}

describe("the simulated store keeps the contract that all stores keep", () => {
  const cases = storeConformance({ medium, isDurable: true, isShared: true });
  test.each(cases)("%s", (_title, run) => run());
});
