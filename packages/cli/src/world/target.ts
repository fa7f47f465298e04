/** The things that `show` can print. */
import { type Address, isRepriseError, parseAddress, RepriseError } from '@reprise/contracts';

/** What `show` is asked for: a frame, a digest, or a cell. */
export type Target =
  /** `digits`: a number that is the beginning of a digest when no frame has it. */
  | { readonly kind: 'frame'; readonly seq: number; readonly i?: number; readonly digits?: string }
  /** All digits of a digest or an id, or its first ones. */
  | { readonly kind: 'digest'; readonly digits: string }
  | { readonly kind: 'cell'; readonly address: Address };

const FRAME = /^(\d{1,15})(?:\.(\d{1,15}))?$/;
const DIGEST = /^(?:sha256:)?([0-9a-f]{64})$/i;

/** How many digits name a digest at least. */
const DIGITS_MIN = 8;
/** The beginning of a digest, also with the mark of omission that some commands print behind it. */
const PREFIX = /^(?:sha256:)?([0-9a-f]{1,128})(?:…|\.\.\.)?$/i;

/**
 * Parses the argument of `show`: `12`, `12.3`, `sha256:…` or the beginning of a digest, or `namespace/Reducer@1/key`.
 *
 * @throws RepriseError `invalid_argument` when the text has none of these forms
 */
export function parseTarget(text: string): Target {
  const frame = FRAME.exec(text);
  if (frame !== null) {
    const seq = Number(frame[1]);
    if (frame[2] !== undefined) return { kind: 'frame', seq, i: Number(frame[2]) };
    return text.length < DIGITS_MIN ? { kind: 'frame', seq } : { kind: 'frame', seq, digits: text };
  }
  const digits = PREFIX.exec(text)?.[1]?.toLowerCase();
  if (digits !== undefined) return { kind: 'digest', digits: enough(digits, text) };
  try {
    return { kind: 'cell', address: parseAddress(text) };
  } catch (error) {
    if (!isRepriseError(error, 'invalid_argument')) throw error;
    throw new RepriseError('invalid_argument', 'unknown thing to show', {
      expected: 'a frame (12), a record (12.3), a digest (sha256:…) or a cell (namespace/Reducer@1/key)',
      actual: text,
      hint: 'reprise tail prints the numbers, digests and addresses of a world. A session is aos.agent/SessionReducer@1/KEY.',
    });
  }
}

function enough(digits: string, text: string): string {
  if (digits.length >= DIGITS_MIN) return digits;
  throw new RepriseError('invalid_argument', 'too few digits of a digest', {
    expected: `its first ${DIGITS_MIN} digits, or more`,
    actual: text,
  });
}

/** Parses a digest: `sha256:` and 64 hex digits, or the digits alone; undefined for any other text. */
export function parseDigest(text: string): string | undefined {
  return DIGEST.exec(text)?.[1]?.toLowerCase();
}
