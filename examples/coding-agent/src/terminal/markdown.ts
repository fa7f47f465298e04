/** Markdown as lines for a terminal: headings, lists, quotes, code and tables stay readable, and so does their source. */
import { type Chunk, chunksOf, closes, codeLine, type Fence, sourceOf, treeOf } from '@reprise/example-markdown';
import type { Code, Link, List, PhrasingContent, RootContent, Table } from 'mdast';
import type { Style } from './text/paint.js';
import { plain } from './text/plain.js';
import { brokenUp, type Line, type Span, span, textOf, wrapped } from './text/spans.js';
import { fitting, widthOf } from './text/width.js';

/** The fewest columns of a cell in a table; narrower tables are shown as they were written. */
const CELL_COLUMNS_MIN = 6;

/** The fewest columns of a block in another; deeper ones are shown as they were written. */
const NESTED_COLUMNS_MIN = 4;

/** Renders a text. */
export function markdown(text: string, columns: number): readonly Line[] {
  const stream = new MarkdownStream();
  stream.push(text);
  return stream.end(columns);
}

/**
 * Renders a text while it arrives.
 *
 * Invariants
 * M1  The rows do not depend on how the text was cut into pieces.
 * M2  A chunk is given out when another one has begun behind it, and a line of code when it has ended: nothing that
 *     follows changes their rows. So the rows that are drawn again are few, however long the text is.
 */
export class MarkdownStream {
  /** The text whose rows were not given out. */
  #rest = '';
  /** A carriage return at the end of a piece: a line feed may follow, and both are one end of a line. */
  #held = '';
  /** The code that the rest is in the middle of. */
  #code: Fence | undefined;
  #isFirst = true;

  /** Adds a piece. */
  push(piece: string): void {
    const text = this.#held + piece;
    this.#held = text.endsWith('\r') ? '\r' : '';
    this.#rest += withLineFeeds(text.slice(0, text.length - this.#held.length));
  }

  /** The rows that are final, each once. */
  take(columns: number): readonly Line[] {
    // A line that has not ended may still become anything.
    const whole = this.#rest.slice(0, this.#rest.lastIndexOf('\n') + 1);
    const { rows, length } = this.#render(whole, columns, 'final');
    this.#rest = this.#rest.slice(length);
    return rows;
  }

