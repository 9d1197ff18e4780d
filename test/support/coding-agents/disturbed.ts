/** What is told of a session, with what can go wrong on the way. */
import * as fc from "fast-check";

/** Up to some moment: of ten events one is lost, one comes twice and one after its successor. */
export function disturbed(cues: readonly string[]): fc.Arbitrary<readonly string[]> {
  const fates = fc.array(fc.nat({ max: 9 }), { maxLength: cues.length, size: "max" });
  return fates.map((chosen) => {
    const told: string[] = [];
    let held: string | undefined;
    for (const [i, fate] of chosen.entries()) {
      const cue = cues[i] ?? "";
      if (fate === 0) continue;
      if (fate === 1) {
        held = cue;
        continue;
      }
      told.push(cue, ...(fate === 2 ? [cue] : []), ...(held === undefined ? [] : [held]));
      held = undefined;
    }
    return told;
  });
}
