/** States where messages, tasks, results and entries come from, so that a memory can be explained to the user's words. */
import type { Ref } from '@reprise/contracts';
import type { Linked, Place } from '@reprise/org/contracts';
import type { NarrativeRow, RecordedResult, RecordedTask } from '../../contracts/index.js';
import type { Delivery } from './delivery.js';

/** A message of a person: it needs no source. */
export function linkMessage(delivery: Delivery, text_ref: Ref | undefined): void {
  const id = ++delivery.state.message;
  link(delivery, { kind: 'message', id, title: '', from: [], ...(text_ref === undefined ? {} : { text_ref }) });
}

/** A task comes from the planner's result, or from what the app was told. */
export function linkTask(delivery: Delivery, id: number, { title, plan, pointers }: RecordedTask): void {
  const maker: Place[] = plan === null ? lastMessage(delivery) : [{ kind: 'result', id: plan.result }];
  link(delivery, { kind: 'task', id, title, from: [...maker, ...results(pointers)] });
}

/** A result comes from its task or from the message that the coordinator was acting on, and from what its job was given. */
export function linkResult(delivery: Delivery, id: number, { title, task, inputs }: RecordedResult): void {
  const maker: Place[] = task === null ? lastMessage(delivery) : [{ kind: 'task', id: task }];
  link(delivery, { kind: 'result', id, title, from: [...maker, ...results(inputs)] });
}

/** An entry comes from the one before it and from the tasks that it names. */
export function linkEntry(delivery: Delivery, id: number, { previous, task_ids }: NarrativeRow): void {
  const before: Place[] = previous === null ? lastMessage(delivery) : [{ kind: 'narrative', id: previous }];
  const tasks = task_ids.map((task): Place => ({ kind: 'task', id: task }));
  link(delivery, { kind: 'narrative', id, title: '', from: [...before, ...tasks].slice(0, FROM_MAX) });
}

const FROM_MAX = 16;

function results(numbers: readonly number[]): Place[] {
  return numbers.map((id) => ({ kind: 'result', id }));
}

function lastMessage({ state: { message } }: Delivery): Place[] {
  return message === 0 ? [] : [{ kind: 'message', id: message }];
}

function link({ ctx }: Delivery, linked: Linked): void {
  ctx.record('memory/Linked@1', linked);
}
