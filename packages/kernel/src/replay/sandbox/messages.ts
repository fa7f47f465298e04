/** The messages to and from a sandbox: canonical bytes as text, so that nothing but text crosses its boundary. */
import { bytes, type Pinned, pinned, type Ref, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { decode, encode } from '../../pure/codec/index.js';

/** A message to a sandbox. */
export type ToSandbox =
  | { readonly tell: 'begin'; readonly root: Ref | null }
  /** `inputs`: the ingress and the armed effects, as canonical bytes. */
  | { readonly tell: 'replay'; readonly inputs: Uint8Array; readonly fromBytes: boolean }
  /** Answers a `need`. */
  | { readonly tell: 'content'; readonly ref: Ref; readonly bytes: Uint8Array | null };

const count = z.int().min(0);
const pins = z.array(pinned);
const fromSandbox = z.discriminatedUnion('say', [
  z.strictObject({ say: z.literal('loaded'), reducers: pins, plans: pins, effects: pins }),
  z.strictObject({ say: z.literal('begun') }),
  z.strictObject({
    say: z.literal('replayed'),
    bytes: bytes(),
    made: z.array(ref()),
    map: z.nullable(z.strictObject({ ref: ref(), leaves: count })),
    touched: z.array(z.string()),
  }),
  z.strictObject({ say: z.literal('refused'), words: z.string() }),
  z.strictObject({ say: z.literal('failed'), what: z.string() }),
  z.strictObject({ say: z.literal('need'), ref: ref() }),
]);

/** A message from a sandbox. */
export type FromSandbox =
  | { readonly say: 'loaded'; readonly reducers: Pinned[]; readonly plans: Pinned[]; readonly effects: Pinned[] }
  | { readonly say: 'begun' }
  | {
      readonly say: 'replayed';
      readonly bytes: Uint8Array;
      readonly made: Ref[];
      readonly map: { readonly ref: Ref; readonly leaves: number } | null;
      readonly touched: string[];
    }
  | { readonly say: 'refused'; readonly words: string }
  | { readonly say: 'failed'; readonly what: string }
  /** Asks for content; several at a time, each answered by `content`. */
  | { readonly say: 'need'; readonly ref: Ref };

/** Encodes a message to the code in a sandbox as canonical bytes. */
export function encodeMessage(message: ToSandbox): Uint8Array {
  return encode(message);
}

/**
 * Reads messages from a sandbox. They are untrusted, so each is checked against its shape.
 *
 * @throws when the bytes are not such messages
 */
export function readMessages(said: Uint8Array): readonly FromSandbox[] {
  return z.array(fromSandbox).parse(decode(said)) as readonly FromSandbox[];
}

/** Bytes as text with one character for each: only text crosses the boundary of a sandbox. */
export function textOfBytes(all: Uint8Array): string {
  let text = '';
  for (let from = 0; from < all.length; from += 8_192) text += String.fromCharCode(...all.subarray(from, from + 8_192));
  return text;
}

/** The bytes in such a text. */
export function bytesOfText(text: string): Uint8Array {
  const all = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) all[i] = text.charCodeAt(i);
  return all;
}
