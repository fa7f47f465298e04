/** The state of the screen, and what keys do to it. Pure: acts are returned, and executed elsewhere. */
import { type AskView, hasEnded, nodeLines, openAsks, optionsOf, type TreeView } from '@reprise/tree';
import type { ActVerb } from '../act.js';
import type { Key } from './keys.js';

/** What is being typed, and what it is for. */
export interface Typing {
  readonly for: 'answer' | 'tell' | 'add' | 'filter' | 'end';
  /** The node or the question. */
  readonly n: number;
  readonly text: string;
}

/** The state of the screen. */
export interface ScreenState {
  /** The number of the selected node. */
  readonly selected: number;
  /** The node that is shown in full, its first line, and which of its launches, from 1; null for the newest. */
  readonly open: { readonly n: number; readonly from: number; readonly launch: number | null } | null;
  readonly typing: Typing | null;
  /** A question of the screen itself: whether to leave, or to stop a node. */
  readonly confirm: { readonly what: 'leave' } | { readonly what: 'stop'; readonly n: number } | null;
  /** The first line of the help; null while it is not shown. */
  readonly help: number | null;
  readonly filter: string;
  /** What became of the last act. */
  readonly message: string;
  /** The frame after which the tree is shown; null for now. */
  readonly at: number | null;
}

/** What a key asks of the program: an act on a node, or to leave. */
export type Wish =
  | { readonly do: 'act'; readonly verb: ActVerb; readonly n: number; readonly text?: string }
  | { readonly do: 'leave' };

/** A wish that the screen itself fulfils: another frame. */
export interface Travel {
  readonly do: 'travel';
  /** The change before, the change behind, or now. */
  readonly to: -1 | 1 | 'now';
}

/** The screen at its beginning. */
export const BEGINNING: ScreenState = {
  selected: 1,
  open: null,
  typing: null,
  confirm: null,
  help: null,
  filter: '',
  message: '',
  at: null,
};

interface Pressed {
  readonly state: ScreenState;
  readonly wish?: Wish | Travel;
}

/** The screen after a key. @param runs whether this process runs the tree, and can end it */
export function press(state: ScreenState, key: Key, tree: TreeView, runs: boolean): Pressed {
  const calm = { ...state, message: '' };
  // A paste is text to be typed: it presses no key.
  if ('text' in key && key.pasted === true && state.typing === null) return { state };
  if ('key' in key && key.key === 'interrupt') return interrupt(calm, runs);
  if (state.confirm !== null) return confirm(calm, state.confirm, key);
  if (state.typing !== null) return type(calm, state.typing, key, tree);
  if (state.help !== null) return readHelp(calm, state.help, key);
  if (state.open !== null) return read(calm, state.open, key, tree, runs);
  return move(calm, key, tree, runs);
}

/** Ctrl-C asks whether to leave, where this process runs the tree; the second one leaves. It never ends anything. */
function interrupt(state: ScreenState, runs: boolean): Pressed {
  if (!runs || state.confirm?.what === 'leave') return { state: { ...state, confirm: null }, wish: { do: 'leave' } };
  return { state: { ...state, typing: null, confirm: { what: 'leave' } } };
}

/** What is typed out to end the whole tree: no key does, and no word to which the key before it could belong. */
export const END_WORDS = 'stop all';

/** The node whose stop ends the whole tree. */
const ROOT = 1;

/** Asks for the words that end the whole tree. */
function askToEnd(state: ScreenState): Pressed {
  return { state: { ...state, confirm: null, typing: { for: 'end', n: ROOT, text: '' } } };
}

function confirm(state: ScreenState, asked: NonNullable<ScreenState['confirm']>, key: Key): Pressed {
  const answer = 'text' in key ? key.text.toLowerCase() : key.key;
  const back = { ...state, confirm: null };
  if (asked.what === 'leave') {
    if (answer === 'l' || answer === 'q') return { state: back, wish: { do: 'leave' } };
    if (answer === 'e') return askToEnd(state);
  } else if (answer === 'y') return { state: back, wish: { do: 'act', verb: 'stop', n: asked.n } };
  return { state: answer === 'escape' || answer === 'n' || answer === 'b' ? back : state };
}

