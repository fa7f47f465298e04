/**
 * The answers to interrupts.
 *
 * Invariants
 * R1  Either every answer fits and its item is one of the thread, or nothing is decided.
 * R2  An answer that is sent again changes nothing, and is accepted when the item ended as the answer says. One that came too late
 *     is refused in words that say how the item ended.
 * R3  An approval of other arguments than those with which the call was made came too late as well. They are known once the
 *     call has its result; until then an approval is taken for the one that was given.
 */
import { createHash } from 'node:crypto';
import type { Decision, Session } from '@reprise/agent';
import { actorWords, isObject, isRepriseError, type Principal } from '@reprise/contracts';
import { encode } from '@reprise/kernel/codec';
import type { OwnedSessions } from '../sessions/owned-sessions.js';
import type { ResumeEntry } from './input.js';
import type { Item } from './items.js';
import { RunRefusal } from './refusal.js';
import type { Thread } from './thread.js';

/** What a person decides: a decision, or the end of the run for a question that is not answered. */
type Answer = Decision | 'cancel the run';

/** How an item ended, and who ended it. */
type Ended = NonNullable<Item['ended']>;

interface ResumeParts {
  readonly sessions: OwnedSessions;
  readonly session: Session;
  readonly runId: string;
  /** The thread as it is now. */
  read(): Promise<Thread>;
}

/** Decides what a request answers. @throws RunRefusal, Problem, RepriseError */
export async function resume(parts: ResumeParts, entries: readonly ResumeEntry[]): Promise<void> {
  const { principal } = parts.sessions;
  if (new Set(entries.map(({ interruptId }) => interruptId)).size < entries.length)
    throw new RunRefusal('invalid_argument', 'Two answers are for the same interrupt.');
  const thread = await parts.read();
  const answers = entries.map((entry) => ({ entry, ...fitting(thread, entry, principal) })); // R1
  let isLate = false;
  for (const { entry, item, answer } of answers)
    if (item.ended === undefined) isLate = !(await decide(parts, entry.interruptId, answer)) || isLate;
  if (!isLate) return;
  const now = await parts.read(); // another client was first, perhaps with the same answer
  for (const entry of entries) fitting(now, entry, principal);
}

/** The item of an answer, and the decision that it is. @throws RunRefusal for one that does not fit, or came too late */
function fitting(
  thread: Thread,
  entry: ResumeEntry,
  principal: Principal,
): { readonly item: Item; readonly answer: Answer } {
  const item = thread.items.get(entry.interruptId);
  if (item === undefined) throw new RunRefusal('not_found', 'An interrupt that is answered is not of this thread.');
  const answer = answerOf(item, entry);
  const { ended } = item;
  if (ended === undefined || entry.status === 'cancelled' || says(answer, ended, principal)) return { item, answer }; // R2
  throw tooLate(entry, ended);
}

function tooLate({ interruptId }: ResumeEntry, { how, actor }: Ended): RunRefusal {
  const who = actor === undefined ? '' : ` by ${actorWords(actor)}`;
  return new RunRefusal(
    'already_settled',
    `The answer came too late: ${interruptId} was ${how}${who}. Go on with the status "cancelled".`,
  );
}

/** Whether an item ended as an answer says. What was answered is compared by who answered. */
function says(answer: Answer, { how, by, edited }: Ended, principal: Principal): boolean {
  if (answer === 'cancel the run') return true;
  if ('answer' in answer) return how === 'answered' && by === principal;
  if ('deny' in answer) return how === 'denied';
  return how === 'approved' && (edited === undefined || edited === linkOf(answer.args));
}

/** The digest of arguments, as the result of a call links those that a person gave; null for none. */
function linkOf(args: unknown): string | null {
  return args === undefined ? null : createHash('sha256').update(encode(args)).digest('hex');
}

function answerOf({ asked }: Item, { status, payload }: ResumeEntry): Answer {
  if (asked.kind === 'question') {
    if (status === 'cancelled') return 'cancel the run';
    if (payload === undefined) throw unfit('a question takes an answer');
    return { answer: payload };
  }
  if (status === 'cancelled') return { deny: 'The person left the question open.' };
  if (!isObject(payload)) throw unfit('an approval takes {"approved": true} or {"approved": false}');
  const { approved, editedArgs, reason } = payload as Readonly<Record<string, unknown>>;
  if (typeof approved !== 'boolean') throw unfit('`approved` is true or false');
  if (reason !== undefined && typeof reason !== 'string') throw unfit('`reason` is a text');
  if (!approved && editedArgs !== undefined) throw unfit('`editedArgs` belongs to an approval');
  if (!approved) return { deny: reason ?? '' };
  return {
    approve: true,
    ...(editedArgs === undefined ? {} : { args: editedArgs }),
    ...(reason === undefined ? {} : { comment: reason }),
  };
}

function unfit(words: string): RunRefusal {
  return new RunRefusal('invalid_argument', `An answer does not fit its interrupt: ${words}.`);
}

/** @returns whether this decision counts */
async function decide(parts: ResumeParts, item: string, answer: Answer): Promise<boolean> {
  const { sessions, session, runId } = parts;
  const who = { as: sessions.principal, id: digestOf([session.key, runId, item]) };
  if (answer === 'cancel the run') return (await session.cancel({ ...who, scope: 'run' })).status === 'accepted';
  const { status } = await sessions.world.decide(item, answer, who).catch((error: unknown) => {
    throw isRepriseError(error, 'invalid_value') ? unfit(error.what) : error;
  });
  if (status === 'applied' || status === 'already_settled') return status === 'applied';
  throw new RunRefusal(
    'decide_elsewhere',
    'The tool of the call has changed since: decide where both versions are shown, such as at /v1/pending.',
  );
}

function digestOf(parts: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify(['ag-ui', ...parts]))
    .digest('hex');
}
