/** The outcome of a tree: waiting for its end, and reading its result. */
import { readLlmOutput, readText, type Schema } from '@reprise/agent';
import { present, RepriseError, type Value } from '@reprise/contracts';
import { type ContentReader, getValue, type World } from '@reprise/kernel';
import { ENDED, type Given, TREE, type TreeState, type Used } from '../pure/index.js';
import { treeFactIn } from '../views/index.js';
import type { TreeRequests } from './requests.js';
import { readBy } from './returns.js';

/** How a tree ended. */
export interface TreeOutcome<R> {
  readonly status: 'complete' | 'failed' | 'cancelled';
  /** The result of a complete tree. */
  readonly value?: R;
  /** The result as a text: itself, or as JSON. */
  readonly text?: string;
  /** Why a tree that is not complete ended. */
  readonly code?: string;
  readonly spent: Used;
}

/** Content that a node gave, as it reads. */
export interface ReadResult {
  readonly value: Value;
  readonly text: string;
  readonly summary?: string;
}

/** Reads what a node gave. @throws RepriseError `blob_missing`, `blob_erased` */
export async function readGiven(content: ContentReader, { ref, kind, summary_ref }: Given): Promise<ReadResult> {
  const value = kind === 'value' ? await getValue(content, ref) : await textAt(content, { ref, kind });
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const summary = summary_ref === undefined ? undefined : await readText(content, summary_ref);
  return { value, text, ...present({ summary }) };
}

async function textAt(content: ContentReader, { ref, kind }: Pick<Given, 'ref' | 'kind'>): Promise<string> {
  return kind === 'text' ? readText(content, ref) : ((await readLlmOutput(content, ref)).text ?? '');
}

/**
 * Waits until a tree has ended.
 *
 * @throws RepriseError `invalid_argument` for a tree that was not started; `cell_failed`, `world_closed`
 */
export async function outcomeOf<R>(
  world: World,
  requests: TreeRequests,
  schema: Schema<R> | undefined,
): Promise<TreeOutcome<R>> {
  const { state, root } = await ended(world, requests);
  const { spent } = state;
  const status = root.status as TreeOutcome<R>['status'];
  if (root.result === null || status !== 'complete')
    return { status, ...present({ code: root.code ?? undefined }), spent };
  const { value, text } = await readGiven(world.content, root.result);
  return {
    status,
    value: schema === undefined ? (value as R) : await readBy(schema, value, `tree ${requests.name}`),
    text,
    spent,
  };
}

async function ended(world: World, requests: TreeRequests) {
  for (;;) {
    const { seq } = world.head;
    const state = await requests.cell.state<TreeState>();
    if (state === undefined) {
      throw new RepriseError('invalid_argument', `the world has no tree "${requests.name}"`, {
        where: 'result',
        hint: 'Start it first: trees.start(name, { goal }).',
      });
    }
    const root = await requests.row(1);
    if (state.ended !== null && root !== undefined && ENDED.includes(root.status)) return { state, root };
    await nextEnd(world, requests.name, seq + 1);
  }
}

/** Reads on until the tree has ended, and ends itself when nothing more can come. */
async function nextEnd(world: World, tree: string, from: number): Promise<void> {
  for await (const { records } of world.frames(from, undefined, [[TREE, tree]])) {
    for (const record of records) {
      const fact = treeFactIn(record);
      if (fact?.tree === tree && fact.name === 'tree/Ended@1') return;
    }
  }
  throw (
    world.closedBy ??
    new RepriseError('world_closed', 'the world was closed before the tree ended', { where: `tree ${tree}` })
  );
}
