/** How the lines of a story hang together: what led to one, who allowed it, what came of it. */
import type { StoryEntry } from '../../../src/contract/reports.js';

/** The causes and the outcome of an entry, as far as the loaded part of the story has them. */
export interface Chain {
  /** The words of a person or another session that the run answers. */
  readonly message: StoryEntry | null;
  /** What the model said when it made the call. */
  readonly answer: StoryEntry | null;
  /** What tools had returned before that, in this run, the last ones. */
  readonly read: readonly StoryEntry[];
  readonly call: StoryEntry | null;
  readonly question: StoryEntry | null;
  readonly decision: StoryEntry | null;
  readonly result: StoryEntry | null;
}

const READ_MAX = 5;

/** The chain of an entry. @param entries of the story, the oldest first */
export function chainOf(entry: StoryEntry, entries: readonly StoryEntry[]): Chain {
  const own = entries.filter(({ of }) => of?.cell === entry.of?.cell);
  const at = own.indexOf(entry);
  const before = own.slice(0, at + 1);
  const ofCall = (kind: string) =>
    entry.call_id === null ? null : (own.findLast((one) => one.kind === kind && one.call_id === entry.call_id) ?? null);
  const call = ofCall('call');
  const upTo = call === null ? before : own.slice(0, own.indexOf(call) + 1);
  const answer = upTo.findLast(({ kind, run }) => kind === 'answer' && run === entry.run) ?? null;
  const started = answer === null ? before : own.slice(0, own.indexOf(answer));
  return {
    message: started.findLast(({ kind }) => kind === 'message') ?? null,
    answer: entry.kind === 'message' ? null : answer,
    read:
      entry.kind === 'message'
        ? []
        : started.filter(({ kind, run }) => kind === 'result' && run === entry.run).slice(-READ_MAX),
    ...{ call, question: ofCall('question'), decision: ofCall('decision'), result: ofCall('result') },
  };
}

/** What came of an entry: the result of a call, the end of the run of a message, the calls of an answer. */
export function outcomeOf(entry: StoryEntry, entries: readonly StoryEntry[]): readonly StoryEntry[] {
  const own = entries.filter(({ of }) => of?.cell === entry.of?.cell);
  const after = own.slice(own.indexOf(entry) + 1);
  if (entry.call_id !== null)
    return after.filter(({ kind, call_id }) => kind === 'result' && call_id === entry.call_id);
  if (entry.kind === 'answer') {
    const next = after.findIndex(({ kind }) => kind === 'answer');
    return (next === -1 ? after : after.slice(0, next)).filter(({ kind }) => kind === 'call' || kind === 'end');
  }
  if (entry.kind === 'message') {
    const end = after.find(({ kind, run }) => kind === 'end' && run === entry.run);
    return end === undefined ? [] : [end];
  }
  return [];
}
