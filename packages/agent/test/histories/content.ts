/** Some content for histories to point at. */
import { createHash } from 'node:crypto';
import { Ref } from '@reprise/contracts';

const texts = Array.from({ length: 40 }, (_, n) => new TextEncoder().encode(`text ${n}`));
const refs = texts.map((bytes) => Ref.fromHex(createHash('sha256').update(bytes).digest('hex')));

/** All of it. */
export const TEXTS: readonly (readonly [Ref, Uint8Array])[] = texts.map((bytes, n) => [refs[n] as Ref, bytes]);

/** A link to one of the texts. */
export function refOf(n: number): Ref {
  return refs[n % refs.length] as Ref;
}

/** What a link to one of the texts is called in plain words. */
export function nameOf(ref: Ref): string {
  return `t${refs.findIndex(({ hex }) => hex === ref.hex)}`;
}
