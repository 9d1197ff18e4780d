/**
 * The answers of the API as types, for the programs that read them.
 *
 * Things look as they do in events, with the same names and times in milliseconds, so that a
 * program that has read a list can keep it up to date from `GET /v1/events?from=SEQUENCE`. Of
 * several pages the sequence of the first counts: what a later page knew already comes again and
 * changes nothing.
 */
import type { AnswerOf } from "../../operations/table.ts";

export type LeaseRow = AnswerOf<"leases.get">["lease"];
export type ElectionRow = AnswerOf<"elections.list">["elections"][number];
export type TaskList = AnswerOf<"tasks.list">;
export type TaskRow = TaskList["tasks"][number];
export type TaskDetail = AnswerOf<"tasks.get">["task"];
export type FleetList = AnswerOf<"fleet.list">;
export type FleetRow = AnswerOf<"fleet.get">;
export type TimelineEvents = AnswerOf<"fleet.timeline">;
export type DirectoryList = AnswerOf<"directory.list">;
export type DirectoryRow = DirectoryList["entries"][number];
export type DirectoryDetail = AnswerOf<"directory.get">;
