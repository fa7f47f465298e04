/**
 * The picture of a tree as lines of text: its head, the open questions, and a line for each node. A line has a left and
 * a right part, so that it can be fitted to a terminal.
 */
import type { Ref } from '@reprise/contracts';
import { FIXED_OPTIONS, type Given, type Used } from '../pure/contracts/index.js';
import {
  type AskView,
  countNodes,
  hasEnded,
  type NodeView,
  openAsks,
  type TreeView,
  treeUsedSoFar,
  usedSoFar,
  wordsOfActor,
} from './nodes.js';
import { stateOf, stateOfTree } from './states.js';
import { blockedBy, pausedAbove, type TreeWait, waitsByNode } from './waits.js';

/** A line of a picture. */
export interface PictureLine {
  readonly kind: 'head' | 'ask' | 'rule' | 'node' | 'note';
  readonly text: string;
  /** What stands at the right margin; empty for nothing. */
  readonly right: string;
  /** The node or the question of the line. */
  readonly n: number | null;
  /** The column below which a line that is too long goes on. */
  readonly indent: number;
}

interface PictureOptions {
  /** The beginning of a content, when it was read. */
  readonly textOf?: (of: Given | Ref) => string | undefined;
  /** Why a node failed, in the words of the provider, where they are known. */
  readonly failureOf?: (node: NodeView) => string | undefined;
  /** The codes of the troubles that hold a node up: of its session, of those below it, of services that they wait for. */
  readonly troubleOf?: (node: NodeView) => readonly string[];
  /** Whether no process has the world of the tree open, so that nothing of it goes on. */
  readonly isUnowned?: boolean;
  /** The time in journal milliseconds; that of the tree's newest frame when absent. */
  readonly now?: number;
  /** More rows than this: ended subtrees are shown by their top only. Default 200. */
  readonly foldAbove?: number;
}

const FOLD_ABOVE = 200;
const RESULT_SHOWN = 160;

/** The whole picture: head, questions, nodes. */
export function pictureOf(tree: TreeView, options: PictureOptions = {}): readonly PictureLine[] {
  const asks = openAsks(tree).map((ask) => askLine(tree, ask));
  return [headLine(tree, options), ...asks, { ...EMPTY, kind: 'rule' }, ...nodeLines(tree, options)];
}

const EMPTY: PictureLine = { kind: 'note', text: '', right: '', n: null, indent: 0 };

/** The head: name, state, time, progress, cost. */
export function headLine(tree: TreeView, { now, isUnowned }: PictureOptions = {}): PictureLine {
  const { mark, word } = stateOfTree(tree, isUnowned);
  const { all, ended, active } = countNodes(tree);
  const at = tree.ended?.at ?? now ?? tree.newest.at;
  const parts = [
    tree.name,
    `${mark} ${word}${tree.code === null ? '' : ` (${tree.code})`}`,
    timeBetween(tree.started.at, at),
    `${ended} of ${all} ended`,
    ...(active === 0 ? [] : [`${active} at work`]),
    costOf(tree),
    ...(tree.late === 0 ? [] : [`${tree.late} late`]),
  ];
  return { ...EMPTY, kind: 'head', text: ` ${parts.join(' · ')}`, indent: 1 };
}

function costOf(tree: TreeView): string {
  const { budget } = tree;
  const spent = treeUsedSoFar(tree);
  const inMoney = budget.unit === 'micro_money';
  const cost = inMoney || spent.micro_money > 0 ? moneyOf(spent.micro_money) : tokensOf(spent.tokens);
  if (budget.tree === null) return cost;
  return `${inMoney ? cost : tokensOf(spent.tokens)} of ${inMoney ? moneyOf(budget.tree) : tokensOf(budget.tree)}`;
}

