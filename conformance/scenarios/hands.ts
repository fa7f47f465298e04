/** Actions of scenarios, and the effects of a crash on several of them. */
import type { Settlement } from '@reprise/contracts';
import type { AgentWorld, Run, Session } from 'reprise';
import { type AfterCrash, SESSION, type Stage } from './scenario.js';

/** Waits until a run asks a person, for the first time. @returns what `decide` takes */
export async function askedAbout(run: Run): Promise<string> {
  for await (const event of run.events()) if (event.type === 'human.requested') return event.id;
  throw new Error(`run ${run.id} asked nobody`);
}

/**
 * Waits until a call of a run is deferred to the outside, for the first time, or the run has ended.
 *
 * @returns the effect id, for `settle`
 */
export async function deferredEffect({ world }: Stage, run: Run): Promise<string | undefined> {
  const over = new AbortController();
  const ended = run.result().finally(() => over.abort());
  ended.catch(() => undefined); // the reader of the frames gets the error as well
  for await (const { records } of world.kernel.frames(0, over.signal))
    for (const record of records) if (record.kind === 'deferred') return record.effect;
  await ended;
  return undefined;
}

/** A run that is known to be there. */
export function firstOf(run: Run | undefined): Run {
  if (run === undefined) throw new Error('there is no such run');
  return run;
}

/** The outcome of a call, as text from the outside. */
export async function outcomeOf({ world }: Stage, text: string): Promise<Settlement> {
  const bytes = new TextEncoder().encode(text);
  const ref = await world.kernel.content.put(bytes);
  const truncation_meta = {
    original_bytes: bytes.length,
    bounded_bytes: bytes.length,
    truncated: false,
    policy_id: 'outside@1',
  };
  const payload = { operator_output_ref: ref, model_output_ref: ref, truncation_meta, is_error: false };
  return { status: 'ok', payload };
}

/** Decides, as a person, the first thing that a run asks about. @returns what became of the decision */
export async function decide(
  { world }: Stage,
  run: Run,
  decision: Parameters<AgentWorld['decide']>[1],
  id: string,
): Promise<string> {
  const { status } = await world.decide(await askedAbout(run), decision, { as: 'human:ann', id });
  return status;
}

/** The answer to a command: a rejection by its code. */
export function answerOf(receipt: Awaited<ReturnType<Session['cancel']>>): string {
  return receipt.status === 'rejected' ? receipt.code : receipt.status;
}

/** Leaves the session of a scenario these rights and no others. */
export async function leaveRights({ world }: Stage, may: Record<string, string[]>): Promise<void> {
  const holder = `cell:aos.agent/SessionReducer@1/${SESSION}`;
  await world.kernel.command('sys/SetRights@1', { holder, exercise: { may } }, { id: 'rights' });
}

/** After a crash, of scenarios in which a person decides. */
export const DECIDED_BEFORE: AfterCrash = {
  because: 'a person who decides again, because the first answer was lost, is told that the decision was already made',
  ends: [{ told: ['already_settled'] }],
};

/** After a crash, of scenarios in which a run is cancelled while a call is open, and which note how it ended. */
export const OVER_BEFORE_CANCELLED: AfterCrash = {
  because:
    'a call that may have been executed when the process died is not repeated, so the run ends before it is canceled',
  ends: [{ told: ['Completed'] }],
};
