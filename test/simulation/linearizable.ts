/**
 * Is there an order in which these operations could have happened one at a time, each at some
 * moment between its call and its return, that explains every answer? (Wing & Gong 1993, with the
 * memory of Lowe 2017: a set of operations done that led to the same state once is not tried
 * again.)
 *
 *   calls and returns, in order:   [a  [b  a]  [c  b]  c]
 *   try a first call before any return; its effect must explain its answer; take it out and go on.
 *   A return that is reached first means: undo the last choice and try the next.
 *
 * An operation whose outcome is unknown has no return: it may happen at any later time, or never.
 */

export interface Operation<Input> {
  readonly input: Input;
  /** In any unit that orders; what begins when another ends is concurrent with it. */
  readonly calledAt: number;
  /** Infinity when the outcome is unknown. */
  readonly returnedAt: number;
}

export interface Model<State, Input> {
  readonly initial: State;
  /** The state after it; undefined when it could not have had this answer here. */
  step(state: State, input: Input): State | undefined;
  /**
   * Equal for equal states. What only operations with a fixed place change may be left out: which
   * of them are done says it already.
   */
  key(state: State): string;
}

export type Verdict<Input> =
  | { readonly kind: "linearizable" }
  /** The longest explanation that was found, and what it cannot explain. */
  | {
      readonly kind: "not linearizable";
      readonly explained: readonly Input[];
      readonly stuck: Input;
    }
  | { readonly kind: "undecided" };

interface Link<Input> {
  readonly operation: Operation<Input>;
  readonly bit: bigint;
  readonly isCall: boolean;
  /** Of a call: its return, if it has one. */
  end: Link<Input> | undefined;
  previous: Link<Input> | undefined;
  next: Link<Input> | undefined;
}

interface Choice<State, Input> {
  readonly link: Link<Input>;
  readonly before: State;
}

/** How many steps to try before giving up. */
const MAX_TRIES = 200_000;

export function check<State, Input>(
  model: Model<State, Input>,
  operations: readonly Operation<Input>[],
  maxTries = MAX_TRIES,
): Verdict<Input> {
  const head = linked(operations);
  const seen = new Set<string>();
  const choices: Choice<State, Input>[] = [];
  let deepest: readonly Input[] = [];
  let stuck: Input | undefined;
  let state = model.initial;
  let done = 0n;
  let link = head.next;
  for (let tries = 0; link; tries += 1) {
    if (tries >= maxTries) return { kind: "undecided" };
    if (link.isCall) {
      const next = stepped(model, state, link);
      const now = done | link.bit;
      const key = next === undefined ? "" : `${now.toString(36)} ${model.key(next)}`;
      if (next === undefined || seen.has(key)) {
        link = link.next;
        continue;
      }
      seen.add(key);
      choices.push({ link, before: state });
      state = next;
      done = now;
      takeOut(link);
      link = head.next;
      continue;
    }
    if (stuck === undefined || choices.length > deepest.length) {
      deepest = choices.map((choice) => choice.link.operation.input);
      stuck = link.operation.input;
    }
    const choice = choices.pop();
    if (!choice) return { kind: "not linearizable", explained: deepest, stuck };
    state = choice.before;
    done &= ~choice.link.bit;
    putBack(choice.link);
    link = choice.link.next;
  }
  return { kind: "linearizable" };
}

/** What is unknown and changes nothing may as well never happen. */
function stepped<State, Input>(
  model: Model<State, Input>,
  state: State,
  { operation, end }: Link<Input>,
): State | undefined {
  const next = model.step(state, operation.input);
  if (next === undefined || end) return next;
  return model.key(next) === model.key(state) ? undefined : next;
}

/** A list of all calls and returns in order; at the same moment calls come first. */
function linked<Input>(operations: readonly Operation<Input>[]): Link<Input> {
  const links: { readonly at: number; readonly link: Link<Input> }[] = [];
  operations.forEach((operation, index) => {
    const bit = 1n << BigInt(index);
    const nowhere = { end: undefined, previous: undefined, next: undefined };
    const end: Link<Input> = { operation, bit, isCall: false, ...nowhere };
    const isKnown = operation.returnedAt < Infinity;
    const call: Link<Input> = { operation, bit, isCall: true, ...nowhere };
    if (isKnown) call.end = end;
    links.push({ at: operation.calledAt, link: call });
    if (isKnown) links.push({ at: operation.returnedAt, link: end });
  });
  links.sort((a, b) => a.at - b.at || Number(b.link.isCall) - Number(a.link.isCall));
  const [first] = operations;
  const head: Link<Input> = {
    operation: first ?? { input: undefined as Input, calledAt: 0, returnedAt: 0 },
    bit: 0n,
    isCall: false,
    end: undefined,
    previous: undefined,
    next: undefined,
  };
  let last = head;
  for (const { link } of links) {
    last.next = link;
    link.previous = last;
    last = link;
  }
  return head;
}

function takeOut<Input>(call: Link<Input>): void {
  for (const link of [call, call.end]) {
    if (!link) continue;
    if (link.previous) link.previous.next = link.next;
    if (link.next) link.next.previous = link.previous;
  }
}

/** In the reverse order, so that each finds its neighbours as it left them. */
function putBack<Input>(call: Link<Input>): void {
  for (const link of [call.end, call]) {
    if (!link) continue;
    if (link.previous) link.previous.next = link;
    if (link.next) link.next.previous = link;
  }
}
