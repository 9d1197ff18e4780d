/** Agents that write code: in a terminal, with hooks; in an editor, behind the proxy. */
import type { Step } from "../player.ts";

export const A_CODING_AGENT: Step = {
  title: "A coding agent, in a terminal",
  says:
    "Claude Code runs a hook at each of its steps; `rollcall hooks install claude-code` makes " +
    "that ours. Here is a session that wants to run a command, and waits for a person.",
  async play(stage) {
    const { scene } = stage;
    const event = '{"hook_event_name":"PermissionRequest","tool_name":"Bash",…}';
    await stage.prompt(`echo '${event}' | rollcall hook claude-code`);
    await scene.claude();
    const row = await scene.sees("claude-code", ({ headline }) => headline === "NEEDS YOU");
    await stage.command("ls");
    await stage.claim(
      `it needs you, and says why: ${row.why}`,
      row.why.includes("npm run migrate"),
    );
  },
};

export const AN_EDITOR: Step = {
  title: "An agent, in an editor",
  says:
    "Editors speak ACP with their agents. Put `rollcall acp --` before the agent's command: " +
    "every byte passes as it was, and what the agent does is seen. This one also has hooks, and " +
    "has registered to take tasks. Three wires, and still one agent.",
  async play(stage) {
    const { scene } = stage;
    await stage.prompt("rollcall acp -- node test/tour/actors/pair.mjs");
    await scene.editor();
    const row = await scene.sees("pair", ({ aliases, headline }) => {
      return aliases.length === 4 && headline === "NEEDS YOU";
    });
    await stage.command("ls");
    const wires = row.aliases.map((alias) => alias.replace(/[:@].*/, ""));
    const rows = (await scene.rows()).filter(({ name }) => name === "pair");
    await stage.claim(`one row, though it has four names: ${wires.join(", ")}`, rows.length === 1);
    await stage.claim(`it asks whether it may: ${row.why}`, row.why === "Write src/basket.ts");
  },
};

export const WHY: Step = {
  title: "Why does it say so?",
  says:
    "Nothing in a row is a guess: every value keeps who said it, by which rule, and when. Who is " +
    "closest to the agent is believed first, and what nobody said is shown as unknown.",
  async play(stage) {
    const text = await stage.command("explain pair");
    await stage.claim(
      "its editor's own frames say what it does",
      // The rule is cut where the terminal has no room for all of it.
      /activity.*derived from its/.test(text),
    );
  },
};
