import { readFileSync } from 'node:fs';
import type { Value } from '@reprise/contracts';
import { Ref } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { decode, encode, fromHex, toHex } from '../../../src/pure/codec/index.js';
import { cbor2Bytes, cborgAccepts, cborgBytes } from './peers.js';
import { refusalOf } from './refusal.js';

/** A value as the vectors file writes it. */
type Tagged = null | boolean | number | string | readonly Tagged[] | { readonly [key: string]: Tagged };

interface Vectors {
  readonly accept: readonly { readonly hex: string; readonly value: Tagged; readonly source?: string }[];
  readonly refuse: readonly {
    readonly hex: string;
    readonly reason: string;
    readonly byte: number;
    readonly note: string;
  }[];
}

const file = new URL('../../../../../conformance/vectors/codec.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vectors;

function untagged(tagged: Tagged): Value {
  if (typeof tagged !== 'object' || tagged === null) return tagged;
  if (isList(tagged)) return tagged.map(untagged);
  if (typeof tagged.$bytes === 'string') return fromHex(tagged.$bytes);
  if (typeof tagged.$link === 'string') return Ref.fromHex(tagged.$link, tagged.$kind === 'value' ? 'value' : 'raw');
  const { $map } = tagged;
  const entries = $map !== undefined && isList($map) ? ($map as [string, Tagged][]) : Object.entries(tagged);
  return Object.fromEntries(entries.map(([key, value]) => [key, untagged(value)]));
}

function isList(tagged: Tagged): tagged is readonly Tagged[] {
  return Array.isArray(tagged);
}

const shown = (hex: string): string => (hex.length > 40 ? `${hex.slice(0, 40)}…` : hex || '(nothing)');

describe('given a published value', () => {
  it.each(vectors.accept.map((v) => [shown(v.hex), v] as const))(
    'the value %s encodes to the published bytes and is decoded again [CODEC-2, CODEC-4]',
    (_, vector) => {
      const value = untagged(vector.value);
      expect(toHex(encode(value))).toBe(vector.hex);
      expect(toHex(encode(decode(fromHex(vector.hex))))).toBe(vector.hex);
      expect(toHex(cborgBytes(value)), 'cborg').toBe(vector.hex);
      expect(toHex(cbor2Bytes(value)), 'cbor2').toBe(vector.hex);
    },
  );
});

describe('given published bytes that are not canonical', () => {
  it.each(vectors.refuse.map((v) => [shown(v.hex), v.note, v] as const))(
    '%s (%s) is refused [CODEC-3]',
    (_hex, _note, vector) => {
      const error = refusalOf(() => decode(fromHex(vector.hex)));
      expect(error.code).toBe('invalid_bytes');
      expect(error.message).toContain(`invalid_bytes: ${vector.reason}; at `);
      expect(error.details.where).toBe(`byte ${vector.byte}`);
    },
  );

  it('cborg finds none of them canonical either, except those that only our depth and key rules refuse', () => {
    const ours = new Set(['nests deeper than 64', 'a map has no key __proto__']);
    const others = vectors.refuse.filter((v) => !ours.has(v.reason));
    expect(others.filter((v) => cborgAccepts(fromHex(v.hex))).map((v) => v.hex)).toEqual([]);
  });
});
