import { expect, test } from "vitest";
import { packCommit, unpackCommit } from "./packing.ts";
import type { Commit } from "./protocol.ts";

const COMMITS: readonly Commit[] = [
  { appends: [], forgets: [{ stream: "a", through: undefined }] },
  { appends: [{ batch: { entries: [], streams: [] }, expectedHead: 7 }], forgets: [] },
  {
    appends: [
      { batch: { entries: ["one", ""], streams: [] }, expectedHead: 0 },
      {
        batch: {
          entries: [],
          streams: [
            { stream: "job/1", entries: ["", "x"] },
            { stream: "a\nb", entries: ["é"], expectedHead: 0 },
            { stream: "empty", entries: [] },
          ],
        },
        expectedHead: undefined,
      },
      { batch: { entries: ["last"], streams: [] }, expectedHead: 2 },
    ],
    forgets: [{ stream: "b", through: 3 }],
  },
];

test.each(COMMITS.map((commit) => [commit]))("a commit arrives as it was sent", (commit) => {
  expect(unpackCommit(structuredClone(packCommit(commit)))).toEqual(commit);
});
