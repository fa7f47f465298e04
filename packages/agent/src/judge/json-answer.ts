import type { Value } from '@reprise/contracts';
import { type LargeNumbers, parseJsonNoting } from '@reprise/contracts/json';

/** The JSON value of an answer, and the numbers that stand in it as texts. */
export interface JsonAnswer extends LargeNumbers {
  readonly value: Value;
}

/**
 * Reads the JSON value of a text, or of the only fenced block in it: models often wrap a requested value in prose.
 *
 * @returns undefined when the text has no such value
 * @example jsonIn('Here you are:\n```json\n{"a":1}\n```') // { value: { a: 1 }, count: 0, large: [] }
 */
export function jsonIn(text: string): JsonAnswer | undefined {
  const whole = parsed(text);
  if (whole !== undefined) return whole;
  const [block, ...more] = blocksIn(text, 2);
  return block === undefined || more.length > 0 ? undefined : parsed(block);
}

/** The longest line that may be a fence, in characters. */
const FENCE_UNITS_MAX = 128;

const OPENING = /^[ \t]*```[a-z]*[ \t]*\r?$/;
const CLOSING = /^[ \t]*```[ \t]*\r?$/;

/** The first fenced blocks of a text, found in one pass: a text may hold a million openings that nothing closes. */
function blocksIn(text: string, most: number): string[] {
  const blocks: string[] = [];
  let start: number | undefined;
  for (let from = 0; from <= text.length && blocks.length < most; ) {
    const newline = text.indexOf('\n', from);
    const end = newline < 0 ? text.length : newline;
    const line = end - from > FENCE_UNITS_MAX ? '' : text.slice(from, end);
    if (start === undefined) {
      if (newline >= 0 && OPENING.test(line)) start = newline + 1;
    } else if (CLOSING.test(line)) {
      blocks.push(text.slice(start, from));
      start = undefined;
    }
    from = end + 1;
  }
  return blocks;
}

function parsed(text: string): JsonAnswer | undefined {
  try {
    const { data, count, large } = parseJsonNoting(text);
    return { value: data as Value, count, large };
  } catch {
    return undefined;
  }
}
