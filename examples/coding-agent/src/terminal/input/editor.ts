/**
 * The text that a person types: its cursor, its history, and the meaning of each key. Pure.
 *
 * Invariants
 * E1  The cursor stands between two clusters of characters, never inside one.
 * E2  Each input changes the text, moves the cursor or has one effect; a paste only inserts.
 */
import { graphemesOf } from '../text/width.js';
import type { Input, Key } from './keys.js';
import { layout } from './layout.js';

/** The state of the input. */
export interface Editor {
  readonly text: string;
  /** In code units, between two clusters. */
  readonly cursor: number;
  /** What was cut last, for Ctrl-Y. */
  readonly cut: string;
  /** Earlier texts, oldest first. */
  readonly history: readonly string[];
  /** Which earlier text is shown; undefined for the text that is being typed. */
  readonly recalled: number | undefined;
  /** The text that was being typed before an earlier one was recalled. */
  readonly draft: string;
}

/** What an input asks of the program. */
export type Effect = 'submit' | 'interrupt' | 'escape' | 'end' | 'complete' | 'expand' | 'redraw' | 'suspend';

/** An editor after an input. */
export interface Edited {
  readonly editor: Editor;
  readonly effect?: Effect;
}

/** An empty input. */
export function editorWith(history: readonly string[]): Editor {
  return { text: '', cursor: 0, cut: '', history, recalled: undefined, draft: '' };
}

/** The same editor with another text, and the cursor at its end. */
export function withText(editor: Editor, text: string): Editor {
  return { ...editor, text, cursor: text.length, recalled: undefined, draft: '' };
}

/** Applies an input. `columns`: the width in which the text is shown, for moves between rows. */
export function edit(editor: Editor, input: Input, columns: number): Edited {
  if (input.kind === 'key') return pressed(editor, input, columns);
  return { editor: inserted(editor, input.text) };
}

function pressed(editor: Editor, key: Key, columns: number): Edited {
  const effect = effectOf(editor, key);
  if (effect === 'newline') return { editor: inserted(editor, '\n') };
  if (effect === 'continued') return { editor: continued(editor) };
  if (effect !== undefined) return { editor, effect };
  return { editor: CHANGES[nameOf(key)]?.(editor, columns) ?? editor };
}

function effectOf(editor: Editor, key: Key): Effect | 'newline' | 'continued' | undefined {
  const { name } = key;
  if (name === 'enter' && (key.shift || key.alt || key.ctrl)) return 'newline';
  if (name === 'enter') return editor.text.slice(0, editor.cursor).endsWith('\\') ? 'continued' : 'submit';
  if (name === 'escape') return 'escape';
  if (name === 'tab' && !key.shift) return 'complete';
  if (key.ctrl !== true || key.alt === true) return undefined;
  if (name === 'j') return 'newline';
  if (name === 'c') return 'interrupt';
  if (name === 'd' && editor.text === '') return 'end';
  if (name === 'l') return 'redraw';
  if (name === 'z') return 'suspend';
  return name === 'o' ? 'expand' : undefined;
}

function nameOf({ name, ctrl, alt }: Key): string {
  return `${ctrl ? 'ctrl-' : ''}${alt ? 'alt-' : ''}${name}`;
}

type Change = (editor: Editor, columns: number) => Editor;

const CHANGES: Readonly<Record<string, Change>> = {
  left: (editor) => at(editor, before(editor)),
  'ctrl-b': (editor) => at(editor, before(editor)),
  right: (editor) => at(editor, after(editor)),
  'ctrl-f': (editor) => at(editor, after(editor)),
  'ctrl-left': (editor) => at(editor, wordBefore(editor)),
  'alt-left': (editor) => at(editor, wordBefore(editor)),
  'alt-b': (editor) => at(editor, wordBefore(editor)),
  'ctrl-right': (editor) => at(editor, wordAfter(editor)),
  'alt-right': (editor) => at(editor, wordAfter(editor)),
  'alt-f': (editor) => at(editor, wordAfter(editor)),
  home: (editor) => at(editor, lineStart(editor)),
  'ctrl-a': (editor) => at(editor, lineStart(editor)),
  end: (editor) => at(editor, lineEnd(editor)),
  'ctrl-e': (editor) => at(editor, lineEnd(editor)),
  up: (editor, columns) => moved(editor, columns, -1),
  down: (editor, columns) => moved(editor, columns, 1),
  'ctrl-p': (editor) => recalled(editor, -1),
  'ctrl-n': (editor) => recalled(editor, 1),
  backspace: (editor) => without(editor, before(editor), editor.cursor),
  delete: (editor) => without(editor, editor.cursor, after(editor)),
  'ctrl-d': (editor) => without(editor, editor.cursor, after(editor)),
  'ctrl-w': (editor) => cutOut(editor, wordBefore(editor), editor.cursor),
  'alt-backspace': (editor) => cutOut(editor, wordBefore(editor), editor.cursor),
  'ctrl-backspace': (editor) => cutOut(editor, wordBefore(editor), editor.cursor),
  'alt-d': (editor) => cutOut(editor, editor.cursor, wordAfter(editor)),
  'ctrl-u': (editor) => cutOut(editor, lineStart(editor), editor.cursor),
  'ctrl-k': (editor) => cutOut(editor, editor.cursor, lineEnd(editor)),
  'ctrl-y': (editor) => inserted(editor, editor.cut),
};

