/** Draws the screen: rows of text for a size, from the tree and the state of the screen alone. Pure. */
import {
  askLine,
  countNodes,
  headLine,
  nodeLines,
  openAsks,
  optionsOf,
  type PictureLine,
  type pictureOf,
  type TreeView,
} from '@reprise/tree';
import { escapeLine } from '../../text/escape.js';
import { cutToColumns, widthOfText, wrapToColumns } from '../../text/layout.js';
import { fitted } from '../fit.js';
import { helpLines, keysIn, NODE_KEYS, TREE_KEYS } from './help.js';
import { defaultOf, END_WORDS, type ScreenState, shownNodes, type Typing } from './state.js';

/** A row, and how it is emphasized. */
export interface Row {
  readonly text: string;
  readonly style: 'plain' | 'bold' | 'dim' | 'selected' | 'ask';
}

/** What is drawn besides the tree and the state. */
interface DrawOptions {
  readonly columns: number;
  readonly rows: number;
  /** The time in journal milliseconds. */
  readonly now: number;
  readonly textOf: NonNullable<Parameters<typeof pictureOf>[1]>['textOf'];
  /** The lines of the opened node. */
  readonly detail: readonly string[];
  /** Whether this process runs the tree. */
  readonly runs: boolean;
  /** Whether no process has the world open: then nothing goes on. */
  readonly isUnowned?: boolean;
  /** The newest frame with a change of the tree. */
  readonly newest: number;
}

const ASKS_MAX = 3;
/** How many rows a question takes at most, and the part of the screen that all of them may take. */
const ASK_ROWS_MAX = 2;
const ASKS_PART = 1 / 4;

/** The rows of the screen: exactly as many as it has. */
export function draw(tree: TreeView, state: ScreenState, options: DrawOptions): readonly Row[] {
  const { columns, rows, now } = options;
  const rule: Row = { text: ` ${'─'.repeat(Math.max(1, columns - 2))}`, style: 'dim' };
  const isUnowned = options.isUnowned === true && state.at === null;
  const head = wrappedRows(headLine(tree, { now, isUnowned }).text, columns, 'bold');
  const asks = state.help === null ? askRows(tree, options) : [];
  const foot = footOf(tree, state, options);
  const above = [...head, ...asks, rule];
  const room = Math.max(1, rows - above.length - foot.length - 1);
  const middle = middleOf(tree, state, options, room);
  const filled = [
    ...middle,
    ...Array.from({ length: room - middle.length }, (): Row => ({ text: '', style: 'plain' })),
  ];
  return [...above, ...filled, rule, ...foot].slice(0, rows);
}

function middleOf(tree: TreeView, state: ScreenState, options: DrawOptions, room: number): readonly Row[] {
  if (state.help !== null) return textRows(helpLines(options.columns), state.help, options.columns, room);
  if (state.open !== null) return textRows(options.detail, state.open.from, options.columns, room);
  return treeRows(tree, state, options, room);
}

/** The open questions: each with all of its options, as many of them as a quarter of the screen has room for. */
function askRows(tree: TreeView, { columns, rows }: DrawOptions): readonly Row[] {
  const open = openAsks(tree);
  const most = Math.max(1, Math.floor(rows * ASKS_PART));
  const shown: Row[] = [];
  let asked = 0;
  for (const ask of open.slice(0, ASKS_MAX)) {
    const lines = askLines(askLine(tree, ask), columns);
    if (asked > 0 && shown.length + lines.length > most) break;
    shown.push(...lines);
    asked += 1;
  }
  const left = open.length - asked;
  if (left === 0) return shown;
  return [...shown, { text: cutToColumns(` ? ${left} more: / and ask shows them`, columns), style: 'ask' }];
}

/** A question in at most two rows: its words are cut before its options are. */
function askLines({ text, indent }: PictureLine, columns: number): readonly Row[] {
  const words = escapeLine(text);
  const at = words.indexOf('   [');
  const [question, options] = at < 0 ? [words, ''] : [words.slice(0, at), words.slice(at)];
  for (let width = widthOfText(question); width > columns / 4; width -= 4) {
    const rows = wrapToColumns(`${cutToColumns(question, width)}${options}`, columns, indent).split('\n');
    if (rows.length <= ASK_ROWS_MAX) return rows.map((row) => ({ text: row, style: 'ask' }));
  }
  return [cutToColumns(question, columns), cutToColumns(options, columns)]
    .filter((row) => row !== '')
    .map((row) => ({ text: row, style: 'ask' }));
}

/** A text in as many rows as it needs. */
function wrappedRows(text: string, columns: number, style: Row['style'] = 'plain'): readonly Row[] {
  return wrapToColumns(escapeLine(text), columns, 1)
    .split('\n')
    .map((row) => ({ text: row, style }));
}

