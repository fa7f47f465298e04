/** Reads from a world's journal how its calls changed files. */

import { type FileChange, type ToolCallParams, toolCall, toolCallReceipt } from '@reprise/agent';
import type { JournalRecord, Ref } from '@reprise/contracts';
import { requireMethods } from '@reprise/contracts';
import type { World } from '@reprise/kernel';

/** The world to read changes from: live or read-only. */
export type ChangeSource = Pick<World, 'frames' | 'head' | 'content'>;

/** A change of a file that a call recorded. */
export interface RecordedChange {
  /** The sequence number of the frame with the call's receipt. */
  readonly seq: number;
  readonly session: string;
  readonly callId: string;
  readonly tool: string;
  /** The path, relative to the tool's folder. */
  readonly path: string;
  /** The content before and after; null for no file. */
  readonly before: Ref | null;
  readonly after: Ref | null;
  /** Whether the content before, or after, held a secret; the stored content lacks it. */
  readonly scrubbed: { readonly before: boolean; readonly after: boolean };
}

/** A call that may have changed files without recording it: a program, or a call with an unknown outcome. */
export interface UnseenCall extends Pick<RecordedChange, 'seq' | 'session' | 'callId' | 'tool'> {
  /** How the call ended, as its receipt says. */
  readonly status: string;
}

/** The known changes of files by the calls of a world. */
export interface FileHistory {
  readonly changes: readonly RecordedChange[];
  readonly unseen: readonly UnseenCall[];
}

/** Reads how the calls of a world changed files, in the order of the journal, up to its head. */
export async function fileHistory(world: ChangeSource): Promise<FileHistory> {
  requireMethods(world, ['frames'], 'fileHistory(world)', 'an open kernel world, such as world.kernel');
  const calls = new Map<string, ToolCallParams>();
  const changes: RecordedChange[] = [];
  const unseen: UnseenCall[] = [];
  const last = world.head.seq;
  for await (const { seq, records } of world.frames(0)) {
    for (const record of records) {
      if (record.kind === 'effect' && record.name === toolCall.name) {
        // The effect's own schema checked its parameters before they were journaled.
        calls.set(record.effect, record.params as unknown as ToolCallParams);
      }
      const call = record.kind === 'receipt' ? calls.get(record.effect) : undefined;
      if (call === undefined || record.kind !== 'receipt') continue;
      const { tool, call_id: callId, session } = call;
      const of = { seq, session: session.key, callId, tool };
      const noted = changesIn(record);
      changes.push(...noted.map((one) => ({ ...of, ...recorded(one) })));
      if (noted.length === 0 && mayHaveChanged(call, record)) unseen.push({ ...of, status: record.receipt.status });
    }
    if (seq >= last) break;
  }
  return { changes, unseen };
}

type ReceiptRecord = Extract<JournalRecord, { kind: 'receipt' }>;

function changesIn({ receipt }: ReceiptRecord) {
  const parsed = toolCallReceipt.safeParse(receipt.payload);
  return parsed.success ? (parsed.data.changes ?? []) : [];
}

function recorded({ path, before_ref, after_ref, before_scrubbed, after_scrubbed }: FileChange) {
  const scrubbed = { before: before_scrubbed === true, after: after_scrubbed === true };
  return { path, before: before_ref, after: after_ref, scrubbed };
}

/** A call that only reads, that never started, or that the tool refused changed nothing. */
function mayHaveChanged({ guarantee, tool }: ToolCallParams, { receipt, attempt }: ReceiptRecord): boolean {
  if (guarantee === 'idempotent' || attempt === 0) return false;
  const refused = receipt.status === 'ok' && toolCallReceipt.safeParse(receipt.payload).data?.is_error === true;
  return !(refused && NOTING.has(tool));
}

/** Tools that record every change: an answer without a record means that nothing changed. */
const NOTING: ReadonlySet<string> = new Set(['write_file', 'edit_file']);
