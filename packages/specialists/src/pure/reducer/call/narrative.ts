/** The narrative of a project: it only grows, and each entry names the one before it (SPEC-34). */
import { present } from '@reprise/contracts';
import { key } from '@reprise/org/contracts';
import type { ProjectCallOf } from '../../contracts/index.js';
import { type Delivery, taskOr } from '../project/delivery.js';
import { linkEntry } from '../project/links.js';

/** Adds an entry. @returns its number */
export function appendNarrative(
  delivery: Delivery,
  { text_ref, bytes, memory_ids = [], task_ids = [] }: ProjectCallOf<'narrative_append'>,
): number {
  const { state, ctx } = delivery;
  for (const n of task_ids) taskOr(delivery, n);
  const n = state.next.narrative++;
  const previous = n === 1 ? null : n - 1;
  const { run } = state.coordinator;
  const row = { text_ref, bytes, previous, memory_ids, task_ids, run: run + 1, at: ctx.now };
  delivery.ctx.table('narrative').set(key(n), row);
  linkEntry(delivery, n, row);
  ctx.record('specialists/NarrativeAppended@1', present({ entry: n, previous, text_ref }));
  return n;
}
