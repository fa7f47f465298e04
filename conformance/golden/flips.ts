/** A changed byte of a stored golden world: the check and a verification each have to find it. */
import assert from 'node:assert/strict';
import type { Part } from './parts.js';
import { changesOf, type Kept, replayKept } from './stored.js';

/** A changed byte, and the part of the file that it lies in. */
export interface Flip {
  readonly at: number;
  /** Another value for the byte. */
  readonly xor: number;
  readonly part: Part;
}

/** A stored world with a changed byte. */
export function flip(kept: Kept, { at, xor }: Pick<Flip, 'at' | 'xor'>): Kept {
  const world = new Uint8Array(kept.world);
  world[at] = (world[at] ?? 0) ^ xor;
  return { ...kept, world };
}

/** Checks that the check finds a changed byte: it names the file, and the frame with its record, or the blob. */
export function expectNamed(kept: Kept, given: Flip): void {
  const { part } = given;
  assert.deepEqual(changesOf(flip(kept, given)), [
    `${kept.folder}/${kept.golden.name}.world: ${part.name} is not what was kept (bytes ${part.from} to ${part.to - 1})`,
  ]);
}

/** Checks that a verification of the world alone refuses it, and names the frame or the blob. */
export async function expectRefused(kept: Kept, given: Flip): Promise<void> {
  const said = await replayKept(flip(kept, given));
  const what = `${kept.golden.name}.world, byte ${given.at} ^ ${given.xor}, in ${given.part.name}`;
  assert.ok('refusal' in said, `${what}: nobody minds`);
  const [, seq] = /^frame (\d+), (?:record|its armed)/.exec(given.part.name) ?? [];
  if (seq !== undefined) assert.match(said.refusal, new RegExp(`\\bframe ${seq}\\b`), what);
}
