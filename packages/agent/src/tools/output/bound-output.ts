/**
 * Output bounds: the whole output of a tool is stored for people, and a cut version of known size is made for the
 * model.
 *
 * Invariants
 * B1  The result is well-formed UTF-8 of at most `bytesMax` bytes and `linesMax` lines, the marker included.
 * B2  Bounding is idempotent: a text that fits is returned unchanged.
 * B3  Text is cut between code points; the rest is a prefix and a suffix of the decoded text. The text has no envelope
 *     that a cut could damage.
 * B4  The marker names the digest of the whole output, so a reader can fetch the omitted part.
 * B5  Memory is bounded by the policy, whatever the output: it is read as a stream, and only its ends are stored.
 */
import { endOfUtf8, startOfUtf8 } from '@reprise/contracts';
import { toHex } from '@reprise/kernel/codec';
import { hostSha256 } from '@reprise/kernel/store';
import { looksBinary, mediaTypeOf, SNIFF_BYTES, utf16Of } from './media-type.js';

/** The bounds of an output. The id is recorded with every result, so a policy must never change its meaning. */
export interface OutputPolicy {
  /** Name and version of the policy, for example `model/default@1`. */
  readonly policyId: string;
  /** The most bytes of UTF-8 the result may have, marker included. */
  readonly bytesMax: number;
  /** The most lines the result may have, the marker's included; any number when absent. */
  readonly linesMax?: number;
  /** The part that stays: logs end with the error, files begin with the point. */
  readonly keep: 'head_tail' | 'head' | 'tail';
}

/** How an output was cut, as the tool receipt records it. */
export interface TruncationMeta {
  /** Bytes of the output before bounding. */
  readonly original_bytes: number;
  /** The bytes of the shortened result. */
  readonly bounded_bytes: number;
  /** Whether a part was omitted. */
  readonly truncated: boolean;
  /** The id of the policy. */
  readonly policy_id: string;
  /** Lines of the output before bounding; absent when it is binary. */
  readonly original_lines?: number;
}

/** An output within the bounds of its policy. */
export interface BoundedOutput {
  readonly bytes: Uint8Array;
  readonly meta: TruncationMeta;
}

/**
 * Cuts an output to its policy's size. The same bytes and policy give the same result everywhere.
 *
 * Bytes that are not UTF-8, and NUL, become U+FFFD first, and the bounds count the result; text in UTF-16 with a byte
 * order mark is read as such. For a binary output the model gets its type, size and digest.
 *
 * @example boundOutput(new TextEncoder().encode('a'.repeat(99_999)), FAMILY_POLICIES.default).bytes.length // 16_384
 */
export function boundOutput(bytes: Uint8Array, policy: OutputPolicy): BoundedOutput {
  const bounder = new OutputBounder(policy);
  bounder.write(bytes);
  return bounder.end(toHex(hostSha256()(bytes)));
}

const NEWLINE = 10;

type Decoder = InstanceType<typeof TextDecoder>;

/** Bounds an output that arrives in pieces. */
export class OutputBounder {
  readonly #policy: OutputPolicy;
  #decoder: Decoder | undefined;
  readonly #encoder = new TextEncoder();
  readonly #start: Collected;
  readonly #head: Collected;
  readonly #tail: Latest;
  #originalBytes = 0;
  #hasBegun = false;
  #textBytes = 0;
  #newlines = 0;
  #lastByte = NEWLINE;

  constructor(policy: OutputPolicy) {
    this.#policy = policy;
    this.#start = new Collected(SNIFF_BYTES);
    this.#head = new Collected(policy.bytesMax);
    this.#tail = new Latest(policy.bytesMax);
  }

  write(bytes: Uint8Array): void {
    this.#originalBytes += bytes.length;
    this.#start.add(bytes);
    const decoder = this.#decoderOf(this.#start.view());
    if (decoder === undefined) return;
    this.#take(decoder.decode(this.#untaken(bytes), { stream: true }));
  }

  /** @param digest the sha-256 of the whole output, in hex */
  end(digest: string): BoundedOutput {
    const isBinary = looksBinary(this.#start.view());
    if (isBinary) return this.#described(digest);
    const decoder = this.#decoder ?? new TextDecoder('utf-8', { ignoreBOM: true });
    this.#take(decoder.decode(this.#decoder === undefined ? this.#start.view() : undefined));
    const { bytesMax, linesMax = Number.POSITIVE_INFINITY } = this.#policy;
    if (this.#textBytes <= bytesMax && this.#lines <= linesMax) return this.#result(this.#head.bytes(), false);
    return this.#result(this.#cut(digest, linesMax), true);
  }

  /** The decoder of the output; undefined until its first two bytes, which may be a byte order mark, are there. */
  #decoderOf(start: Uint8Array): Decoder | undefined {
    if (this.#decoder === undefined && start.length >= 2) {
      const isMarked = (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff);
      const encoding = isMarked ? (utf16Of(start) ?? 'utf-8') : 'utf-8';
      this.#decoder = new TextDecoder(encoding, { ignoreBOM: !isMarked });
    }
    return this.#decoder;
  }

  /** The bytes to decode: with the ones before them, if those waited for the decoder. */
  #untaken(bytes: Uint8Array): Uint8Array {
    const waited = this.#hasBegun ? 0 : this.#originalBytes - bytes.length;
    this.#hasBegun = true;
    return waited === 0 ? bytes : concat(this.#start.view().subarray(0, waited), bytes);
  }

  /** A final line break does not begin another line. */
  get #lines(): number {
    return this.#newlines + (this.#lastByte === NEWLINE ? 0 : 1);
  }

