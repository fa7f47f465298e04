/** The things that `show` can print. */
import { type Address, isRepriseError, parseAddress, RepriseError } from '@reprise/contracts';

/** The thing to print. */
export type Target =
  | { readonly kind: 'frame'; readonly seq: number; readonly i?: number }
  | { readonly kind: 'digest'; readonly hex: string }
  | { readonly kind: 'cell'; readonly address: Address };

const FRAME = /^(\d{1,15})(?:\.(\d{1,15}))?$/;
const DIGEST = /^(?:sha256:)?([0-9a-f]{64})$/i;

/**
 * Parses the argument of `show`: `12`, `12.3`, `sha256:…` or `namespace/Reducer@1/key`.
 *
 * @throws RepriseError `invalid_argument` when the text has none of these forms
 */
export function parseTarget(text: string): Target {
  const frame = FRAME.exec(text);
  if (frame !== null) {
    const seq = Number(frame[1]);
    return frame[2] === undefined ? { kind: 'frame', seq } : { kind: 'frame', seq, i: Number(frame[2]) };
  }
  const digest = parseDigest(text);
  if (digest !== undefined) return { kind: 'digest', hex: digest };
  try {
    return { kind: 'cell', address: parseAddress(text) };
  } catch (error) {
    if (!isRepriseError(error, 'invalid_argument')) throw error;
    throw new RepriseError('invalid_argument', 'unknown thing to show', {
      expected: 'a frame (12), a record (12.3), a digest (sha256:…) or a cell (namespace/Reducer@1/key)',
      actual: text,
      hint: 'reprise tail prints the numbers, digests and addresses of a world.',
    });
  }
}

/** Parses a digest: `sha256:` and 64 hex digits, or the digits alone; undefined for any other text. */
export function parseDigest(text: string): string | undefined {
  return DIGEST.exec(text)?.[1]?.toLowerCase();
}