/** A question: who asks whom, what, and the options. */
export function askLine(tree: TreeView, ask: AskView): PictureLine {
  const goal = tree.nodes.get(ask.ask)?.goal ?? '';
  const whom = ask.route.length === 0 ? 'you' : ask.route.map((n) => `#${n}`).join(', ');
  const options = optionsOf(ask).map(
    (option, i) => `   [${i + 1}] ${option}${option === ask.default ? ' (default)' : ''}`,
  );
  const text = ` ? #${ask.ask}  #${ask.asker} asks ${whom}: ${oneLine(goal)}${options.join('')}`;
  return { ...EMPTY, kind: 'ask', text, n: ask.ask, indent: 7 };
}

/** The answers that a question offers. */
export function optionsOf({ options, returns }: Pick<AskView, 'options' | 'returns'>): readonly string[] {
  if (options.length > 0) return options.map(oneLine);
  return FIXED_OPTIONS[returns] ?? [];
}

/** The lines of the nodes, from the root on. */
export function nodeLines(tree: TreeView, options: PictureOptions = {}): readonly PictureLine[] {
  const folds = tree.nodes.size > (options.foldAbove ?? FOLD_ABOVE);
  const lines: PictureLine[] = [];
  const stack: { readonly n: number; readonly depth: number }[] = [];
  const waits = waitsByNode(tree);
  for (const node of tree.nodes.values()) if (node.parent === null) stack.push({ n: node.n, depth: 0 });
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const node = tree.nodes.get(next.n);
    if (node === undefined) continue;
    const depth = next.depth + 1;
    const isFolded = folds && hasEnded(node) && node.children.length > 0;
    const shown = { ...options, waits: waits.get(node.n) ?? [] };
    lines.push(...linesOf(tree, node, next.depth, isFolded, shown));
    if (!isFolded) for (const n of node.children.toReversed()) stack.push({ n, depth });
  }
  return lines;
}

function linesOf(
  tree: TreeView,
  node: NodeView,
  depth: number,
  isFolded: boolean,
  { waits, ...options }: PictureOptions & { readonly waits: readonly TreeWait[] },
): PictureLine[] {
  const { mark, word } = stateOf(node);
  const margin = '  '.repeat(depth + 1);
  const troubles = options.troubleOf?.(node) ?? [];
  const notes = [
    ...whyOf(tree, node, waits),
    ...troubles.map((code) => `! ${code}`),
    ...(isFolded ? [`${countBelow(tree, node)} nodes below`] : []),
  ];
  const said = notes.length === 0 ? '' : `   ${notes.join(' · ')}`;
  const text = `${margin}${mark}${troubles.length === 0 ? '' : '!'} #${node.n} [${word}] ${node.type.toUpperCase()} ${oneLine(node.goal)}${said}`;
  const line: PictureLine = {
    kind: 'node',
    text,
    right: shownCost(tree, usedSoFar(node)),
    n: node.n,
    indent: margin.length + 2,
  };
  const below = [failureLine(node, `${margin}    `, options), resultLine(tree, node, `${margin}    `, options)];
  return [line, ...below.filter((one) => one !== undefined)];
}

function shownCost(tree: TreeView, { tokens, micro_money }: Used): string {
  if (micro_money > 0 || (tree.budget.unit === 'micro_money' && tokens > 0)) return moneyOf(micro_money);
  return tokens === 0 ? '' : tokensOf(tokens);
}

