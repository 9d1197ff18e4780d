/** Tells people when a row starts to need them; what was asked before the start was told then. */
import { invalidArgument } from "../core/errors.ts";
import type { Clock } from "../core/clock.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { Row } from "../fleet/row.ts";
import type { FleetChange } from "../fleet/changes.ts";
import { ANY } from "../fleet/filters.ts";
import {
  commandChannel,
  desktopChannel,
  terminalChannel,
  webhookChannel,
  type NoticeChannel,
} from "../notify/channels.ts";
import type { Need } from "../notify/notice.ts";
import { Notifier } from "../notify/notifier.ts";

export interface NotifyConfig {
  readonly terminal: "off" | "bell" | "osc9";
  readonly desktop: boolean;
  /** A program and its arguments; empty for none. */
  readonly command: readonly string[];
  /** It may hold a secret, so that what prints a config must not find it. */
  readonly webhook: () => string | undefined;
  /** Folders of which nothing is told. */
  readonly mutes: readonly string[];
}

export interface NotificationsOptions {
  readonly config: NotifyConfig;
  readonly fleet: Pick<Fleet, "changes">;
  readonly clock: Clock;
  readonly onTrouble: (what: string, error: unknown) => void;
  /** Of several nodes with one fleet only the one that leads tells people; alone it is this one. */
  readonly isTeller?: () => boolean;
  /** The ways there are; a test has its own. */
  readonly channels?: readonly NoticeChannel[];
}

export class Notifications {
  readonly #options: NotificationsOptions;
  readonly #notifier: Notifier;
  readonly #abort = new AbortController();
  readonly #following: Promise<void>;

  constructor(options: NotificationsOptions) {
    this.#options = options;
    const { config, clock, onTrouble } = options;
    const channels = options.channels ?? channelsOf(config);
    this.#notifier = new Notifier({
      channels,
      mutes: config.mutes,
      clock,
      onError: (error, channel) => onTrouble(`a notification by ${channel} failed`, error),
    });
    this.#following = channels.length === 0 ? Promise.resolve() : this.#follow();
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#following;
    await this.#notifier.close();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#abort;
    const first = { ...ANY, needs: "me" } as const;
    let isFirst = true;
    try {
      for await (const change of this.#options.fleet.changes({ signal, first })) {
        this.#tell(change, isFirst);
        isFirst &&= !change.isComplete;
      }
    } catch (error) {
      this.#options.onTrouble("notifications have stopped", error);
    }
  }

  #tell({ kind, rows, gone }: FleetChange, isFirst: boolean): void {
    const { isTeller = () => true } = this.#options;
    for (const id of gone) this.#notifier.settled(id);
    for (const row of rows) {
      const need = needOf(row);
      const isTold = !isTeller() || (isFirst && kind !== "change");
      if (need && isTold) this.#notifier.wasTold(need);
      else if (need) this.#notifier.needs(need);
      // An agent that fell silent still has its question.
      else if (!row.blockedOn) this.#notifier.settled(row.id);
    }
  }
}

function needOf({ id, headline, blockedOn, workspace }: Row): Need | undefined {
  if (headline !== "NEEDS YOU" || !blockedOn) return undefined;
  const { kind, text, sinceMs } = blockedOn.value;
  return {
    agentId: id,
    reason: kind,
    question: text,
    sinceMs,
    ...(workspace !== null && { workspace }),
  };
}

function channelsOf({ terminal, desktop, command, webhook }: NotifyConfig): NoticeChannel[] {
  const channels: NoticeChannel[] = [];
  if (terminal !== "off") channels.push(terminalChannel(process.stderr, terminal));
  if (desktop) channels.push(desktopChannel());
  if (command.length > 0) channels.push(commandChannel(command));
  const address = webhook();
  if (address !== undefined) {
    try {
      channels.push(webhookChannel(address));
    } catch (cause) {
      const message = "notify-webhook is no http:// or https:// address";
      throw invalidArgument(message, cause);
    }
  }
  return channels;
}
