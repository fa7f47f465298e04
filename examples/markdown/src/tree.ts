/** The tree of a chunk: Markdown with tables, strikethrough, task lists and bare links, as GitHub reads it. */
import type { Nodes, RootContent } from 'mdast';
import { fromMarkdown, type Options } from 'mdast-util-from-markdown';
import { gfmAutolinkLiteralFromMarkdown } from 'mdast-util-gfm-autolink-literal';
import { gfmStrikethroughFromMarkdown } from 'mdast-util-gfm-strikethrough';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTaskListItemFromMarkdown } from 'mdast-util-gfm-task-list-item';
import { gfmAutolinkLiteral } from 'micromark-extension-gfm-autolink-literal';
import { gfmStrikethrough } from 'micromark-extension-gfm-strikethrough';
import { gfmTable } from 'micromark-extension-gfm-table';
import { gfmTaskListItem } from 'micromark-extension-gfm-task-list-item';
import type { Chunk } from './chunks.js';
import { codeOf } from './fence.js';

/**
 * The longest chunk that is parsed, in UTF-16 code units. The parser's time grows with the square of some texts: 2,000
 * rows of a table take half a second. Code is not parsed, and has no bound.
 */
export const CHUNK_MAX = 16_384;

/** The most quotes and lists that one line begins: 4,000 take seconds, then all of the stack. */
export const MARKS_MAX = 40;

const MARKS = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)))+/;

const OPTIONS: Options = {
  extensions: [gfmTable(), gfmStrikethrough(), gfmTaskListItem(), gfmAutolinkLiteral()],
  mdastExtensions: [
    gfmTableFromMarkdown(),
    gfmStrikethroughFromMarkdown(),
    gfmTaskListItemFromMarkdown(),
    gfmAutolinkLiteralFromMarkdown(),
  ],
};

/** The blocks of a chunk; nothing when it is to be shown as it was written. */
export function treeOf({ raw, fence }: Chunk): readonly RootContent[] | undefined {
  if (fence !== undefined) return [codeOf(raw, fence)];
  if (raw.length > CHUNK_MAX || raw.split('\n').some(isTooDeep)) return undefined;
  try {
    return fromMarkdown(raw, OPTIONS).children;
  } catch (error) {
    if (error instanceof RangeError) return undefined; // what is nested too deeply in another way
    throw error;
  }
}

function isTooDeep(line: string): boolean {
  const [marks = ''] = MARKS.exec(line) ?? [];
  return (marks.match(/>|[-+*]|\d+[.)]/g)?.length ?? 0) > MARKS_MAX;
}

/** The source of nodes that stand beside each other in a chunk. */
export function sourceOf({ raw }: Chunk, first: Nodes, last: Nodes = first): string {
  return raw.slice(first.position?.start.offset, last.position?.end.offset);
}
