/** What the calls of a world did to files, as its journal has it. */
import { type FileChange, type ToolCallParams, toolCall, toolCallReceipt } from '@reprise/agent';
import type { JournalRecord, Ref } from '@reprise/contracts';
import type { World } from '@reprise/kernel';

/** Where changes are read from: a world, or one that is read only. */
export type ChangeSource = Pick<World, 'frames' | 'head' | 'content'>;

/** A change of a file that a call noted. */
export interface RecordedChange {
  /** The frame of the call's receipt. */
  readonly seq: number;
  readonly session: string;
  readonly callId: string;
  readonly tool: string;
  /** Relative to the folder of the tool. */
  readonly path: string;
  /** What stood there before and after; null for nothing. */
  readonly before: Ref | null;
  readonly after: Ref | null;
  /** Whether a secret stood there, which the content before, or after, does not hold. */
  readonly scrubbed: { readonly before: boolean; readonly after: boolean };
}

/** A call that may have changed files without noting it: a program, or one whose outcome nobody knows. */
export interface UnseenCall extends Pick<RecordedChange, 'seq' | 'session' | 'callId' | 'tool'> {
  /** How it ended. */
  readonly status: string;
}

/** What is known of the files that the calls of a world changed. */
export interface FileHistory {
  readonly changes: readonly RecordedChange[];
  readonly unseen: readonly UnseenCall[];
}

/** Reads what the calls of a world did to files, in the order of the journal, up to its head. */
export async function fileHistory(world: ChangeSource): Promise<FileHistory> {
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

/** What only reads may be repeated; what never started did nothing; what the tool itself refused says so. */
function mayHaveChanged({ guarantee, tool }: ToolCallParams, { receipt, attempt }: ReceiptRecord): boolean {
  if (guarantee === 'idempotent' || attempt === 0) return false;
  const refused = receipt.status === 'ok' && toolCallReceipt.safeParse(receipt.payload).data?.is_error === true;
  return !(refused && NOTING.has(tool));
}

/** Tools that note whatever they change: when they answer without a note, nothing was changed. */
const NOTING: ReadonlySet<string> = new Set(['write_file', 'edit_file']);
