/** Agents that others can call: what they say of themselves, and how far it is believed. */
import type { Step } from "../player.ts";

export const A_NEIGHBOUR: Step = {
  title: "An agent on the network",
  says:
    "A2A agents publish a card: who they are, what they are good at. Anybody can claim that, so " +
    "Rollcall fetches the card from the agent itself before others see it. Then it is found by " +
    "what it can do, in plain words.",
  async play(stage) {
    const { scene } = stage;
    await stage.prompt("node test/tour/actors/translator.mjs &");
    const { url } = await scene.translator();
    const listed = await stage.command("directory");
    const found = await stage.command('directory search "put our product pages into French"');
    await stage.claim("its card is its own", /Translator +owner/.test(listed));
    await stage.claim("and it is found by what it can do", found.includes(url));
  },
};
