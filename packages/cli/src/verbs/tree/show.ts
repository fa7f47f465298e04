/** `reprise tree show`: the trees of a world, the picture of one, or one node. */
import { isBelow } from '@reprise/agent';
import type { ReadonlyStore } from '@reprise/kernel';
import { whyOf } from '@reprise/operators/words';
import {
  type NodeView,
  pictureOf,
  stateOf,
  stateOfTree,
  type TreeFold,
  type TreeView,
  treesAt,
  waitsByNode,
  waitsOf,
} from '@reprise/tree';
import type { Io } from '../../process/io.js';
import { escapeLine } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { wrapToColumns } from '../../text/layout.js';
import { TREE_EXIT, type TreeExitCode } from '../../tree/exit.js';
import { fitted, pictureText } from '../../tree/fit.js';
import { nodeText } from '../../tree/node-text.js';
import { nodeOf, parseNode, parseTarget, type TreeTarget, treeNamed } from '../../tree/target.js';
import { Texts } from '../../tree/texts.js';
import { isUnownedBy, type PartTroubles, partTroubles, unownedLine } from '../../world/failed-cells.js';
import { withWorld } from '../../world/open.js';
import { hostOf, type ShownTrouble } from '../../world/troubles.js';

/** The options of `tree show`. */
interface ShowTreeOptions {
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
    const fold = await treesAt(store, options.at, texts.hear);
    if (options.all === true) {
      const isUnowned = await isUnownedNow(store, options);
      return io.out.write(listOf(fold, { ...options, isUnowned }, io.out.columns));
    }
    const tree = treeNamed(fold, name);
    const seq = options.at ?? (await store.journal.head()).seq;
    const asked = { world: options.world, seq, isMeant: isBelow([tree.name]), past: options.at !== undefined };
    const troubles = await partTroubles(store, asked);
    if (n === undefined) {
      await texts.load(tree);
      if (options.json === true)
        return io.out.write(`${toJson({ ...treeJson(tree, texts, troubles), ...troubles.json })}\n`);
      return io.out.write(wholePicture(tree, { texts, troubles }, io.out.columns));
    }
    const node = nodeOf(tree, n);
    if (options.json === true) return io.out.write(`${toJson(await nodeJson(tree, node, texts, troubles))}\n`);
    const held = troublesOfNode(node, troubles).map(({ line }) => line);
    await io.out.write(await nodeText(tree, node, texts, io.out.columns, { troubles: held }));
  });
  return TREE_EXIT.complete;
}

/** A tree, a node, or a tree and then a node of it. */
function targetOf([first, second]: readonly string[]): TreeTarget {
  if (first === undefined) return {};
  const target = parseTarget(first);
  return second === undefined ? target : { ...target, n: parseNode(second).n };
}

/** The picture of a tree, with what holds it up below. */
function wholePicture(
  tree: TreeView,
  { texts, troubles }: { readonly texts: Texts; readonly troubles: PartTroubles },
  columns: number | undefined,
): string {
  const picture = pictureOf(tree, {
    textOf: texts.get,
    failureOf: texts.failureOf,
    troubleOf: (node) => troublesOfNode(node, troubles).map(({ code }) => code),
    isUnowned: troubles.isUnowned,
  });
  const command = `reprise tree continue ${tree.name}`;
  const unowned = tree.ended === null ? unownedLine(`tree ${tree.name}`, troubles, command) : [];
  const lines = [...unowned, ...troubles.lines].map((line) => `${wrapped(escapeLine(line), columns)}\n`);
  return `${pictureText(picture, columns)}${lines.join('')}`;
}

function wrapped(line: string, columns: number | undefined): string {
  return columns === undefined ? line : wrapToColumns(line, columns, 2);
}

/** The troubles of a node: of its session, and of those below it, whose keys have more behind a dot. */
function troublesOfNode({ session }: NodeView, troubles: Pick<PartTroubles, 'of'>): readonly ShownTrouble[] {
  if (session === null) return [];
  const isNamed = isBelow([session]);
  return troubles.of((cell) => isNamed(cell) || cell[1].startsWith(`${session}.`));
}

/** Whether no process has the world open now. */
async function isUnownedNow(store: ReadonlyStore, { world, at }: ShowTreeOptions): Promise<boolean> {
  return at === undefined && isUnownedBy((await hostOf(store, world)).writer);
}

function listOf(
  { trees }: TreeFold,
  { json, isUnowned }: ShowTreeOptions & { readonly isUnowned: boolean },
  columns: number | undefined,
): string {
  if (json === true)
    return [...trees.values()]
      .map(
        (tree) =>
          `${toJson({ ...treeJson(tree, undefined, { isUnowned }), nodes: undefined, asks: undefined, rights: undefined })}\n`,
      )
      .join('');
  return [...trees.values()]
    .map((tree) => {
      const [head] = pictureOf(tree, { isUnowned });
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
export function treeJson(
  tree: TreeView,
  texts?: Texts,
  troubles?: Pick<PartTroubles, 'isUnowned'> & Partial<PartTroubles>,
): Record<string, unknown> {
  const { mark, word } = stateOfTree(tree, troubles?.isUnowned);
  const asks = [...tree.asks.values()];
  const rights = Object.fromEntries(tree.rights);
  const waits = waitsOf(tree);
  return {
    ...tree,
    mark,
    state: word,
    nodes: [...tree.nodes.values()].map((node) => withState(node, texts, troubles)),
    asks,
    rights,
    waits,
  };
}

function withState(node: NodeView, texts?: Texts, troubles?: Partial<PartTroubles>): Record<string, unknown> {
  const { mark, word } = stateOf(node);
  const failure = texts?.failureOf(node);
  const of = troubles?.of;
  return {
    ...node,
    mark,
    state: word,
    ...(failure === undefined ? {} : { failure }),
    ...(of === undefined ? {} : { trouble: troublesOfNode(node, { of }).map(({ data }) => data) }),
  };
}

async function nodeJson(
  tree: TreeView,
  node: NodeView,
  texts: Texts,
  troubles: PartTroubles,
): Promise<Record<string, unknown>> {
  return {
    ...withState(node, undefined, troubles),
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
