/** `reprise tree show`: the trees of a world, the picture of one, or one node. */
import { isBelow } from '@reprise/agent';
import {
  type NodeView,
  pictureOf,
  rightsInView,
  stateOf,
  stateOfTree,
  type TreeFold,
  type TreeView,
  waitsByNode,
  waitsOf,
  wordsOfActor,
} from '@reprise/tree';
import { partTroubles } from '../../failed-cells.js';
import type { Io } from '../../io.js';
import { withWorld } from '../../open.js';
import { escapeLine, escapeText } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { cutToColumns, wrapToColumns } from '../../text/layout.js';
import { TREE_EXIT, type TreeExitCode } from '../../tree/exit.js';
import { fitted, pictureText } from '../../tree/fit.js';
import { readTrees } from '../../tree/read-trees.js';
import { nodeOf, parseNode, parseTarget, type TreeTarget, treeNamed } from '../../tree/target.js';
import { Texts } from '../../tree/texts.js';
import { ancestors, whyOf } from '../../tree/why.js';

/** The options of `tree show`. */
export interface ShowTreeOptions {
  readonly world: string;
  /** One line for each tree. */
  readonly all?: true;
  /** The trees as they were after this frame. */
  readonly at?: number;
  readonly json?: true;
}

/** Prints a tree, a node of it, or the list of trees. */
export async function showTree(io: Io, named: readonly string[], options: ShowTreeOptions): Promise<TreeExitCode> {
  const { tree: name, n } = targetOf(named);
  await withWorld(options.world, async (store) => {
    const texts = new Texts(store.content);
    const fold = await readTrees(store, options.at, texts.failures);
    if (options.all === true) return io.out.write(listOf(fold, options, io.out.columns));
    const tree = treeNamed(fold, name);
    if (n === undefined) {
      await texts.load(tree);
      const seq = options.at ?? (await store.journal.head()).seq;
      const asked = { world: options.world, seq, isMeant: isBelow([tree.name]), past: options.at !== undefined };
      const troubles = await partTroubles(store, asked);
      if (options.json === true) return io.out.write(`${toJson({ ...treeJson(tree, texts), ...troubles.json })}\n`);
      const picture = pictureText(pictureOf(tree, { textOf: texts.get, failureOf: texts.failureOf }), io.out.columns);
      return io.out.write(`${picture}${troubles.lines.map((line) => `${escapeLine(line)}\n`).join('')}`);
    }
    const node = nodeOf(tree, n);
    if (options.json === true) return io.out.write(`${toJson(await nodeJson(tree, node, texts))}\n`);
    await io.out.write(await nodeText(tree, node, texts, io.out.columns));
  });
  return TREE_EXIT.complete;
}

/** A tree, a node, or a tree and then a node of it. */
function targetOf([first, second]: readonly string[]): TreeTarget {
  if (first === undefined) return {};
  const target = parseTarget(first);
  return second === undefined ? target : { ...target, n: parseNode(second).n };
}

function listOf({ trees }: TreeFold, { json }: ShowTreeOptions, columns: number | undefined): string {
  if (json === true)
    return [...trees.values()]
      .map((tree) => `${toJson({ ...treeJson(tree), nodes: undefined, asks: undefined, rights: undefined })}\n`)
      .join('');
  return [...trees.values()]
    .map((tree) => {
      const [head] = pictureOf(tree);
      const line = {
        ...head,
        kind: 'node',
        text: `${head?.text ?? ''} · ${tree.goal}`,
        right: '',
        n: null,
        indent: 1,
      } as const;
      return columns === undefined ? pictureText([line], undefined) : `${fitted(line, columns)}\n`;
    })
    .join('');
}

/** A tree as JSON: its head, its nodes and its questions, each with its mark and its state. */
export function treeJson(tree: TreeView, texts?: Texts): Record<string, unknown> {
  const { mark, word } = stateOfTree(tree);
  const asks = [...tree.asks.values()];
  const rights = Object.fromEntries(tree.rights);
  const waits = waitsOf(tree);
  return {
    ...tree,
    mark,
    state: word,
    nodes: [...tree.nodes.values()].map((node) => withState(node, texts)),
    asks,
    rights,
    waits,
  };
}

function withState(node: NodeView, texts?: Texts): Record<string, unknown> {
  const { mark, word } = stateOf(node);
  const failure = texts?.failureOf(node);
  return { ...node, mark, state: word, ...(failure === undefined ? {} : { failure }) };
}

async function nodeJson(tree: TreeView, node: NodeView, texts: Texts): Promise<Record<string, unknown>> {
  return {
    ...withState(node),
    tree: tree.name,
    why: whyOf(tree, node) ?? null,
    waits: waitsByNode(tree).get(node.n) ?? [],
    failure: (await texts.failure(node)) ?? null,
    outcome: tree.asks.get(node.n)?.outcome ?? null,
    acts: tree.acts.filter(({ n }) => n === node.n),
    prompt_text: node.prompt === null ? null : await texts.whole(node.prompt),
    result_text: node.result === null ? null : await texts.whole(node.result),
  };
}

const LABEL = 9;
const TEXT_UNITS = 4_000;

/** One launch of a node in place of all. */
interface OneLaunch {
  /** Counted from 1; null for the newest. */
  readonly launch: number | null;
}

/** One node in full: with a line for each launch, or with what one launch was told. */
export async function nodeText(
  tree: TreeView,
  node: NodeView,
  texts: Texts,
  columns: number | undefined,
  one?: OneLaunch,
): Promise<string> {
  const at = one === undefined ? undefined : (one.launch ?? node.launches.length) - 1;
  const shown = at === undefined ? node.launches : node.launches.slice(Math.max(0, at)).slice(0, 1);
  const [told] = at === undefined ? [] : shown;
  const { mark, word } = stateOf(node);
  const goals = [...ancestors(tree, node).toReversed(), node].map(({ n, goal }) => `#${n} "${goal}"`);
  const needs = node.needs.map((n) => `#${n} ${stateOf(tree.nodes.get(n) ?? node).mark}`);
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['state', `${mark} ${word}${node.attempt > 1 ? `, attempt ${node.attempt}` : ''}`],
    ['why', whyOf(tree, node)],
    ['failure', await texts.failure(node)],
    ['goals', goals.join(' › ')],
    ['needs', needs.length === 0 ? undefined : needs.join(', ')],
    ['children', node.children.length === 0 ? undefined : node.children.map((n) => `#${n}`).join(', ')],
    ['agent', `${node.agent}${node.session === null ? '' : ` · session ${node.session}`} · gives ${node.returns}`],
    ...shown.map(({ launch, phase, run, inputs, frame }) => {
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

function spentOf({ spent: { tokens, micro_money } }: NodeView): string {
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
