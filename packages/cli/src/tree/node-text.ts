/** One node of a tree in full, as text. */

import { ancestors, whyOf } from '@reprise/operators/words';
import { type NodeView, rightsInView, stateOf, type TreeView, usedSoFar, wordsOfActor } from '@reprise/tree';
import { escapeText } from '../text/escape.js';
import { cutToColumns, wrapToColumns } from '../text/layout.js';
import type { Texts } from './texts.js';

const LABEL = 9;
const TEXT_UNITS = 4_000;

/** One launch of a node in place of all. */
interface OneLaunch {
  /** Counted from 1; null for the newest. */
  readonly launch: number | null;
}

/** What holds a node up, in lines. */
interface HeldUp {
  readonly troubles: readonly string[];
}

/** One node in full: with a line for each launch, or with what one launch was told. */
export async function nodeText(
  tree: TreeView,
  node: NodeView,
  texts: Texts,
  columns: number | undefined,
  shown?: OneLaunch | HeldUp,
): Promise<string> {
  const one = shown !== undefined && 'launch' in shown ? shown : undefined;
  const troubles = shown !== undefined && 'troubles' in shown ? shown.troubles : [];
  const at = one === undefined ? undefined : (one.launch ?? node.launches.length) - 1;
  const launches = at === undefined ? node.launches : node.launches.slice(Math.max(0, at)).slice(0, 1);
  const [told] = at === undefined ? [] : launches;
  const { mark, word } = stateOf(node);
  const goals = [...ancestors(tree, node).toReversed(), node].map(({ n, goal }) => `#${n} "${goal}"`);
  const needs = node.needs.map((n) => `#${n} ${stateOf(tree.nodes.get(n) ?? node).mark}`);
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['state', `${mark} ${word}${node.attempt > 1 ? `, attempt ${node.attempt}` : ''}`],
    ['why', whyOf(tree, node)],
    ['failure', await texts.failure(node)],
    ['trouble', troubles.length === 0 ? undefined : troubles.join('\n')],
    ['goals', goals.join(' › ')],
    ['needs', needs.length === 0 ? undefined : needs.join(', ')],
    ['children', node.children.length === 0 ? undefined : node.children.map((n) => `#${n}`).join(', ')],
    ['agent', `${node.agent}${node.session === null ? '' : ` · session ${node.session}`} · gives ${node.returns}`],
    ...launches.map(({ launch, phase, run, inputs, frame }) => {
      const knew = inputs.length === 0 ? '' : ` · knew ${inputs.map((n) => `#${n}`).join(', ')}`;
      return ['launch', `${launch}: ${phase}, run ${run} at frame ${frame}${knew}`] as const;
    }),
    ['answer', await answerText(tree, node, texts)],
    ['acts', actsText(tree, node)],
    ['rights', rightsText(rightsInView(tree, node))],
    ['spent', spentOf(node)],
    ['prompt', node.prompt === null ? undefined : await texts.whole(node.prompt)],
    ['told', told === undefined ? undefined : await texts.whole(told.prompt)],
    ['result', node.result === null ? undefined : await texts.whole(node.result)],
  ];
  const of = at === undefined || told === undefined ? '' : `   ←→ launches ${at + 1}/${node.launches.length}`;
  const title = `${tree.name}/#${node.n} ${node.type.toUpperCase()} ${node.goal}${of}`;
  const lines = rows.flatMap(([label, text]) => (text === undefined ? [] : rowOf(label, text, columns)));
  return `${escapeText([columns === undefined ? title : cutToColumns(title, columns), ...lines].join('\n'))}\n`;
}

/** The outcome of a question, and who gave it. */
async function answerText(tree: TreeView, { n }: NodeView, texts: Texts): Promise<string | undefined> {
  const outcome = tree.asks.get(n)?.outcome;
  if (outcome === undefined || outcome === null) return undefined;
  const { how, by, picked, text_ref } = outcome;
  const text = picked ?? (text_ref === null ? '' : await texts.whole(text_ref));
  return `${how}${by === null ? '' : ` by ${wordsOfActor(tree, by)}`}${text === '' ? '' : `: ${String(text)}`}`;
}

/** What was done to a node, and by whom. */
function actsText(tree: TreeView, { n }: NodeView): string | undefined {
  const acts = tree.acts.filter((act) => act.n === n);
  if (acts.length === 0) return undefined;
  return acts.map(({ act, by, frame }) => `${act} by ${wordsOfActor(tree, by)} at frame ${frame}`).join('\n');
}

function rightsText(rights: ReturnType<typeof rightsInView>): string | undefined {
  if (rights === undefined) return undefined;
  const { may, ...bounds } = rights;
  const parts = Object.entries(may).map(
    ([what, names]) => `${what}: ${names.length === 0 ? 'none' : names.join(', ')}`,
  );
  return [...parts, ...Object.entries(bounds).map(([name, bound]) => `${name}: ${bound}`)].join(' · ');
}

function spentOf(node: NodeView): string {
  const { tokens, micro_money } = usedSoFar(node);
  return micro_money === 0 ? `${tokens} tokens` : `${tokens} tokens, $${(micro_money / 1_000_000).toFixed(4)}`;
}

/** A row with its label; the lines of a text stand below each other. */
function rowOf(label: string, text: string, columns: number | undefined): string[] {
  const shown = text.length <= TEXT_UNITS ? text : `${text.slice(0, TEXT_UNITS)}… (--json prints it whole)`;
  return shown.split('\n').map((line, i) => {
    const row = `${(i === 0 ? label : '').padEnd(LABEL)}${line}`;
    return columns === undefined ? row : wrapToColumns(row, columns, LABEL);
  });
}
