/** Journals of random histories, as watchers read them. */
import fc from 'fast-check';
import type { BareWorld, Frame } from '../histories/bare-world.js';
import { anyHistory, type History } from '../histories/happenings.js';
import { playHistory } from '../histories/play-history.js';
import type { Journal } from './recorded-world.js';
import type { Sample } from './resume-law.js';

/** A history, what is added to it, and which places are tried. */
export interface WatchedHistory {
  readonly history: History;
  readonly toolset: boolean;
  /** The happenings before which a running tool asks a person. */
  readonly asks: readonly number[];
  /** Which of its places are tried, as numbers that are taken modulo how many there are. */
  readonly places: readonly number[];
}

/** Any history with children, people, toolsets and compaction in it. */
export const anyWatchedHistory: fc.Arbitrary<WatchedHistory> = fc.record({
  history: anyHistory,
  toolset: fc.boolean(),
  asks: fc.uniqueArray(fc.nat(60), { maxLength: 20 }),
  places: fc.array(fc.nat(10_000), { minLength: 3, maxLength: 6 }),
});

/** Plays a history. */
export async function journalOf({ history, toolset, asks }: WatchedHistory): Promise<Journal> {
  const frames: Frame[] = [];
  let played: BareWorld | undefined;
  const onFrame = (frame: Frame, world: BareWorld): void => {
    frames.push(frame);
    played = world;
  };
  await playHistory(history, false, { onFrame, toolset, asks });
  return { frames, content: (hex) => played?.content(hex) };
}

/** The places that a history says are tried. */
export function sampled({ places }: WatchedHistory): Sample {
  return (cursors) => places.flatMap((place) => cursors[place % Math.max(1, cursors.length)] ?? []);
}
