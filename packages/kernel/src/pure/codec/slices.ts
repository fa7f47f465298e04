import { RepriseError } from '@reprise/contracts';

/**
 * Cuts a list into the bytes of its items without decoding them. Checks lengths, not canonical form: for bytes
 * whose hash is known, or that will be compared whole.
 *
 * @param bytes one encoded list
 * @throws RepriseError `invalid_bytes` when it is not a list or ends early
 */
export function listSlices(bytes: Uint8Array): Uint8Array[] {
  const head = headAt(bytes, 0);
  if (head.major !== 4) throw refusal(0, 'not a list');
  if (head.argument > bytes.length) throw refusal(0, 'longer than its bytes');
  const slices: Uint8Array[] = [];
  let at = head.next;
  for (let i = 0; i < head.argument; i++) {
    const end = endOf(bytes, at);
    slices.push(bytes.subarray(at, end));
    at = end;
  }
  if (at !== bytes.length) throw refusal(at, 'bytes after the list');
  return slices;
}

/** The first byte after the item at `start`; a counter instead of recursion, so depth cannot exhaust the stack. */
function endOf(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let open = 1; open > 0; open--) {
    const { major, argument, next } = headAt(bytes, at);
    at = next;
    if (major === 2 || major === 3) at += argument;
    else if (major === 4) open += argument;
    else if (major === 5) open += 2 * argument;
    else if (major === 6) open += 1;
    if (at > bytes.length || open > bytes.length) throw refusal(start, 'longer than its bytes');
  }
  return at;
}

function headAt(bytes: Uint8Array, at: number): { major: number; argument: number; next: number } {
  const first = bytes[at];
  if (first === undefined) throw refusal(at, 'ends early');
  const info = first & 31;
  if (info > 27) throw refusal(at, 'an indefinite or reserved length');
  const width = info < 24 ? 0 : 1 << (info - 24);
  if (at + width >= bytes.length) throw refusal(at, 'ends early');
  let argument = info < 24 ? info : 0;
  for (let i = 1; i <= width; i++) argument = argument * 256 + (bytes[at + i] as number);
  return { major: first >> 5, argument, next: at + 1 + width };
}

function refusal(at: number, what: string): RepriseError {
  return new RepriseError('invalid_bytes', what, { where: `byte ${at}` });
}
