/** The frames that one commit makes durable together, and what must be undone when it does not. */
import type { IngressRecord, Ref, RepriseError } from '@reprise/contracts';
import type { ContentStore } from '../../../ports/content/port.js';
import type { Head, Journal, StoredFrame } from '../../../ports/journal/port.js';
import type { SealedFrame } from '../../../pure/engine/index.js';
import type { UndoLog } from '../../../state/leaf-table.js';
import type { CommittedFrame, IngressOutcome, QueuedIngress } from './ingress.js';
import type { EarlierRequest } from './repetition.js';

/** A frame that was folded and is not durable yet. */
interface Speculative {
  readonly frame: CommittedFrame;
  /** Effects whose slots this frame took. */
  readonly riding: readonly string[];
  /** The key under which its request is found again. */
  readonly key: string | undefined;
  readonly sealed: SealedFrame;
}

/** Folded frames that are committed together. */
export interface Batch {
  readonly frames: Speculative[];
  readonly undo: UndoLog;
  /** The requests of this batch, by key. */
  readonly requests: Map<string, EarlierRequest>;
  /** Outcomes computed on this batch: reported after it is durable. */
  readonly outcomes: { readonly item: QueuedIngress; readonly outcome: IngressOutcome }[];
  head: Head;
  bytes: number;
  /** Why the batch cannot be committed, although it was folded. */
  broken?: RepriseError;
}

/** An empty batch behind a durable head. */
export function newBatch(head: Head): Batch {
  return { frames: [], undo: new Map(), requests: new Map(), outcomes: [], head, bytes: 0 };
}

/** Appends the frames of a batch, their content first. */
export async function appendBatch(
  batch: Batch,
  durable: Head,
  { content, journal }: { readonly content: ContentStore; readonly journal: Journal },
): Promise<void> {
  if (batch.frames.some(({ sealed }) => sealed.staged.length > 0)) await putStaged(batch, content);
  const frames = batch.frames.map(storedFrame);
  await journal.append(frames, durable);
}

async function putStaged(batch: Batch, content: ContentStore): Promise<void> {
  const staged = new Map<string, { readonly ref: Ref; readonly bytes: Uint8Array }>();
  for (const { sealed } of batch.frames) for (const blob of sealed.staged) staged.set(blob.ref.hex, blob);
  for (const { bytes } of staged.values()) await content.put(bytes);
}

function storedFrame({ frame, sealed, key }: Batch['frames'][number]): StoredFrame {
  const { seq, at, records, head } = frame;
  const { kind } = records[0] as IngressRecord;
  return { seq, at, kind, head: head.digest, bytes: sealed.bytes, ...(key === undefined ? {} : { key }) };
}
