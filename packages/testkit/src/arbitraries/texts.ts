/** Arbitrary texts around the bounds of a schema: of exactly so many characters, in each class of Unicode. */
import { requireFields } from '@reprise/contracts';
import fc from 'fast-check';

/**
 * The characters that a bound can be counted wrongly for: of one unit and one byte, of one unit and three bytes, of two
 * units, those that are shown as one with the character before, and what is no character at all.
 */
const CLASSES = {
  ascii: ['a', 'b', 'z', '0', ' ', '-'],
  wide: ['é', '水', '\uffff', '\u2028'],
  astral: ['😀', '\u{10000}', '\u{10ffff}', '𝕏'],
  combining: ['e', '\u0301', '\u200d', '👩', '\ufe0f'],
  control: ['\u0000', '\n', '\u001b', '\u007f', '\u202e'],
} as const;

/** A lone half of a pair: it counts as one character, and has no UTF-8. */
const LONE = '\udc00';

/** Bounds on the length of a text, in characters. */
export interface TextLengths {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** Whether random texts may be malformed. */
export interface AnyTextOptions {
  /** Whether texts may have a lone surrogate, which no canonical value has; false when absent. */
  readonly lone?: boolean;
}

/**
 * Any text of exactly so many characters, all of one class or mixed.
 *
 * @param length the number of code points
 */
export function anyTextOf(length: number, { lone = false }: AnyTextOptions = {}): fc.Arbitrary<string> {
  const classes: readonly (readonly string[])[] = [...Object.values(CLASSES), Object.values(CLASSES).flat()];
  const plain = fc
    .tuple(fc.constantFrom(...classes), fc.integer({ min: 0, max: 1_000_000 }))
    .map(([units, from]) => textFrom(units, from, length));
  if (!lone || length === 0) return plain;
  const halved = fc
    .tuple(plain, fc.integer({ min: 0, max: length - 1 }))
    .map(([text, at]) => [...text].with(at, LONE).join(''));
  return fc.oneof({ weight: 3, arbitrary: plain }, { weight: 1, arbitrary: halved });
}

/**
 * Any text at a bound: of one character less, as many, or one more.
 *
 * @example fc.property(anyTextAround({ max: 120 }), (name) => schema.safeParse(name).success === ([...name].length <= 120))
 */
export function anyTextAround(around: TextLengths, options: AnyTextOptions = {}): fc.Arbitrary<string> {
  requireFields(around, 'anyTextAround(lengths)', '{ min, max }');
  const { min, max } = around;
  const bounds = [min, max].filter((bound) => bound !== undefined);
  const lengths = bounds.flatMap((bound) => [bound - 1, bound, bound + 1]).filter((length) => length >= 0);
  return fc.constantFrom(...(lengths.length === 0 ? [0, 1, 7] : lengths)).chain((length) => anyTextOf(length, options));
}

/** A text that walks through characters by steps that a number gives: quick to make, however long. */
function textFrom(units: readonly string[], from: number, length: number): string {
  const parts: string[] = [];
  for (let i = 0; i < length; i++) parts.push(units[(from + i * ((from % 7) + 1)) % units.length] as string);
  return parts.join('');
}
