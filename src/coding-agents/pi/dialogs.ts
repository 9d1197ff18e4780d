/**
 * The dialogs of Pi: any extension opens one with a function of `ctx.ui`, an object that all
 * extensions share. Standing in for these functions shows each dialog with its options; what they
 * are given and what they return stays as it is.
 */
import { field, wordOf } from "../../core/text.ts";
import { TEXT } from "../hooks/limits.ts";
import { optionsOf, type HookQuestion } from "../hooks/question.ts";

const KINDS = ["select", "confirm", "input", "editor", "custom"] as const;

type DialogKind = (typeof KINDS)[number];
type OpenDialog = (this: unknown, ...words: readonly unknown[]) => unknown;

export type PiUi = { [Kind in DialogKind]?: OpenDialog };

export interface DialogObserver {
  readonly opened: (id: string, question: HookQuestion) => void;
  readonly closed: (id: string) => void;
}

/** Observes from now on, until what it returns is called. */
export function observeDialogs(ui: PiUi, observer: DialogObserver): () => void {
  let opened = 0;
  const restores = KINDS.map((kind) => {
    const open = ui[kind];
    if (!open) return () => undefined;
    const observed: OpenDialog = function (...words) {
      const id = `dialog-${(opened += 1)}`;
      const [title, more] = words;
      observer.opened(id, dialogQuestion(kind, title, more));
      const close = () => observer.closed(id);
      try {
        const answer = Reflect.apply(open, this, words);
        void Promise.resolve(answer).then(close, close);
        return answer;
      } catch (error) {
        close();
        throw error;
      }
    };
    ui[kind] = observed;
    return () => {
      // Another extension may stand in for ours by now.
      if (ui[kind] === observed) ui[kind] = open;
    };
  });
  return () => restores.forEach((restore) => restore());
}

/** The second word of a dialog is its options (select) or its message (confirm). */
export function dialogQuestion(kind: unknown, title: unknown, more?: unknown): HookQuestion {
  const asked = wordOf(title, TEXT.questionLength);
  const text = asked ?? "an extension has a dialog open";
  switch (kind) {
    case "confirm": {
      const message = wordOf(more, TEXT.questionLength);
      const whole = [asked, message].filter(Boolean).join(": ");
      return { kind: "permission", text: whole || text, options: ["yes", "no"] };
    }
    case "select": {
      const options = optionsOf(more);
      return { kind: "choice", text, ...(options.length > 0 && { options }) };
    }
    default:
      return { kind: "text", text };
  }
}

/** `ctx.ui` of a Pi that has a person in front of it. */
export function uiOf(context: unknown): PiUi | undefined {
  if (field(context, "hasUI") === false) return undefined;
  // It is a getter, and not always the context's own.
  const { ui } = context as { readonly ui?: PiUi };
  return ui;
}