  /** The rows of the text that is not final, as it stands. */
  live(columns: number): readonly Line[] {
    const before = [this.#code, this.#isFirst] as const;
    const { rows } = this.#render(this.#rest, columns, 'all');
    [this.#code, this.#isFirst] = before;
    return rows;
  }

  /** The rest of the rows: the text is complete. */
  end(columns: number): readonly Line[] {
    this.#rest += withLineFeeds(this.#held);
    const rows = [...this.take(columns), ...this.live(columns)];
    this.#rest = this.#held = '';
    this.#code = undefined;
    this.#isFirst = true;
    return rows;
  }

  /** The rows of a text, all or those that are final, and how much of the text they show. */
  #render(text: string, columns: number, which: 'all' | 'final'): { rows: Line[]; length: number } {
    const { rows, length } = this.#codeRows(text, columns);
    const chunks = chunksOf(text.slice(length));
    for (const [i, chunk] of chunks.entries()) {
      const { fence, raw, from } = chunk;
      if (fence === undefined && which === 'final' && i === chunks.length - 1) return { rows, length: length + from };
      const block = fence === undefined ? chunkLines(chunk, columns) : codeName(fence.lang, columns);
      if (fence === undefined && block.length === 0) continue;
      if (!this.#isFirst) rows.push([]);
      this.#isFirst = false;
      rows.push(...block);
      this.#code = fence;
      if (fence !== undefined)
        rows.push(...this.#codeRows(raw.slice(raw.indexOf('\n') + 1 || raw.length), columns).rows);
    }
    return { rows, length: text.length };
  }

  /** The rows of the code that the text is in the middle of. */
  #codeRows(text: string, columns: number): { rows: Line[]; length: number } {
    const rows: Line[] = [];
    let length = 0;
    while (this.#code !== undefined && length < text.length) {
      const end = text.indexOf('\n', length);
      const line = text.slice(length, end < 0 ? text.length : end);
      length += line.length + 1;
      if (closes(line, this.#code)) this.#code = undefined;
      else rows.push(...codeRow(codeLine(line, this.#code), columns));
    }
    return { rows, length: Math.min(length, text.length) };
  }
}

function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

function chunkLines(chunk: Chunk, columns: number): Line[] {
  const blocks = treeOf(chunk);
  return blocks === undefined ? source(chunk.raw, columns) : blocksLines(blocks, chunk, columns);
}

/** Blocks beside each other, an empty row before each but lists in lists. */
function blocksLines(blocks: readonly RootContent[], chunk: Chunk, columns: number): Line[] {
  return blocks.flatMap((block, i) => {
    const lines = blockLines(block, chunk, columns);
    return i > 0 && lines.length > 0 ? [[], ...lines] : lines;
  });
}

function blockLines(block: RootContent, chunk: Chunk, columns: number): Line[] {
  switch (block.type) {
    case 'heading':
      return paragraph(
        [span(`${'#'.repeat(block.depth)} `, 'dim'), ...inline(block.children, chunk, ['bold'])],
        columns,
      );
    case 'code':
      return codeLines(block, columns);
    case 'blockquote':
      return within([span('│ ', 'dim')], block.children, chunk, columns);
    case 'list':
      return listLines(block, chunk, columns);
    case 'table':
      return tableLines(block, chunk, columns);
    case 'thematicBreak':
      return [[span('─'.repeat(Math.min(columns, 40)), 'dim')]];
    case 'paragraph':
      return paragraph(inline(block.children, chunk), columns);
    default:
      return source(sourceOf(chunk, block), columns);
  }
}

/** A text as it was written. */
function source(raw: string, columns: number): Line[] {
  return plain(raw.replace(/\n+$/, ''))
    .split('\n')
    .flatMap((line) => wrapped([span(line)], columns));
}

/** Breaks a line with line breaks in it into rows. */
function paragraph(line: Line, columns: number): Line[] {
  return brokenUp(line).flatMap((one) => wrapped(one, columns, { words: true }));
}

const CODE_EDGE = span('  ', 'dim');

function codeLines({ value, lang }: Code, columns: number): Line[] {
  return [...codeName(lang ?? '', columns), ...value.split('\n').flatMap((line) => codeRow(line, columns))];
}

function codeName(lang: string, columns: number): Line[] {
  return lang === '' ? [] : [[CODE_EDGE, span(fitting(plain(lang), columns - 2), 'dim')]];
}

function codeRow(line: string, columns: number): Line[] {
  return wrapped([span(plain(line), 'cyan')], columns - 2).map((row) => [CODE_EDGE, ...row]);
}

/** Blocks behind a mark, for example an item of a list: the mark before the first row, blanks before the others. */
function within(mark: Line, blocks: readonly RootContent[], chunk: Chunk, columns: number, rest: Line = mark): Line[] {
  const room = columns - widthOf(textOf(mark));
  const [first, last] = [blocks.at(0), blocks.at(-1)];
  if (first !== undefined && room < NESTED_COLUMNS_MIN) return source(sourceOf(chunk, first, last), columns);
  const rows = blocks.flatMap((block, i) => {
    const lines = blockLines(block, chunk, room);
    return i > 0 && lines.length > 0 && block.type !== 'list' ? [[], ...lines] : lines;
  });
  return (rows.length === 0 ? [[]] : rows).map((row, i) => [...(i === 0 ? mark : rest), ...row]);
}

function listLines({ children, ordered, start }: List, chunk: Chunk, columns: number): Line[] {
  return children.flatMap(({ checked, children: blocks }, i) => {
    const box = typeof checked === 'boolean' ? (checked ? '☑ ' : '☐ ') : '';
    const mark = `${ordered === true ? `${(start ?? 1) + i}.` : '•'} ${box}`;
    return within([span(mark, 'cyan')], blocks, chunk, columns, [span(' '.repeat(widthOf(mark)))]);
  });
}

function tableLines(table: Table, chunk: Chunk, columns: number): Line[] {
  const cells = table.children.map(({ children: row }) => row.map(({ children }) => inline(children, chunk)));
  const header = cells[0] ?? [];
  const room = columns - 3 * (header.length - 1);
  const natural = header.map((_, i) => Math.max(1, ...cells.map((row) => widthOf(textOf(row[i] ?? [])))));
  const widths = sharedOut(natural, room);
  if (widths === undefined) return source(sourceOf(chunk, table), columns);
  const rows = cells.flatMap((row, i) => {
    const parts = widths.map((width, j) =>
      wrapped(i === 0 ? bold(row[j] ?? []) : (row[j] ?? []), width, { words: true }),
    );
    const height = Math.max(...parts.map(({ length }) => length));
    return Array.from({ length: height }, (_, at) => tableRow(parts, widths, at));
  });
  const height = headerHeight(header, widths);
  const rule = [span(widths.map((width) => '─'.repeat(width)).join('─┼─'), 'dim')];
  return [...rows.slice(0, height), rule, ...rows.slice(height)];
}

function headerHeight(row: readonly Line[], widths: readonly number[]): number {
  return Math.max(...widths.map((width, i) => wrapped(bold(row[i] ?? []), width, { words: true }).length));
}

function tableRow(parts: readonly (readonly Line[])[], widths: readonly number[], at: number): Line {
  return widths.flatMap((width, i) => {
    const cell = parts[i]?.[at] ?? [];
    const isLast = i === widths.length - 1;
    const blank = isLast ? '' : ' '.repeat(Math.max(0, width - widthOf(textOf(cell))));
    return [...cell, span(blank), ...(isLast ? [] : [span(' │ ', 'dim')])];
  });
}

/** Shares the columns out: narrow cells keep their width, wide ones share what is left. */
function sharedOut(natural: readonly number[], room: number): readonly number[] | undefined {
  if (natural.reduce((sum, width) => sum + width, 0) <= room) return natural;
  let left = room;
  let open = natural.length;
  const widths = new Map<number, number>();
  for (const [i, width] of [...natural.entries()].sort(([, a], [, b]) => a - b)) {
    const share = Math.floor(left / open);
    const given = Math.min(width, share);
    widths.set(i, given);
    left -= given;
    open -= 1;
  }
  const shared = natural.map((_, i) => widths.get(i) ?? 0);
  return shared.some((width, i) => width < Math.min(CELL_COLUMNS_MIN, natural[i] ?? 0)) ? undefined : shared;
}

function bold(line: Line): Line {
  return line.map(({ text, styles = [] }) => ({ text, styles: [...styles, 'bold'] }));
}

/** The spans of a text with emphasis, code and links. */
function inline(nodes: readonly PhrasingContent[], chunk: Chunk, styles: readonly Style[] = []): Span[] {
  return nodes.flatMap((node) => inlineSpans(node, chunk, styles));
}

function inlineSpans(node: PhrasingContent, chunk: Chunk, styles: readonly Style[]): Span[] {
  switch (node.type) {
    case 'text':
      return [styled(plain(node.value), styles)];
    case 'strong':
      return inline(node.children, chunk, [...styles, 'bold']);
    case 'emphasis':
      return inline(node.children, chunk, [...styles, 'italic']);
    case 'delete':
      return [styled('~~', styles), ...inline(node.children, chunk, styles), styled('~~', styles)];
    case 'inlineCode':
      return [styled(plain(node.value), [...styles, 'cyan'])];
    case 'link':
      return linkSpans(node, styles, inline(node.children, chunk, [...styles, 'underline']));
    case 'break':
      return [styled('\n', styles)];
    default:
      return [styled(plain(sourceOf(chunk, node)), styles)];
  }
}

/** A link shows where it leads, unless its text says so. */
function linkSpans({ url }: Link, styles: readonly Style[], shown: Span[]): Span[] {
  const target = plain(url);
  const text = textOf(shown);
  const isSame = [text, `mailto:${text}`, `http://${text}`].includes(target);
  return isSame ? shown : [...shown, styled(` (${target})`, [...styles, 'dim'])];
}

function styled(text: string, styles: readonly Style[]): Span {
  return span(text, ...styles);
}