/** Why a node is where it is, in a few words. */
function whyOf(tree: TreeView, node: NodeView, waits: readonly TreeWait[]): string[] {
  const blocked = blockedBy(tree, node);
  const paused = hasEnded(node) || node.paused ? undefined : pausedAbove(tree, node);
  return [
    ...(blocked.length === 0 ? [] : [`blocked-by: ${blocked.map((n) => `#${n}`).join(', ')}`]),
    ...(paused === undefined ? [] : [`#${paused.n} is paused`]),
    ...waits.flatMap(({ kind }) => WAIT_WORDS[kind] ?? []),
    ...(node.code === null ? [] : [`${node.code}${stoppedBy(tree, node)}`]),
    ...(node.phase === 'work' || hasEnded(node) ? [] : [PHASE_WORDS[node.phase]]),
    ...(node.attempt > 1 && !hasEnded(node) ? [`attempt ${node.attempt}`] : []),
  ];
}

/** What a node waits for that neither its state nor another note says. */
const WAIT_WORDS: { readonly [K in TreeWait['kind']]?: string } = {
  approval: 'an approval',
  person: 'an answer to a tool',
  input: 'more input',
  limit: 'another limit',
  app: 'an answer of the app',
  budget: 'waits for budget',
};

function stoppedBy(tree: TreeView, { stopped_by: by }: NodeView): string {
  return by === undefined ? '' : ` by ${oneLine(wordsOfActor(tree, by))}`;
}

const PHASE_WORDS = { synthesis: 'synthesizes', answer: 'answers a question', repair: 'repairs its result' } as const;

function failureLine(node: NodeView, margin: string, { failureOf }: PictureOptions): PictureLine | undefined {
  const words = failureOf?.(node);
  if (words === undefined) return undefined;
  return { ...EMPTY, text: `${margin}failed: ${oneLine(words)}`, n: node.n, indent: margin.length };
}

function resultLine(
  tree: TreeView,
  node: NodeView,
  margin: string,
  { textOf }: PictureOptions,
): PictureLine | undefined {
  const outcome = tree.asks.get(node.n)?.outcome;
  if (outcome?.how === 'cancelled') return undefined; // its state says so
  if (outcome !== undefined && outcome !== null) {
    const text = outcome.picked ?? (outcome.text_ref === null ? undefined : textOf?.(outcome.text_ref));
    const said = text === undefined ? '' : ` ${oneLine(String(text))}`;
    const by = outcome.by === null ? '' : ` by ${oneLine(wordsOfActor(tree, outcome.by))}`;
    const how = outcome.how === 'answered' ? `answered${by}:` : OUTCOME_WORDS[outcome.how];
    return { ...EMPTY, text: `${margin}${how}${said}`, n: node.n, indent: margin.length };
  }
  if (node.result === null) return undefined;
  const text = textOf?.(node.result);
  if (text === undefined) return undefined;
  return { ...EMPTY, text: `${margin}result: ${shortened(oneLine(text))}`, n: node.n, indent: margin.length };
}

const OUTCOME_WORDS = { default: 'took its default:', timed_out: 'no answer in time' };

function countBelow(tree: TreeView, node: NodeView): number {
  let count = 0;
  const stack = [...node.children];
  for (let n = stack.pop(); n !== undefined; n = stack.pop()) {
    count += 1;
    for (const child of tree.nodes.get(n)?.children ?? []) stack.push(child);
  }
  return count;
}

function moneyOf(micro: number): string {
  if (micro > 0 && micro < 10_000) return `$${(micro / 1_000_000).toFixed(4)}`;
  return `$${(micro / 1_000_000).toFixed(2)}`;
}

function tokensOf(tokens: number): string {
  if (tokens < 10_000) return `${tokens} tokens`;
  if (tokens < 1_000_000) return `${(tokens / 1_000).toFixed(1)}k tokens`;
  return `${(tokens / 1_000_000).toFixed(2)}M tokens`;
}

/** The time between two times in milliseconds, as minutes and seconds. */
function timeBetween(from: number, to: number): string {
  const seconds = Math.max(0, Math.floor((to - from) / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const shown = [...(hours > 0 ? [hours] : []), minutes, seconds % 60];
  return shown.map((part) => String(part).padStart(2, '0')).join(':');
}

/** A text of others in one line, without what would control a terminal. */
function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
}

function shortened(text: string): string {
  const signs = [...text];
  return signs.length <= RESULT_SHOWN ? text : `${signs.slice(0, RESULT_SHOWN - 1).join('')}…`;
}
