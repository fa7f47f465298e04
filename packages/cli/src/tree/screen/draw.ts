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
import { cutToColumns } from '../../text/layout.js';
import { fitted } from '../fit.js';
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
  /** The newest frame with a change of the tree. */
  readonly newest: number;
}

const ASKS_MAX = 3;

/** The rows of the screen: exactly as many as it has. */
export function draw(tree: TreeView, state: ScreenState, options: DrawOptions): readonly Row[] {
  const { columns, rows, now } = options;
  const rule: Row = { text: ` ${'─'.repeat(Math.max(1, columns - 2))}`, style: 'dim' };
  const head: Row = { text: cutToColumns(escapeLine(headLine(tree, now).text), columns), style: 'bold' };
  const asks = openAsks(tree)
    .slice(0, ASKS_MAX)
    .map((ask): Row => ({ text: cutToColumns(escapeLine(askLine(tree, ask).text), columns), style: 'ask' }));
  const foot = footOf(tree, state, options);
  const above = [head, ...asks, rule];
  const room = Math.max(1, rows - above.length - foot.length - 1);
  const middle =
    state.open === null ? treeRows(tree, state, options, room) : detailRows(state.open.from, options, room);
  const filled = [
    ...middle,
    ...Array.from({ length: room - middle.length }, (): Row => ({ text: '', style: 'plain' })),
  ];
  return [...above, ...filled, rule, ...foot].slice(0, rows);
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

function detailRows(from: number, { detail, columns }: DrawOptions, room: number): Row[] {
  const first = Math.max(0, Math.min(from, detail.length - room));
  return detail
    .slice(first, first + room)
    .map((text, i) => ({ text: cutToColumns(escapeLine(text), columns), style: first + i === 0 ? 'bold' : 'plain' }));
}

/** The rows below the tree: what is asked or typed, or the keys. */
function footOf(tree: TreeView, state: ScreenState, options: DrawOptions): readonly Row[] {
  const { columns } = options;
  const cut = (text: string, style: Row['style'] = 'plain'): Row => ({
    text: cutToColumns(escapeLine(text), columns),
    style,
  });
  if (state.confirm?.what === 'leave')
    return [
      cut(' Leave? Nothing is ended: reprise tree continue goes on.', 'ask'),
      cut(' l or Ctrl-C leave   e end all nodes   esc back'),
    ];
  if (state.confirm?.what === 'stop')
    return [cut(` Stop #${state.confirm.n} and all below it?`, 'ask'), cut(' y stop   esc back')];
  if (state.typing !== null)
    return typingRows(tree, state.typing, state.message).map((text, i) => cut(text, i === 0 ? 'ask' : 'plain'));
  const past = state.at === null ? '' : ` frame ${state.at} of ${options.newest}, as it was: [ ] other frames  . now`;
  const said = state.message === '' ? past : ` ${state.message}`;
  if (state.open !== null)
    return [
      cut(said, state.at === null ? 'plain' : 'ask'),
      cut(' ⏎ back  ↑↓ scroll  ←→ launches  a answer  t tell  s stop  p pause  r retry  [ ] frames', 'dim'),
    ];
  const filter = state.filter === '' ? '' : ` filter: ${state.filter} (esc ends it)`;
  const keys =
    ' ↑↓ move  ⏎ open  a answer  t tell  n add  s stop  p pause  r retry  w why  / filter  [ ] frames  q leave';
  if (said !== '') return [cut(said, state.at === null ? 'plain' : 'ask'), cut(keys, 'dim')];
  return [cut(`${runningOf(tree)}${filter}`), cut(keys, 'dim')];
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

function runningOf(tree: TreeView): string {
  const running = [...tree.nodes.values()].filter(
    ({ status, run, type }) => status === 'active' && run !== 'waiting' && type !== 'ask',
  );
  if (running.length === 0) return ' nothing runs';
  const shown = running.slice(0, 12).map(({ n }) => `#${n}`);
  return ` running: ${shown.join(' ')}${running.length > 12 ? ` and ${running.length - 12} more` : ''}`;
}
