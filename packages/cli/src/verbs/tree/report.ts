/** `reprise tree report`: the result of a tree, and how it came about, as Markdown. */

import { wordsOfCode } from '@reprise/operators/words';
import {
  hasEnded,
  type NodeView,
  optionsOf,
  stateOf,
  stateOfTree,
  type TreeView,
  treesAt,
  treeUsedSoFar,
  usedSoFar,
  wordsOfActor,
} from '@reprise/tree';
import type { Io } from '../../process/io.js';
import { escapeText } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { TREE_EXIT, type TreeExitCode } from '../../tree/exit.js';
import { parseTreeName, treeNamed } from '../../tree/target.js';
import { Texts } from '../../tree/texts.js';
import { isUnownedBy } from '../../world/failed-cells.js';
import { withWorld } from '../../world/open.js';
import { hostOf } from '../../world/troubles.js';
import { treeJson } from './show.js';

/** The options of `tree report`. */
interface ReportOptions {
  readonly world: string;
  readonly json?: true;
}

/** Prints the report of a tree. */
export async function reportTree(
  io: Io,
  name: string | undefined,
  { world, json }: ReportOptions,
): Promise<TreeExitCode> {
  await withWorld(world, async (store) => {
    const texts = new Texts(store.content);
    const fold = await treesAt(store, undefined, texts.hear);
    const tree = treeNamed(fold, name === undefined ? undefined : parseTreeName(name));
    await texts.load(tree);
    const result = tree.result === null ? null : await texts.whole(tree.result);
    const isUnowned = isUnownedBy((await hostOf(store, world)).writer);
    if (json === true)
      return io.out.write(`${toJson({ ...treeJson(tree, texts, { isUnowned }), result_text: result })}\n`);
    await io.out.write(escapeText(await markdownOf(tree, { result, isUnowned }, texts)));
  });
  return TREE_EXIT.complete;
}

interface ReadReport {
  readonly result: string | null;
  /** Whether no process has the world open: a tree that has not ended does not go on. */
  readonly isUnowned: boolean;
}

async function markdownOf(tree: TreeView, { result, isUnowned }: ReadReport, texts: Texts): Promise<string> {
  const { word } = stateOfTree(tree, isUnowned);
  const code = tree.code === null ? '' : `: ${wordsOfCode(tree.code)}`;
  const onward = isUnowned && tree.ended === null ? `; to go on with it: \`reprise tree continue ${tree.name}\`` : '';
  const parts = [
    `# ${oneRow(tree.goal)}`,
    `Tree \`${tree.name}\`, ${word}${code}${onward}.`,
    `## Result`,
    result ??
      (hasEnded(tree.nodes.get(1) ?? { status: 'pending' }) ? 'The tree gave no result.' : 'The tree has not ended.'),
    `## Nodes`,
    tableOf(tree),
    ...failures(tree, texts),
    ...questions(tree, texts),
  ];
  return `${parts.join('\n\n')}\n`;
}

function tableOf(tree: TreeView): string {
  const rows = [...tree.nodes.values()]
    .sort((a, b) => a.n - b.n)
    .map((node) => {
      const { mark, word } = stateOf(node);
      const { tokens, micro_money } = usedSoFar(node);
      const cells = [`#${node.n}`, node.type, `${mark} ${word}`, oneRow(node.goal), tokens, dollars(micro_money)];
      return `| ${cells.join(' | ')} |`;
    });
  const all = treeUsedSoFar(tree);
  const sum = `| | | | all | ${all.tokens} | ${dollars(all.micro_money)} |`;
  return ['| node | type | state | goal | tokens | cost |', '| --- | --- | --- | --- | --- | --- |', ...rows, sum].join(
    '\n',
  );
}

function dollars(micro: number): string {
  return micro === 0 ? '–' : `$${(micro / 1_000_000).toFixed(4)}`;
}

function failures(tree: TreeView, texts: Texts): string[] {
  const failed = [...tree.nodes.values()].filter(({ status }) => status === 'failed' || status === 'cancelled');
  if (failed.length === 0) return [];
  return [
    '## Failures',
    failed
      .map((node) => `- #${node.n} ${oneRow(node.goal)}: ${reasonOf(tree, node)}${wordsOf(texts.failureOf(node))}`)
      .join('\n'),
  ];
}

function reasonOf(tree: TreeView, { code, status, stopped_by: by }: NodeView): string {
  if (code === null) return status;
  const who = by === undefined ? '' : ` by ${oneRow(wordsOfActor(tree, by))}`;
  return `${wordsOfCode(code)}${who} (\`${code}\`)`;
}

function wordsOf(failure: string | undefined): string {
  return failure === undefined ? '' : `. ${oneRow(failure)}`;
}

function questions(tree: TreeView, texts: Texts): string[] {
  if (tree.asks.size === 0) return [];
  const rows = [...tree.asks.values()].map((ask) => {
    const goal = oneRow(tree.nodes.get(ask.ask)?.goal ?? '');
    const { outcome } = ask;
    if (outcome === null)
      return `- #${ask.ask} (by #${ask.asker}): ${goal} **open** ${optionsOf(ask).join(', ')}`.trimEnd();
    const text = outcome.picked ?? (outcome.text_ref === null ? '' : (texts.get(outcome.text_ref) ?? ''));
    const by = outcome.by === null ? outcome.how : wordsOfActor(tree, outcome.by);
    return `- #${ask.ask} (by #${ask.asker}): ${goal} **${oneRow(String(text))}** (${by})`;
  });
  return ['## Questions', rows.join('\n')];
}

/** A text of others in one row of a table. */
function oneRow(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();
}
