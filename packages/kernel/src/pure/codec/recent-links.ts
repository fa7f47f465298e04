/**
 * Links that were read recently. The same links come back from leaf to leaf and from frame to frame, and a link is frozen,
 * so one object can serve all of them. What is remembered is bounded, and never changes what is read.
 */
import { Ref } from '@reprise/contracts';

const DIGEST_BYTES = 32;

/** How many links are remembered: each in the slot that its first bytes name. */
const SLOTS = 2_048;

const digests = new Uint8Array(SLOTS * DIGEST_BYTES);
const links: (Ref | undefined)[] = new Array(SLOTS);

/**
 * The link to the digest at a place in bytes, which must hold all 32 bytes of it.
 *
 * @param at the offset of the digest
 */
export function recentLink(bytes: Uint8Array, at: number, kind: Ref['kind']): Ref {
  const slot = ((bytes[at] as number) | ((bytes[at + 1] as number) << 8)) & (SLOTS - 1);
  const recent = links[slot];
  if (recent !== undefined && recent.kind === kind && isDigestOf(slot, bytes, at)) return recent;
  const digest = bytes.subarray(at, at + DIGEST_BYTES);
  const link = Ref.fromDigest(digest, kind);
  digests.set(digest, slot * DIGEST_BYTES);
  links[slot] = link;
  return link;
}

function isDigestOf(slot: number, bytes: Uint8Array, at: number): boolean {
  const from = slot * DIGEST_BYTES;
  for (let i = 0; i < DIGEST_BYTES; i++) if (digests[from + i] !== bytes[at + i]) return false;
  return true;
}