function type(state: ScreenState, typing: Typing, key: Key, tree: TreeView): Pressed {
  if ('text' in key) return { state: { ...state, typing: { ...typing, text: typing.text + key.text } } };
  if (key.key === 'backspace')
    return { state: { ...state, typing: { ...typing, text: [...typing.text].slice(0, -1).join('') } } };
  if (key.key === 'escape')
    return { state: { ...state, typing: null, filter: typing.for === 'filter' ? '' : state.filter } };
  if (key.key !== 'enter') return { state };
  const done = { ...state, typing: null };
  const text = typing.text.trim();
  if (typing.for === 'filter') return { state: { ...done, filter: text } };
  if (typing.for === 'end') return end(done, text);
  if (typing.for === 'answer') return answer(state, typing.n, text, tree);
  if (text === '') return { state: done };
  return { state: done, wish: { do: 'act', verb: typing.for, n: typing.n, text } };
}

/** Ends the whole tree, when the words were typed out. */
function end(state: ScreenState, text: string): Pressed {
  if (text !== END_WORDS) return { state: { ...state, message: `nothing was ended: "${text}" is not "${END_WORDS}"` } };
  const message = 'ending all nodes, and waiting for their programs to end';
  return { state: { ...state, message }, wish: { do: 'act', verb: 'stop', n: ROOT } };
}

/** The option that a question takes by itself, as it is shown. */
export const defaultOf = (ask: AskView): string | undefined =>
  ask.default === null ? undefined : optionsOf(ask)[ask.options.indexOf(ask.default)];

/** An answer is an option, its number, or nothing for the default; without options any text. Until it is one, the box stays. */
function answer(state: ScreenState, n: number, text: string, tree: TreeView): Pressed {
  const ask = tree.asks.get(n);
  const options = ask === undefined ? [] : optionsOf(ask);
  const meant = text === '' && ask !== undefined ? (defaultOf(ask) ?? '') : text;
  if (meant === '') return { state: { ...state, message: 'the question has no default: type an answer' } };
  const picked = options.includes(meant) ? meant : options[Number(meant) - 1];
  if (options.length > 0 && picked === undefined)
    return { state: { ...state, message: `"${meant}" is not one of the options` } };
  return { state: { ...state, typing: null }, wish: { do: 'act', verb: 'answer', n, text: picked ?? meant } };
}

/** How far keys scroll, in rows. */
const SCROLLS: Readonly<Record<string, number>> = { up: -1, down: 1, 'page-up': -10, 'page-down': 10 };

/** Keys while the help is shown: they scroll it, or end it. */
function readHelp(state: ScreenState, help: number, key: Key): Pressed {
  const by = 'key' in key ? SCROLLS[key.key] : undefined;
  return { state: { ...state, help: by === undefined ? null : Math.min(HELP_LINES_MAX, Math.max(0, help + by)) } };
}

/** No help has more lines: scrolling beyond its end would have to be undone. */
const HELP_LINES_MAX = 40;

/** Keys while a node is shown in full. */
function read(
  state: ScreenState,
  open: NonNullable<ScreenState['open']>,
  key: Key,
  tree: TreeView,
  runs: boolean,
): Pressed {
  const scrolled = (by: number): Pressed => ({
    state: { ...state, open: { ...open, from: Math.max(0, open.from + by) } },
  });
  if ('key' in key) {
    const by = SCROLLS[key.key];
    if (by !== undefined) return scrolled(by);
    if (key.key === 'left' || key.key === 'right') return otherLaunch(state, open, key.key === 'left' ? -1 : 1, tree);
    if (key.key === 'escape' || key.key === 'enter') return { state: { ...state, open: null } };
    return { state };
  }
  if (key.text === 'q') return { state: { ...state, open: null } };
  return commandKey(state, key.text, tree, runs);
}

