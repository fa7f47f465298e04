/** The act that a record follows from: a call of a model in the same frame, or the request that began the frame. */
import { type Address, actorOf, actorWords, type JournalRecord, type Principal } from '@reprise/contracts';
import { REDUCERS } from '../names/reducers.js';

/** An act, as its frame states it. */
export interface StatedAct {
  /** The session of the model that called; null for a request from outside. */
  readonly session: Address | null;
  readonly run: number | null;
  readonly step: number | null;
  /** The index of its record in the frame. */
  readonly i: number;
  readonly by: string | null;
}

/** The call or the request that a record of a frame follows from; undefined where another frame holds it. */
export function actOf(all: readonly JournalRecord[], i: number): StatedAct | undefined {
  for (let at = i; at > 0; ) {
    const record = all[at];
    const call = record === undefined ? undefined : callIn(record, all, at);
    if (call !== undefined) return call;
    if (record === undefined || !('c' in record) || record.c >= at) return undefined;
    at = record.c;
  }
  const [first] = all;
  if (first?.kind !== 'request') return undefined;
  const actor = actorOf(first.principal as Principal, first.actor);
  return { session: null, run: null, step: null, i: 0, by: actorWords(actor) };
}

/** The call that a session hands to its owner. */
function callIn(record: JournalRecord, all: readonly JournalRecord[], at: number): StatedAct | undefined {
  if (record.kind !== 'event' || record.event.name !== 'aos.agent/OwnerCall@1' || record.from === null)
    return undefined;
  const [reducer, key] = record.from;
  if (reducer !== REDUCERS.session) return undefined;
  const { call_id } = record.event.value as { readonly call_id: string };
  const i = all.findIndex((one) => one.kind === 'fact' && isRequestOf(one, String(key), call_id));
  const place = { session: [reducer, String(key)] as Address, by: null };
  if (i < 0) return { ...place, run: null, step: null, i: at };
  const { run, step } = (all[i] as FactRecord).value as { readonly run: number; readonly step: number };
  return { ...place, run, step, i };
}

type FactRecord = Extract<JournalRecord, { readonly kind: 'fact' }>;

/** Whether a fact states the call of a session, by the id that it has there. */
function isRequestOf({ name, from, value }: FactRecord, session: string, call_id: string): boolean {
  if (name !== 'aos.agent/ToolCallRequested@1' || from?.[0] !== REDUCERS.session || from[1] !== session) return false;
  return (value as { readonly call_id?: unknown }).call_id === call_id;
}
