/** Requests to people that are open: the call that each is about. Memory is bounded by their number. */
import type { JournalRecord } from '@reprise/contracts';
import type { AgentEvent } from '../contracts/agent-event.js';
import { effectIn } from './trail.js';
import { timeWords } from './words.js';

/** The request that a decision answers. */
export interface Question {
  readonly tool: string;
  readonly call_id?: string;
  /** What the decision states besides yes or no. */
  readonly notes: readonly string[];
}

/** The questions that are open, as events open and close them. */
export class Questions {
  readonly #open = new Map<string, Omit<Question, 'notes'>>();

  /** Takes the next event. @returns of a request or a decision: the call that it is about */
  take(event: AgentEvent, records: readonly JournalRecord[]): Question | undefined {
    if (event.type === 'human.requested') {
      const { id, tool, call_id } = event;
      const known = call_id === null ? askedBy(id, records) : { tool: tool ?? 'a toolset', call_id };
      this.#open.set(id, known);
      return { ...known, notes: [] };
    }
    if (event.type !== 'human.resolved') return undefined;
    const known = this.#open.get(event.id);
    for (const id of [event.id, ...(event.also ?? [])]) this.#open.delete(id);
    return known && { ...known, notes: notesOf(records[0]) };
  }
}

/** The call that asks a question of the model: its effect does not name the call, but the fact of its waiting does. */
function askedBy(id: string, records: readonly JournalRecord[]): Omit<Question, 'notes'> {
  for (const record of records) {
    if (record.kind !== 'fact' || record.name !== 'aos.agent/ToolCallWaiting@1' || effectIn(record) !== id) continue;
    const { tool, call_id } = record.value as { readonly tool: string; readonly call_id: string };
    return { tool, call_id };
  }
  return { tool: 'a toolset' };
}

function notesOf(ingress: JournalRecord | undefined): string[] {
  if (ingress?.kind !== 'command' || ingress.command.name !== 'sys/Decide@1') return [];
  const { decision } = ingress.command.value;
  if (!decision.approve) return [];
  const { params, remember } = decision;
  return [
    ...(params === undefined ? [] : ['with edited arguments']),
    ...(remember === undefined
      ? []
      : [remember.until === null ? 'from now on always' : `always until ${timeWords(remember.until)}`]),
  ];
}