function at(editor: Editor, cursor: number): Editor {
  return { ...editor, cursor };
}

function inserted(editor: Editor, text: string): Editor {
  const { text: old, cursor } = editor;
  const whole = old.slice(0, cursor) + text + old.slice(cursor);
  return { ...editor, text: whole, cursor: boundaryFrom(whole, cursor + text.length), recalled: undefined };
}

/** A backslash before Enter becomes a line break. */
function continued(editor: Editor): Editor {
  return inserted(without(editor, editor.cursor - 1, editor.cursor), '\n');
}

function without(editor: Editor, from: number, to: number): Editor {
  const text = editor.text.slice(0, from) + editor.text.slice(to);
  return { ...editor, text, cursor: boundaryFrom(text, from), recalled: undefined };
}

function cutOut(editor: Editor, from: number, to: number): Editor {
  if (from === to) return editor;
  return { ...without(editor, from, to), cut: editor.text.slice(from, to) };
}

/** E1: the first boundary at or after a place; inserting may have joined two clusters. */
function boundaryFrom(text: string, place: number): number {
  const from = text.lastIndexOf('\n', place - 1) + 1;
  let end = from;
  for (const grapheme of graphemesOf(text.slice(from, endOfLine(text, place)))) {
    if (end >= place) return end;
    end += grapheme.length;
  }
  return Math.max(end, place);
}

function before({ text, cursor }: Editor): number {
  if (cursor === 0) return 0;
  if (text[cursor - 1] === '\n') return cursor - 1;
  const from = text.lastIndexOf('\n', cursor - 1) + 1;
  return cursor - (graphemesOf(text.slice(from, cursor)).at(-1)?.length ?? 1);
}

function after({ text, cursor }: Editor): number {
  if (text[cursor] === '\n') return cursor + 1;
  return cursor + (graphemesOf(text.slice(cursor, endOfLine(text, cursor)))[0]?.length ?? 0);
}

const WORD = /[\p{L}\p{N}\p{M}_]/u;

function wordBefore({ text, cursor }: Editor): number {
  const graphemes = graphemesOf(text.slice(0, cursor));
  let left = graphemes.length;
  while (left > 0 && !WORD.test(graphemes[left - 1] ?? '')) left -= 1;
  while (left > 0 && WORD.test(graphemes[left - 1] ?? '')) left -= 1;
  return graphemes.slice(0, left).join('').length;
}

function wordAfter({ text, cursor }: Editor): number {
  const graphemes = graphemesOf(text.slice(cursor));
  let right = 0;
  while (right < graphemes.length && !WORD.test(graphemes[right] ?? '')) right += 1;
  while (right < graphemes.length && WORD.test(graphemes[right] ?? '')) right += 1;
  return cursor + graphemes.slice(0, right).join('').length;
}

function lineStart({ text, cursor }: Editor): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1;
}

function lineEnd({ text, cursor }: Editor): number {
  return endOfLine(text, cursor);
}

function endOfLine(text: string, place: number): number {
  const end = text.indexOf('\n', place);
  return end < 0 ? text.length : end;
}

/** Moves by a row on the screen; beyond the first and the last row, through the history. */
function moved(editor: Editor, columns: number, by: -1 | 1): Editor {
  const { rows, row, column } = layout(editor.text, editor.cursor, columns);
  const target = rows[row + by];
  if (target === undefined) return recalled(editor, by);
  let place = target.from;
  let used = 0;
  for (const { length, columns: width } of target.cells) {
    if (used + width > column) break;
    used += width;
    place += length;
  }
  return at(editor, place);
}

function recalled(editor: Editor, by: -1 | 1): Editor {
  const { history, recalled: shown = history.length } = editor;
  const next = shown + by;
  if (next < 0 || next > history.length) return editor;
  const draft = shown === history.length ? editor.text : editor.draft;
  const text = next === history.length ? draft : (history[next] ?? '');
  return { ...editor, text, cursor: text.length, draft, recalled: next === history.length ? undefined : next };
}
