/** Detects an older copy put in place of a journal: a chain proves that frames belong together, not that none is missing. */
import { fieldsOf, isDigest, isWhole, RepriseError } from '@reprise/contracts';
import { EMPTY_HEAD, type Head, type ReadableJournal } from '../../../ports/journal/port.js';

/** An acknowledged head: with its frame's number, which is looked up, or alone, which is searched for. */
export type ExpectedHead = Head | string;

/** Whether a thing can be an expected head. */
export function isExpectedHead(thing: unknown): boolean {
  if (typeof thing === 'string') return isDigest(thing);
  const { seq, digest } = fieldsOf(thing);
  return isWhole(seq, EMPTY_HEAD.seq) && isDigest(digest);
}

/**
 * Refuses a journal that does not contain the head.
 *
 * @throws RepriseError `head_mismatch`
 */
export async function requireExpectedHead(journal: ReadableJournal, expected: ExpectedHead): Promise<void> {
  if (await hasHead(journal, expected)) return;
  const { seq, digest } = await journal.head();
  const named = typeof expected === 'string' ? { digest: expected } : expected;
  throw new RepriseError('head_mismatch', 'the journal does not have the expected head', {
    expected: `sha256:${named.digest}${'seq' in named ? ` at frame ${named.seq}` : ''}`,
    actual: seq < 0 ? 'a journal without frames' : `the last is sha256:${digest} at frame ${seq}`,
    hint: 'The journal is an older copy, was cut, or is another journal. Nothing was written. Put the newest copy back.',
  });
}

async function hasHead(journal: ReadableJournal, expected: ExpectedHead): Promise<boolean> {
  const { seq, digest } = typeof expected === 'string' ? { seq: undefined, digest: expected } : expected;
  if (seq === EMPTY_HEAD.seq || digest === EMPTY_HEAD.digest) return digest === EMPTY_HEAD.digest;
  for await (const frame of journal.read(seq ?? 0, seq)) if (frame.head === digest) return true;
  return false;
}
