/** `reprise backup`: copies a world that may be open, and verifies the copy. */
import { sqlite } from '@reprise/store-sqlite';
import type { Io } from '../io.js';
import { withWorld } from '../open.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';

/** The options of `backup`. */
interface BackupArguments {
  readonly json?: true;
}

/** Copies a world to a path that does not exist yet, and prints the head of the copy. */
export async function backup(io: Io, world: string, to: string, { json }: BackupArguments): Promise<void> {
  const { path, head, blobs } = await withWorld(world, () => sqlite(world).backup(to));
  const digest = `sha256:${head.digest}`;
  if (json === true) return io.out.write(`${toJson({ ok: true, path, head: digest, seq: head.seq, blobs })}\n`);
  const lines = [
    `${path}: a copy of ${world}, verified without its app`,
    `${head.seq + 1} frames, ${blobs} blobs`,
    `head ${digest}`,
  ];
  await io.out.write(`${lines.map(escapeLine).join('\n')}\n`);
}
