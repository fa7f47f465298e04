/** `reprise backup`: copies a world that may be open, and verifies the copy. */
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RepriseError } from '@reprise/contracts';
import { sqlite } from '@reprise/store-sqlite';
import type { Io } from '../process/io.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import { withWorld } from '../world/open.js';
import { isDatabase, requireFile } from '../world/place.js';

interface BackupArguments {
  readonly json?: true;
}

/** Copies a world to a path that does not exist yet, and prints the head of the copy. */
export async function backup(io: Io, world: string, to: string, { json }: BackupArguments): Promise<void> {
  requireFile(world, 'this copy', 'Back the database up: pg_dump, or its archive of the log.');
  if (isDatabase(to)) throw toDatabase();
  requireFolder(to);
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

function toDatabase(): RepriseError {
  return new RepriseError('invalid_argument', 'a backup is a file, and this place is in a database', {
    where: 'TO',
    expected: 'the path of a file that does not exist yet',
  });
}

/** @throws RepriseError `invalid_argument` when the copy would be in a folder that does not exist */
function requireFolder(to: string): void {
  const folder = dirname(resolve(to));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new RepriseError('invalid_argument', 'the folder of the copy does not exist', {
    where: to,
    expected: `the folder ${folder}`,
    hint: 'Correct the path, or create the folder.',
  });
}
