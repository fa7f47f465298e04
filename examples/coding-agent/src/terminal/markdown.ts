/** Markdown as lines for a terminal: headings, lists, quotes, code and tables stay readable, and so does their source. */
import { Lexer, type Token, type Tokens } from 'marked';
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
 * M2  A block is given out when another block has begun behind it: nothing that follows changes its rows.
 */
export class MarkdownStream {
  /** The text whose rows were not given out. */
  #rest = '';
  #isFirst = true;

  /** Adds a piece. */
  push(piece: string): void {
    this.#rest += piece;
  }

  /** The rows of the blocks that are complete, each once. */
  take(columns: number): readonly Line[] {
    // A line that has not ended may still become anything.
    const whole = this.#rest.slice(0, this.#rest.lastIndexOf('\n') + 1);
    const blocks = blocksOf(whole);
    const last = blocks.findLastIndex(({ type }) => type !== 'space');
    const done = blocks.slice(0, Math.max(0, last));
    this.#rest = this.#rest.slice(done.reduce((length, { raw }) => length + raw.length, 0));
    return this.#rows(done, columns);
  }

  /** The rows of the text that is not complete, as it stands. */
  live(columns: number): readonly Line[] {
    const isFirst = this.#isFirst;
    const rows = this.#rows(blocksOf(this.#rest), columns);
    this.#isFirst = isFirst;
    return rows;
  }

  /** The rest of the rows: the text is complete. */
  end(columns: number): readonly Line[] {
    const done = this.take(columns);
    const rest = this.live(columns);
    this.#rest = '';
    this.#isFirst = true;
    return [...done, ...rest];
  }

  #rows(blocks: readonly Token[], columns: number): Line[] {
    const rows: Line[] = [];
    for (const block of blocks) {
      const lines = blockLines(block, columns);
      if (lines.length === 0) continue;
      if (!this.#isFirst) rows.push([]);
      this.#isFirst = false;
      rows.push(...lines);
    }
    return rows;
  }
}

/** The blocks of a text. Links to definitions elsewhere in the text stay as they were written (M1). */
function blocksOf(text: string): Token[] {
  const lines = text.replace(/\r\n?/g, '\n');
  return parsed(lines, () => new Lexer({ gfm: true }).blockTokens(lines, []));
}

/** The tokens of a text. What is nested so deeply that the parser gives up stays as it was written. */
function parsed(text: string, parse: () => Token[]): Token[] {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return text === '' ? [] : [{ type: 'html', raw: text, block: true, pre: false, text } satisfies Tokens.HTML];
  }
}

