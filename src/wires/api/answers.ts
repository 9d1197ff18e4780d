/**
 * What the API answers with, as types: for the routes that make it and the programs that read it.
 *
 * Things look as they do in events, with the same names and times in milliseconds, so that whoever
 * has read a list can keep it up to date from `GET /v1/events?from=SEQUENCE`. Of several pages the
 * sequence of the first counts: what a later page knew already comes again and changes nothing.
 * Names of agents are beside their ids for people to read.
 */
import type { Agent } from "../../core/agents.ts";
import type { Election } from "../../core/elections.ts";
import type { CardDiff } from "../../directory/cards/diff.ts";
import type { DirectoryEntry } from "../../core/directory.ts";
import type { Lease } from "../../core/leases.ts";
import type { Policy, Verdict } from "../../core/policies.ts";
import type { Task } from "../../core/tasks.ts";
import type { Counts } from "../../fleet/census.ts";
import type { Row } from "../../fleet/row.ts";

interface Listed {
  /** Of the last event that the list knows of. */
  readonly sequence: number;
  /** How many there are on all pages together. */
  readonly total: number;
  /** Where the next page begins; absent on the last one. */
  readonly cursor?: string;
}

export interface AgentList extends Listed {
  readonly agents: readonly Agent[];
}

export interface LeaseRow extends Lease {
  /** What its holder is called; empty when that is no longer known. */
  readonly holderName: string;
}

/** A group in a list: its candidates may be thousands. */
export interface ElectionRow extends Election {
  readonly leaderName: string;
  readonly candidateCount: number;
}

/** A group alone: its candidates in order of joining. */
export interface ElectionDetail extends ElectionRow {
  readonly candidates: readonly string[];
}

export interface PolicyVerdict extends Omit<Verdict, "policy"> {
  /** The policy that decided; null when nothing matched. */
  readonly policy: Policy | null;
  readonly sequence: number;
}

/** A task in a list: what goes in and comes out may be megabytes. */
export interface TaskRow extends Omit<Task, "input" | "output"> {
  readonly claimedByName: string;
  readonly inputBytes: number;
  readonly outputBytes: number;
}

export interface TaskList extends Listed {
  readonly tasks: readonly TaskRow[];
}

/** A task alone: bytes as base64, and as text where they are text. */
export interface TaskDetail extends Task {
  /** When it was asked for by its id. */
  readonly claimedByName?: string;
  readonly inputText?: string;
  readonly outputText?: string;
}

export interface FleetList extends Listed {
  /** Of which moment it is. */
  readonly atMs: number;
  /** Of all agents, also of those that are not shown. */
  readonly counts: Counts;
  /** What needs a person first. */
  readonly rows: readonly Row[];
}

export interface FleetRow {
  readonly sequence: number;
  readonly atMs: number;
  readonly row: Row;
}

export interface TimelineEvents {
  readonly sequence: number;
  /** Whose it is. */
  readonly id: string;
  /** As the event stream tells them, the oldest first. */
  readonly events: readonly (Readonly<Record<string, unknown>> & {
    readonly sequence: number;
    readonly topic: string;
    readonly at: string;
  })[];
}

/** An agent of the directory in a list; its prose is clean. */
export interface DirectoryRow extends Omit<DirectoryEntry, "card" | "waiting" | "proof" | "heard"> {
  readonly name: string;
  readonly description: string;
  readonly skills: readonly {
    readonly id: string;
    readonly name: string;
    readonly tags: readonly string[];
  }[];
  /** By which key its card is signed, or why that is not believed; empty where it is not. */
  readonly signature: string;
  /** Its card was fetched: others see it. */
  readonly isServed: boolean;
  /** It says something else of itself, which is not verified yet. */
  readonly isChanging: boolean;
}

export interface DirectoryList extends Listed {
  readonly entries: readonly DirectoryRow[];
}

export interface DirectoryDetail {
  readonly sequence: number;
  readonly entry: DirectoryRow;
  /** What the change that waits would change. */
  readonly diff: CardDiff | null;
  /** What is served, and what waits, as their authors wrote them. */
  readonly card: unknown;
  readonly waiting: unknown;
}
