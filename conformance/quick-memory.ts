/** Memory for worlds of tests: the store's own, with digests that cost little. */
import { createHash } from 'node:crypto';
import { memory } from '@reprise/kernel';

/** A store in memory whose digests are made by the platform. */
export function quickMemory(): ReturnType<typeof memory> {
  return memory({ hash: (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest()) });
}