  #take(decoded: string): void {
    const text = this.#encoder.encode(decoded.replaceAll('\0', '\ufffd'));
    this.#textBytes += text.length;
    this.#newlines += countNewlines(text);
    this.#lastByte = text.at(-1) ?? this.#lastByte;
    this.#head.add(text);
    this.#tail.add(text);
  }

  #cut(digest: string, linesMax: number): Uint8Array {
    const { bytesMax, keep } = this.#policy;
    // The marker of the result is never longer than the marker for the whole text, so the room reserved for the latter
    // suffices.
    const room = bytesMax - this.#marker(this.#textBytes, digest).length;
    if (room <= 0) return this.#marker(this.#textBytes, digest).subarray(0, bytesMax);
    const headRoom = { head: room, tail: 0, head_tail: room - Math.floor(room / 2) }[keep];
    const { headLines, tailLines } = linesOf(keep, linesMax);
    const head = firstLines(startOfUtf8(this.#head.view(), headRoom), headLines);
    const tail = lastLines(endOfUtf8(this.#tail.view(), room - headRoom), tailLines);
    return concat(head, this.#marker(this.#textBytes - head.length - tail.length, digest), tail);
  }

  #described(digest: string): BoundedOutput {
    const what = `[binary output: ${mediaTypeOf(this.#start.view())}, ${this.#originalBytes} bytes; sha256:${digest}]\n`;
    return this.#result(this.#encoder.encode(what).subarray(0, this.#policy.bytesMax), true, true);
  }

  #marker(bytes: number, digest: string): Uint8Array {
    return this.#encoder.encode(`\n...[truncated ${bytes} bytes; sha256:${digest}]\n`);
  }

  #result(bytes: Uint8Array, truncated: boolean, isBinary = false): BoundedOutput {
    const meta = {
      original_bytes: this.#originalBytes,
      bounded_bytes: bytes.length,
      truncated,
      policy_id: this.#policy.policyId,
      ...(isBinary ? {} : { original_lines: this.#lines }),
    };
    return { bytes, meta };
  }
}

/** The marker takes a line of its own after the head, which ends with a line break; an empty head gets one too. */
function linesOf(keep: OutputPolicy['keep'], linesMax: number): { headLines: number; tailLines: number } {
  if (keep === 'head') return { headLines: linesMax - 1, tailLines: 0 };
  if (keep === 'tail') return { headLines: 1, tailLines: linesMax - 2 };
  return { headLines: Math.ceil((linesMax - 1) / 2), tailLines: Math.floor((linesMax - 1) / 2) };
}

/** Stores the first bytes of a stream, up to a bound. */
class Collected {
  #buffer = new Uint8Array(0);
  #length = 0;

  constructor(private readonly capacity: number) {}

  add(bytes: Uint8Array): void {
    const more = bytes.subarray(0, this.capacity - this.#length);
    if (more.length === 0) return;
    this.#reserve(this.#length + more.length);
    this.#buffer.set(more, this.#length);
    this.#length += more.length;
  }

  /** The stored bytes; valid until the next `add`. */
  view(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  bytes(): Uint8Array {
    return this.#buffer.slice(0, this.#length);
  }

  /** Grows by doubling: most outputs are far below the bound. */
  #reserve(length: number): void {
    if (length <= this.#buffer.length) return;
    const grown = new Uint8Array(Math.min(this.capacity, Math.max(length, this.#buffer.length * 2)));
    grown.set(this.view());
    this.#buffer = grown;
  }
}

/** Stores the last bytes of a stream, up to a bound. Its buffer has twice that size, so that bytes are rarely moved. */
class Latest {
  #buffer = new Uint8Array(0);
  #end = 0;

  constructor(private readonly capacity: number) {}

  add(bytes: Uint8Array): void {
    const more = bytes.subarray(Math.max(0, bytes.length - this.capacity));
    if (this.#end + more.length > this.#buffer.length) this.#makeRoom(more.length);
    this.#buffer.set(more, this.#end);
    this.#end += more.length;
  }

  /** The stored bytes; valid until the next `add`. */
  view(): Uint8Array {
    return this.#buffer.subarray(Math.max(0, this.#end - this.capacity), this.#end);
  }

  #makeRoom(more: number): void {
    const kept = this.view();
    const room = Math.min(2 * this.capacity, Math.max(2 * (kept.length + more), this.#buffer.length));
    const buffer = room > this.#buffer.length ? new Uint8Array(room) : this.#buffer;
    const still = kept.subarray(Math.max(0, kept.length - (room - more)));
    buffer.set(still); // `set` within one buffer handles the overlap
    this.#buffer = buffer;
    this.#end = still.length;
  }
}

function countNewlines(text: Uint8Array): number {
  let count = 0;
  for (let at = text.indexOf(NEWLINE); at >= 0; at = text.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

/** A prefix with a bounded number of lines, the last one without its break. */
function firstLines(text: Uint8Array, lines: number): Uint8Array {
  let left = lines;
  for (let at = text.indexOf(NEWLINE); at >= 0; at = text.indexOf(NEWLINE, at + 1)) {
    left -= 1;
    if (left === 0) return text.subarray(0, at);
  }
  return text;
}

/** A suffix with a bounded number of lines. */
function lastLines(text: Uint8Array, lines: number): Uint8Array {
  if (lines === 0) return text.subarray(text.length);
  let left = lines;
  for (let at = text.length - 2; at >= 0; at--) {
    if (text[at] !== NEWLINE) continue;
    left -= 1;
    if (left === 0) return text.subarray(at + 1);
  }
  return text;
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
