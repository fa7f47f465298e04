/** What a broken build is judged by: random histories of stores that pack, one after the other in one process. */
import fc from 'fast-check';
import { histories, run, type Step } from './packing-law.js';

const SEED = 20_261_127;
const HISTORIES = 3;

/** Frames of one size, read from one pack and from another: rows of equal sizes with other bytes. */
const EQUAL: readonly Step[] = [
  ...Array<Step>(40).fill({ do: 'append', sizes: Array<number>(8).fill(4_000), blobs: [] }),
  ...Array.from({ length: 40 }, (_, n): Step => ({ do: 'read', from: (n * 83) % 320, length: 2 })),
];

/** Runs histories whose stores make packs. @throws Error when a frame or a blob is not what was stored */
export async function holdPacks(): Promise<void> {
  const made = { frames: 0, blobs: 0 };
  for (const history of [EQUAL, ...fc.sample(histories, { seed: SEED, numRuns: HISTORIES })]) {
    const { frames, blobs } = await run(history);
    made.frames += frames;
    made.blobs += blobs;
  }
  if (made.frames < 2 || made.blobs < 2) throw new Error(`"too few packs: ${JSON.stringify(made)}`);
}
