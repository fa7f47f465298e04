/** Mode `tamper`: every frame and blob of a case's world, damaged in every way that the tamper suite knows. */
import type { ReadonlyStore } from '@reprise/kernel';
import { load } from '../tamper/sample.js';
import { flippedFrames, movedFrames, type Trial, tamperedBlobs } from '../tamper/trials.js';

/** The damage to the world of a case. */
export async function tamperings(store: ReadonlyStore, flips: number, random: () => number): Promise<Trial[]> {
  const sample = await load(store);
  return [...flippedFrames(sample, flips, random), ...movedFrames(sample), ...tamperedBlobs(sample, flips, random)];
}

/** So many of them, as chance has it, at least one of a bit, of an order and of content. */
export function someOf(trials: readonly Trial[], count: number, random: () => number): Trial[] {
  const pick = (from: readonly Trial[]): Trial[] => from.slice(Math.floor(random() * from.length)).slice(0, 1);
  const kinds = [/: byte /, /^frame \d+: (?!byte)/, /^blob /].map((kind) =>
    trials.filter(({ what }) => kind.test(what)),
  );
  const first = kinds.flatMap(pick);
  return [...first, ...Array.from({ length: count - first.length }, () => pick(trials)).flat()];
}
