/** The table of waiting inputs, in the order in which they are taken up: by priority and then by age. */
import { allRows, type ReducerContext, type Table } from '@reprise/kernel/define';
import type { InputDrop } from '../../contracts/lifecycle.js';
import type { QueuedInput, SessionState } from '../../contracts/state.js';
import { dropInput } from '../account/allowances.js';
import { dropQueued } from '../transcript/ends.js';

/** How many inputs may wait. */
export const QUEUE_MAX = 256;

/** Appends an input to the queue. The caller has checked that there is room. */
export function enqueue(draft: SessionState, input: QueuedInput, ctx: ReducerContext): void {
  tableOf(ctx).set(keyOf(input, draft.inputs), input);
  draft.queued++;
}

/** Takes the next input from the queue; undefined when the queue is empty. */
export function dequeue(draft: SessionState, ctx: ReducerContext): QueuedInput | undefined {
  const first = tableOf(ctx).first();
  if (first === undefined) return undefined;
  forget(draft, first[0], ctx);
  return first[1];
}

/** An empty queue cannot be suspended: the next input starts at once. */
function forget(draft: SessionState, key: string, ctx: ReducerContext): void {
  tableOf(ctx).delete(key);
  draft.queued--;
  if (draft.queued === 0) draft.queue_suspended = false;
}

/** Removes the input of a command. @returns whether there was one */
export function withdraw(draft: SessionState, commandId: string, ctx: ReducerContext): boolean {
  const found = [...allRows(tableOf(ctx))].find(([, input]) => input.command_id === commandId);
  if (found === undefined) return false;
  forget(draft, found[0], ctx);
  dropQueued(draft, found[1], 'withdrawn', ctx);
  dropInput(draft, found[1].allowance, ctx);
  return true;
}

/** Removes all inputs, and records why. */
export function clearQueue(draft: SessionState, why: InputDrop, ctx: ReducerContext): void {
  const table = tableOf(ctx);
  const inputs = [...allRows(table)];
  for (const [key] of inputs) table.delete(key);
  for (const [, input] of inputs) dropQueued(draft, input, why, ctx);
  draft.queued = 0;
  draft.queue_suspended = false;
  for (const [, { allowance }] of inputs) dropInput(draft, allowance, ctx);
}

function tableOf(ctx: ReducerContext): Table<QueuedInput> {
  return ctx.table<QueuedInput>('queue');
}

/** Higher priorities first, then older inputs: numbers of equal length sort like text. */
function keyOf({ priority }: QueuedInput, accepted: number): string {
  return `${String(5000 - priority).padStart(4, '0')}.${String(accepted).padStart(16, '0')}`;
}