/** The part of the tree around the selected node. */
function treeRows(tree: TreeView, state: ScreenState, { columns, textOf }: DrawOptions, room: number): Row[] {
  const shown = new Set(shownNodes(tree, state.filter));
  const lines = nodeLines(tree, textOf === undefined ? {} : { textOf }).filter(({ n }) => n === null || shown.has(n));
  const at = Math.max(
    0,
    lines.findIndex(({ n }) => n === state.selected),
  );
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), lines.length - room));
  return lines.slice(from, from + room).map((line) => nodeRow(line, state.selected, columns));
}

function nodeRow(line: PictureLine, selected: number, columns: number): Row {
  const isSelected = line.n === selected && line.kind === 'node';
  const text = isSelected ? `❯${line.text.slice(1)}` : line.text;
  return {
    text: fitted({ ...line, text }, columns),
    style: isSelected ? 'selected' : line.kind === 'note' ? 'dim' : 'plain',
  };
}

function textRows(lines: readonly string[], from: number, columns: number, room: number): Row[] {
  const first = Math.max(0, Math.min(from, lines.length - room));
  return lines
    .slice(first, first + room)
    .map((text, i) => ({ text: cutToColumns(escapeLine(text), columns), style: first + i === 0 ? 'bold' : 'plain' }));
}

/** The rows below the tree: what is asked or typed, or the keys. */
function footOf(tree: TreeView, state: ScreenState, options: DrawOptions): readonly Row[] {
  const { columns } = options;
  const rows = (text: string, style?: Row['style']) => wrappedRows(text, columns, style);
  if (state.confirm?.what === 'leave')
    return [
      ...rows(' Leave? Nothing is ended: reprise tree continue goes on.', 'ask'),
      ...rows(' l or Ctrl-C leave   e end all nodes   esc back'),
    ];
  if (state.confirm?.what === 'stop')
    return [...rows(` Stop #${state.confirm.n} and all below it?`, 'ask'), ...rows(' y stop   esc back')];
  if (state.typing !== null)
    return typingRows(tree, state.typing, state.message).flatMap((text, i) => rows(text, i === 0 ? 'ask' : 'plain'));
  if (state.help !== null) return rows(' ↑↓ scroll  esc or ? back', 'dim');
  const past = state.at === null ? '' : ` frame ${state.at} of ${options.newest}, as it was: [ ] other frames  . now`;
  const said = state.message === '' ? past : ` ${state.message}`;
  const keys: Row = { text: keysIn(state.open === null ? TREE_KEYS : NODE_KEYS, columns), style: 'dim' };
  const filter = state.filter === '' ? '' : ` filter: ${state.filter} (esc ends it)`;
  if (said !== '' || state.open !== null) return [...rows(said, state.at === null ? 'plain' : 'ask'), keys];
  return [...rows(`${runningOf(tree, options)}${filter}`), keys];
}

const PURPOSES: Readonly<Record<Typing['for'], (n: number, tree: TreeView) => string>> = {
  answer: (n) => ` Answer #${n}: ⏎ sends, esc leaves it open`,
  tell: (n) => ` Tell #${n}: ⏎ sends, esc drops it`,
  add: (n) => ` A child of #${n}: its goal; ⏎ adds it, esc drops it`,
  end: (_, tree) => ` End all ${openIn(tree)} nodes for good? Type ${END_WORDS} and ⏎; esc ends nothing`,
  filter: () => ' Show the nodes with these words: ⏎ keeps them, esc shows all',
};

function typingRows(tree: TreeView, typing: Typing, message: string): readonly string[] {
  const ask = typing.for === 'answer' ? tree.asks.get(typing.n) : undefined;
  const goal = ask === undefined ? '' : ` ${tree.nodes.get(ask.ask)?.goal ?? ''}`;
  const options =
    ask === undefined
      ? []
      : optionsOf(ask).map((option, i) => `${i + 1} ${option}${option === defaultOf(ask) ? ' (default: ⏎)' : ''}`);
  return [
    PURPOSES[typing.for](typing.n, tree),
    ...(ask === undefined ? [] : [goal]),
    ...(options.length === 0 ? [] : [`   ${options.join('     ')}`]),
    ...(message === '' ? [] : [` ${message}`]),
    ` > ${typing.text}_`,
  ];
}

/** The nodes that have not ended. */
function openIn(tree: TreeView): number {
  const { all, ended } = countNodes(tree);
  return all - ended;
}

function runningOf(tree: TreeView, { isUnowned }: DrawOptions): string {
  if (tree.ended !== null) return ' it has ended: all of it can be read, frame by frame';
  if (isUnowned === true) return ` nothing runs: reprise tree continue ${tree.name} goes on`;
  const running = [...tree.nodes.values()].filter(
    ({ status, run, type }) => status === 'active' && run !== 'waiting' && type !== 'ask',
  );
  if (running.length === 0) return ' nothing runs';
  const shown = running.slice(0, 12).map(({ n }) => `#${n}`);
  return ` running: ${shown.join(' ')}${running.length > 12 ? ` and ${running.length - 12} more` : ''}`;
}
