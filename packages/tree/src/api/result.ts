/** The outcome of a tree: waiting for its end, and reading its result. */
import { isBelow, readText, type Schema } from '@reprise/agent';
import { present, RepriseError, type Value } from '@reprise/contracts';
import type { ContentReader, World } from '@reprise/kernel';
import { until } from '@reprise/org';
import { key } from '@reprise/org/contracts';
import { valueGiven } from '../adapters/check.js';
import { ENDED, type Given, TREE_ENDED, type Used } from '../pure/index.js';
import type { TreeRequests } from './requests.js';
import { readBy } from './returns.js';

/** The status of a tree that has ended, its result, and what it used. */
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
export async function readGiven(content: ContentReader, given: Given): Promise<ReadResult> {
  const { summary_ref } = given;
  const value = await valueGiven(given, content);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const summary = summary_ref === undefined ? undefined : await readText(content, summary_ref);
  return { value, text, ...present({ summary }) };
}

/**
 * Waits until a tree has ended.
 *
 * @throws RepriseError `invalid_argument` for a tree that was not started; `cell_failed`, `world_closed`; `waits_for_itself` in
 *   a tool of one of its nodes
 */
export async function outcomeOf<R>(
  world: World,
  requests: TreeRequests,
  schema: Schema<R> | undefined,
): Promise<TreeOutcome<R>> {
  const { state, root } = await ended(requests);
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

/** Waits until a tree and its root have ended. */
async function ended({ cell, name }: TreeRequests) {
  return until(cell, {
    look: async () => {
      const state = await cell.state();
      if (state === undefined) throw notStarted(name);
      const root = await cell.row('nodes', key(1));
      return state.ended !== null && root !== undefined && ENDED.includes(root.status) ? { state, root } : undefined;
    },
    after: TREE_ENDED,
    waitsFor: isBelow([name]),
  });
}

function notStarted(name: string): RepriseError {
  return new RepriseError('invalid_argument', `the world has no tree "${name}"`, {
    where: 'result',
    hint: 'Start it first: trees.start(name, { goal }).',
  });
}