/** The launch before or behind the one that is shown. */
function otherLaunch(
  state: ScreenState,
  open: NonNullable<ScreenState['open']>,
  by: -1 | 1,
  { nodes }: TreeView,
): Pressed {
  const all = nodes.get(open.n)?.launches.length ?? 0;
  const launch = Math.max(1, (open.launch ?? all) + by);
  return { state: { ...state, open: { ...open, from: 0, launch: launch >= all ? null : launch } } };
}

/** Keys while the tree is shown, and nothing is typed or open. */
function move(state: ScreenState, key: Key, tree: TreeView, runs: boolean): Pressed {
  if ('text' in key) return commandKey(state, key.text, tree, runs);
  if (key.key === 'enter') return { state: { ...state, open: { n: state.selected, from: 0, launch: null } } };
  if (key.key === 'escape') return { state: { ...state, filter: '' } };
  const by = SCROLLS[key.key];
  return by === undefined ? { state } : { state: { ...state, selected: neighbour(state, tree, by) } };
}

function neighbour(state: ScreenState, tree: TreeView, by: number): number {
  const numbers = shownNodes(tree, state.filter);
  const at = Math.max(0, numbers.indexOf(state.selected));
  return numbers[Math.min(numbers.length - 1, Math.max(0, at + by))] ?? state.selected;
}

/** The nodes that are shown, in the order of the picture. */
export function shownNodes(tree: TreeView, filter: string): readonly number[] {
  const wanted = filter.toLowerCase();
  return nodeLines(tree).flatMap(({ kind, n, text }) =>
    kind === 'node' && n !== null && text.toLowerCase().includes(wanted) ? [n] : [],
  );
}

const ACTS: readonly string[] = ['a', 't', 'n', 's', 'p', 'r'];

function commandKey(state: ScreenState, key: string, tree: TreeView, runs: boolean): Pressed {
  const n = state.selected;
  const node = tree.nodes.get(n);
  const typing = (what: Typing['for'], of = n): Pressed => ({
    state: { ...state, typing: { for: what, n: of, text: '' } },
  });
  if (state.at !== null && ACTS.includes(key))
    return {
      state: { ...state, message: `this is frame ${state.at}: only what is now can be acted on; . goes there` },
    };
  switch (key) {
    case '[':
      return { state, wish: { do: 'travel', to: -1 } };
    case ']':
      return { state, wish: { do: 'travel', to: 1 } };
    case '.':
      return { state, wish: { do: 'travel', to: 'now' } };
    case 'a': {
      const ask = askToAnswer(tree, n);
      return ask === undefined ? { state: { ...state, message: 'no question is open' } } : typing('answer', ask);
    }
    case 't':
      return typing('tell');
    case 'n':
      return typing('add');
    case '/':
      return typing('filter');
    case 's':
      if (n === ROOT) return askToEnd(state);
      return { state: { ...state, confirm: { what: 'stop', n } } };
    case 'p':
      return { state, wish: { do: 'act', verb: node?.paused === true ? 'resume' : 'pause', n } };
    case 'r':
      if (node !== undefined && !hasEnded(node)) return { state: { ...state, message: `#${n} has not ended` } };
      return { state, wish: { do: 'act', verb: 'retry', n } };
    case 'w':
      return { state: { ...state, open: { n, from: 0, launch: null } } };
    case '?':
      return { state: { ...state, help: 0 } };
    case 'q':
      return runs ? { state: { ...state, confirm: { what: 'leave' } } } : { state, wish: { do: 'leave' } };
    default:
      return { state };
  }
}

/** The question that is meant: the selected one, one of the selected node, or the first that is open. */
function askToAnswer(tree: TreeView, n: number): number | undefined {
  const open = openAsks(tree);
  return (open.find(({ ask }) => ask === n) ?? open.find(({ asker }) => asker === n) ?? openAsks(tree, 'people')[0])
    ?.ask;
}
