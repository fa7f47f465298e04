/**
 * Texts of others: whole, as they are, code as code. A long one is folded until it is opened.
 *
 * Invariants
 * T1  An opened text has every character of the original, in order, and none besides.
 * T2  A folded text says how much there is.
 */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { plain, safe } from '../words/names.js';
import { amount, size } from '../words/numbers.js';

/** A text of more than this is folded. */
const LINES_MAX = 8;
const UNITS_MAX = 900;
/** How much of a folded text is shown. */
const LINES_SHOWN = 5;
const UNITS_SHOWN = 500;

interface TextProps {
  readonly text: string;
  /** Whether it is data or code from its beginning. */
  readonly code?: boolean;
  /** Whether it is open when it appears. */
  readonly open?: boolean;
}

/** A text that is folded when it is long. */
export function Text({ text, code = false, open = false }: TextProps) {
  const [isOpen, setOpen] = useState(open);
  const lines = countLines(text);
  if (lines <= LINES_MAX && text.length <= UNITS_MAX) return <Whole text={plain(text)} code={code} />;
  const button = (
    <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
      {isOpen ? 'fold' : 'show all'}{' '}
      <span class="quiet">
        {lines > 1 ? `${amount(lines, 'line')}, ` : ''}
        {size(text.length)}
      </span>
    </button>
  );
  if (isOpen)
    return (
      <>
        <Whole text={text} code={code} />
        {button}
      </>
    );
  return (
    <>
      <Whole text={plain(startOf(text))} code={code} />
      {button}
    </>
  );
}

/** All of a text. */
export function Whole({ text, code = false }: TextProps) {
  if (code) return <pre class="text code">{piecesOf(text)}</pre>;
  return (
    <div class="text">
      {segmentsOf(text).map(({ kind, text: part }, i) =>
        kind === 'prose' ? piecesOf(part) : <Code key={i} text={part} isDiff={kind === 'diff'} />,
      )}
    </div>
  );
}

function Code({ text, isDiff }: { readonly text: string; readonly isDiff: boolean }) {
  if (!isDiff) return <span class="block">{piecesOf(text)}</span>;
  return (
    <span class="block">
      {text.split(/(?<=\n)/).map((line, i) => (
        <span key={i} class={line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : undefined}>
          {line}
        </span>
      ))}
    </span>
  );
}

/** A browser lays out a text of this length at once; what is longer is cut into pieces, of which it lays out those in sight. */
const PIECE = 20_000;

/** A very long text in pieces, cut behind the ends of lines where there are any. */
function piecesOf(text: string): ComponentChildren {
  if (text.length <= 2 * PIECE) return text;
  const pieces: JSX.Element[] = [];
  for (let from = 0; from < text.length; ) {
    const end = text.lastIndexOf('\n', from + PIECE) + 1;
    const to = end > from ? end : from + PIECE;
    pieces.push(
      <span key={from} class="piece">
        {text.slice(from, to)}
      </span>,
    );
    from = to;
  }
  return pieces;
}

interface Segment {
  readonly kind: 'prose' | 'code' | 'diff';
  readonly text: string;
}

/** A text cut where code begins and ends, by the fences that people and models write. */
export function segmentsOf(text: string): readonly Segment[] {
  if (!text.includes('```')) return [{ kind: 'prose', text }];
  const segments: Segment[] = [];
  let [from, fence] = [0, null as RegExpExecArray | null];
  const mark = /^ {0,3}```([a-z]*)[^\n]*(?:\n|$)/gim;
  for (let found = mark.exec(text); found !== null && found[0] !== ''; found = mark.exec(text)) {
    const end = fence === null ? found.index : mark.lastIndex;
    if (end > from) segments.push({ kind: kindOf(fence), text: text.slice(from, end) });
    from = end;
    fence = fence === null ? found : null;
  }
  if (from < text.length) segments.push({ kind: kindOf(fence), text: text.slice(from) });
  return segments;
}

function kindOf(fence: RegExpExecArray | null): Segment['kind'] {
  return fence === null ? 'prose' : fence[1]?.toLowerCase() === 'diff' ? 'diff' : 'code';
}

function startOf(text: string): string {
  let end = -1;
  for (let line = 0; line < LINES_SHOWN; line++) {
    end = text.indexOf('\n', end + 1);
    if (end === -1) break;
  }
  return `${text.slice(0, Math.min(UNITS_SHOWN, end === -1 ? text.length : end)).trimEnd()} …`;
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < text.length - 1; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

/** Words of others in one line, cut where the line ends. */
export function Line({ text }: { readonly text: string }) {
  return <span class="line">{safe(text.slice(0, 400).replace(/\s+/g, ' '))}</span>;
}
