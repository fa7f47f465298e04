/** `reprise move`: moves a world between a file and a database, and compares every byte. */
import { resolve } from 'node:path';
import { moveWorld } from '@reprise/kernel';
import type { Io } from '../process/io.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import { isDatabase, storeAt } from '../world/place.js';

interface MoveArguments {
  readonly json?: true;
}

/** Moves a world, and prints where it is now and its head. */
export async function move(io: Io, world: string, to: string, { json }: MoveArguments): Promise<void> {
  const { head, blobs } = await moveWorld(storeAt(whole(world)), storeAt(whole(to)));
  const digest = `sha256:${head.digest}`;
  if (json === true) return io.out.write(`${toJson({ ok: true, to, head: digest, seq: head.seq, blobs })}\n`);
  const lines = [
    `${to}: the world that was in ${world}, every byte compared`,
    `${head.seq + 1} frames, ${blobs} blobs`,
    `head ${digest}`,
    `${world} can still be read, and is refused by programs that would use it`,
  ];
  await io.out.write(`${lines.map(escapeLine).join('\n')}\n`);
}

/** The note in the store that is left names the other one: a path in it must not depend on a folder. */
function whole(place: string): string {
  return isDatabase(place) ? place : resolve(place);
}
