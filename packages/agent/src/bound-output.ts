/**
 * Output discipline: what a tool printed is kept whole for people and cut to a known size for the model.
 *
 * Invariants
 * B1  The result is well-formed UTF-8 of at most `bytesMax` bytes, the marker included.
 * B2  Bounding twice is bounding once: a text that fits is returned as it is.
 * B3  Text is cut between code points; what is kept is a prefix and a suffix of the decoded text.
 * B4  The marker names the digest of the whole output, so a reader can fetch what was left out.
 */
import { portableSha256, toHex } from '@reprise/kernel';

/** How an output is cut. The id is recorded with every result, so it names a policy that never changes meaning. */
export interface OutputPolicy {
  /** Name and version of the policy, for example `model/head_tail@1`. */
  readonly policyId: string;
  /** The most bytes of UTF-8 the result may have, marker included. */
  readonly bytesMax: number;
  /** Which part is worth keeping: logs end with the error, files begin with the point. */
  readonly keep: 'head_tail' | 'head' | 'tail';
}

/** What was done to an output, as the tool receipt records it. */
export interface TruncationMeta {
  /** Bytes of the output before bounding. */
  readonly original_bytes: number;
  /** Bytes of the result. */
  readonly bounded_bytes: number;
  /** Whether anything was left out. */
  readonly truncated: boolean;
  /** The policy that decided. */
  readonly policy_id: string;
}

/** A bounded output. */
export interface BoundedOutput {
  readonly bytes: Uint8Array;
  readonly meta: TruncationMeta;
}

/** The seed system's cap for one tool output, in bytes; what a watcher's screen should get at most. */
export const OPERATOR_VIEW_POLICY: OutputPolicy = Object.freeze({
  policyId: 'operator/head_tail@1',
  bytesMax: 64 * 1024,
  keep: 'head_tail',
});

/** What a model reads of one tool output. 16 KiB are some 4,000 tokens: twenty such results fit a small window. */
export const MODEL_OUTPUT_POLICY: OutputPolicy = Object.freeze({
  policyId: 'model/head_tail@1',
  bytesMax: 16 * 1024,
  keep: 'head_tail',
});

/**
 * Cuts an output to its policy's size. Pure: the same bytes and policy give the same result everywhere.
 *
 * Bytes that are not UTF-8 become U+FFFD first, and the cap counts what that makes of them.
 *
 * @param bytes the whole output
 * @param policy how to cut
 * @example boundOutput(new TextEncoder().encode('a'.repeat(99_999)), MODEL_OUTPUT_POLICY).bytes.length // 16_384
 */
export function boundOutput(bytes: Uint8Array, policy: OutputPolicy): BoundedOutput {
  const text = wellFormed(bytes);
  if (text.length <= policy.bytesMax) return { bytes: text, meta: metaOf(bytes, text, false, policy) };
  const bounded = cut(text, toHex(portableSha256(bytes)), policy);
  return { bytes: bounded, meta: metaOf(bytes, bounded, true, policy) };
}

/** Decodes leniently and encodes again; bytes that are UTF-8 already, byte order mark included, stay as they are. */
function wellFormed(bytes: Uint8Array): Uint8Array {
  return new TextEncoder().encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
}

function metaOf(original: Uint8Array, bounded: Uint8Array, truncated: boolean, policy: OutputPolicy): TruncationMeta {
  return {
    original_bytes: original.length,
    bounded_bytes: bounded.length,
    truncated,
    policy_id: policy.policyId,
  };
}

function cut(text: Uint8Array, digest: string, policy: OutputPolicy): Uint8Array {
  // The count in the final marker is never longer than the whole text's, so room reserved for that one suffices.
  const room = policy.bytesMax - marker(text.length, digest).length;
  if (room <= 0) return marker(text.length, digest).subarray(0, policy.bytesMax);
  const headRoom = { head: room, tail: 0, head_tail: room - Math.floor(room / 2) }[policy.keep];
  const headEnd = borderBefore(text, headRoom);
  const tailStart = borderAfter(text, text.length - (room - headRoom));
  const middle = marker(tailStart - headEnd, digest);
  return concat(text.subarray(0, headEnd), middle, text.subarray(tailStart));
}

function marker(bytes: number, digest: string): Uint8Array {
  return new TextEncoder().encode(`\n...[truncated ${bytes} bytes; sha256:${digest}]\n`);
}

/** Whether a code point begins at this place: continuation bytes are 10xxxxxx. */
function isBorder(text: Uint8Array, at: number): boolean {
  return at >= text.length || ((text[at] ?? 0) & 0xc0) !== 0x80;
}

function borderBefore(text: Uint8Array, at: number): number {
  let border = at;
  while (!isBorder(text, border)) border -= 1;
  return border;
}

function borderAfter(text: Uint8Array, at: number): number {
  let border = at;
  while (!isBorder(text, border)) border += 1;
  return border;
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
