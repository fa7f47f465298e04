/**
 * A text in chunks: the blocks at its left edge that stand behind an empty line, and fenced code.
 *
 * They are found by lines alone, in one pass. While a text grows, a chunk is final once another one has begun behind
 * it, so that only the last one is parsed again.
 */
import { closes, type Fence, fenceOf } from './fence.js';

/** A part of a text whose meaning does not depend on the parts beside it. */
export interface Chunk {
  /** Its source. */
  readonly raw: string;
  /** Where it begins in the text, in UTF-16 code units. */
  readonly from: number;
  /** The line that begins it, when it is fenced code. */
  readonly fence?: Fence;
}

/**
 * Takes a text apart.
 *
 * @param text with line feeds only
 */
export function chunksOf(text: string): readonly Chunk[] {
  const lines = text.split('\n');
  const chunks: Chunk[] = [];
  let from = 0;
  for (let line = 0; line < lines.length; ) {
    const first = lines[line] ?? '';
    const fence = fenceOf(first);
    const end = isBlank(first)
      ? line + 1
      : fence === undefined
        ? endOfBlocks(lines, line)
        : endOfCode(lines, line, fence);
    const raw = lines.slice(line, end).join('\n');
    if (!isBlank(first)) chunks.push(fence === undefined ? { raw, from } : { raw, from, fence });
    from += raw.length + 1;
    line = end;
  }
  return chunks;
}

function isBlank(line: string | undefined): boolean {
  return line?.trim() === '';
}

/** The line behind the end of a fence, or behind the last line. */
function endOfCode(lines: readonly string[], line: number, fence: Fence): number {
  for (let i = line + 1; i < lines.length; i++) if (closes(lines[i] ?? '', fence)) return i + 1;
  return lines.length;
}

/** The line behind blocks: an empty one before a line at the left edge, or the beginning of code that is not theirs. */
function endOfBlocks(lines: readonly string[], line: number): number {
  const isList = /^ {0,3}(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/.test(lines[line] ?? '');
  let behindBlank = false;
  for (let i = line + 1; i < lines.length; i++) {
    const one = lines[i] ?? '';
    const fence = fenceOf(one);
    if (fence !== undefined && (fence.indent < 2 || !isList)) return i;
    if (behindBlank && /^\S/.test(one)) return i;
    behindBlank = isBlank(one);
  }
  return lines.length;
}