function blockLines(block: Token, columns: number): Line[] {
  switch (block.type) {
    case 'space':
    case 'def':
      return block.type === 'def' ? source(block.raw, columns) : [];
    case 'heading': {
      const { depth, text } = block as Tokens.Heading;
      return paragraph([span(`${'#'.repeat(depth)} `, 'dim'), ...inline(text, ['bold'])], columns);
    }
    case 'code':
      return codeLines(block as Tokens.Code, columns);
    case 'blockquote':
      return within([span('│ ', 'dim')], (block as Tokens.Blockquote).tokens, columns);
    case 'list':
      return listLines(block as Tokens.List, columns);
    case 'table':
      return tableLines(block as Tokens.Table, columns);
    case 'hr':
      return [[span('─'.repeat(Math.min(columns, 40)), 'dim')]];
    case 'paragraph':
    case 'text':
      return paragraph(inline((block as Tokens.Paragraph).text), columns);
    default:
      return source(block.raw, columns);
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

function codeLines({ text, lang }: Tokens.Code, columns: number): Line[] {
  const edge = span('  ', 'dim');
  const name = lang === undefined || lang === '' ? [] : [[edge, span(fitting(plain(lang), columns - 2), 'dim')]];
  const rows = plain(text)
    .split('\n')
    .flatMap((line) => wrapped([span(line, 'cyan')], columns - 2))
    .map((row) => [edge, ...row]);
  return [...name, ...rows];
}

/** Blocks behind a mark, for example the items of a list: the mark before the first row, blanks before the others. */
function within(mark: Line, blocks: readonly Token[], columns: number, rest: Line = mark): Line[] {
  const room = columns - widthOf(textOf(mark));
  if (room < NESTED_COLUMNS_MIN) return source(blocks.map(({ raw }) => raw).join(''), columns);
  const rows = blocks.flatMap((block, i) => {
    const lines = blockLines(block, room);
    const isApart = i > 0 && lines.length > 0 && block.type !== 'list' && block.type !== 'text';
    return isApart ? [[], ...lines] : lines;
  });
  return (rows.length === 0 ? [[]] : rows).map((row, i) => [...(i === 0 ? mark : rest), ...row]);
}

function listLines({ items, ordered, start }: Tokens.List, columns: number): Line[] {
  return items.flatMap((item, i) => {
    const box = item.task ? (item.checked ? '☑ ' : '☐ ') : '';
    const mark = `${ordered ? `${Number(start || 1) + i}.` : '•'} ${box}`;
    const blocks = item.tokens.filter(({ type }) => type !== 'space' && type !== 'checkbox');
    return within([span(mark, 'cyan')], blocks, columns, [span(' '.repeat(widthOf(mark)))]);
  });
}

function tableLines(table: Tokens.Table, columns: number): Line[] {
  const cells = [table.header, ...table.rows].map((row) => row.map(({ text }) => inline(text.replaceAll('\n', ' '))));
  const count = table.header.length;
  const room = columns - 3 * (count - 1);
  const natural = table.header.map((_, i) => Math.max(1, ...cells.map((row) => widthOf(textOf(row[i] ?? [])))));
  const widths = sharedOut(natural, room);
  if (widths === undefined) return source(table.raw, columns);
  const rows = cells.flatMap((row, i) => {
    const parts = widths.map((width, j) =>
      wrapped(i === 0 ? bold(row[j] ?? []) : (row[j] ?? []), width, { words: true }),
    );
    const height = Math.max(...parts.map(({ length }) => length));
    return Array.from({ length: height }, (_, at) => tableRow(parts, widths, at));
  });
  const header = rows.findIndex((_, i) => i + 1 >= headerHeight(cells[0] ?? [], widths));
  const rule = [span(widths.map((width) => '─'.repeat(width)).join('─┼─'), 'dim')];
  return [...rows.slice(0, header + 1), rule, ...rows.slice(header + 1)];
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
function inline(text: string, styles: readonly Style[] = []): Span[] {
  const tokens = parsed(text, () => new Lexer({ gfm: true }).inlineTokens(text, []));
  return tokens.flatMap((token) => inlineSpans(token, styles));
}

function inlineSpans(token: Token, styles: readonly Style[]): Span[] {
  const inner = (...more: readonly Style[]): Span[] =>
    ((token as Tokens.Strong).tokens ?? []).flatMap((one) => inlineSpans(one, [...styles, ...more]));
  switch (token.type) {
    case 'strong':
      return inner('bold');
    case 'em':
      return inner('italic');
    case 'del':
      return [styled('~~', styles), ...inner(), styled('~~', styles)];
    case 'codespan':
      return [styled(plain((token as Tokens.Codespan).text), [...styles, 'cyan'])];
    case 'link':
      return linkSpans(token as Tokens.Link, styles, inner('underline'));
    case 'br':
      return [styled('\n', styles)];
    case 'escape':
      return [styled(plain((token as Tokens.Escape).text), styles)];
    default: {
      const { tokens } = token as Tokens.Text;
      return tokens === undefined ? [styled(plain(token.raw), styles)] : inner();
    }
  }
}

/** A link shows where it leads, unless its text says so. */
function linkSpans({ href }: Tokens.Link, styles: readonly Style[], shown: Span[]): Span[] {
  const target = plain(href);
  const isSame = textOf(shown) === target || `mailto:${textOf(shown)}` === target;
  return isSame ? shown : [...shown, styled(` (${target})`, [...styles, 'dim'])];
}

function styled(text: string, styles: readonly Style[]): Span {
  return span(text, ...styles);
}
