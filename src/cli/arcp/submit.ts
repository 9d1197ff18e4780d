/** `arcp submit`: one job, and the JSON of its result. */
import { buildCommand } from "@stricli/core";
import { isRecord } from "../../core/json-object.ts";
import type { LeaseShape } from "../../wires/arcp/client/types.ts";
import type { Context } from "../context.ts";
import { defaultFlag, requiredFlag } from "../flags.ts";
import { about } from "../help.ts";
import { resultPayload, tellFailure } from "./endings.ts";
import { connect, parseJsonFlag, runtimeFlags, type ArcpRuntimeFlags } from "./flags.ts";
import { pythonJson } from "./python-json.ts";

interface Flags extends ArcpRuntimeFlags {
  readonly agent: string;
  readonly input: { readonly value: unknown };
  readonly lease: LeaseShape;
}

export const submit = buildCommand<Flags, [], Context>({
  docs: about(
    "Submit a job, wait for its end and print the payload of its result as JSON. A job that " +
      "fails is one line on stderr, and 1. Ctrl-C cancels the job.",
    {
      call: `arcp submit --url ws://127.0.0.1:7777/arcp --token tok --agent echo`,
      does: "at the runtime of `arcp serve --token tok`",
    },
  ),
  parameters: {
    flags: {
      ...runtimeFlags,
      agent: requiredFlag("AGENT", "Who does it: NAME or NAME@VERSION"),
      input: defaultFlag("null", {
        placeholder: "JSON",
        brief: "What it gets",
        parse: (text) => ({ value: parseJsonFlag(text) }),
      }),
      lease: defaultFlag("{}", {
        placeholder: "JSON",
        brief: `What it may do: {"net.fetch": ["https://**"]}`,
        parse: parseLease,
      }),
    },
  },
  async func({ agent, input, lease, ...flags }) {
    const interrupted = this.untilInterrupted();
    const end = new AbortController();
    await using client = await connect(this, flags, end.signal);
    const job = await client.submit({ agent, input: input.value, lease });
    interrupted.addEventListener("abort", () => void job.cancel("interrupted"), { once: true });
    const ended = await job.ended;
    if (ended.status === "error") return await tellFailure(this, ended);
    await this.out.line(pythonJson(resultPayload(ended), 2));
  },
});

function parseLease(text: string): LeaseShape {
  const lease = parseJsonFlag(text);
  if (isRecord(lease) && Object.values(lease).every(isTexts)) return lease as LeaseShape;
  throw new Error('not a lease, such as {"net.fetch": ["https://**"]}');
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
