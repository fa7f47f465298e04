/** The approvals of one answer: which call each belongs to, and how it ended. */
import { requireFields } from '@reprise/contracts';
import type { ApprovalData, UiChunk } from './chunk.js';

/** A decision in the form that the AI SDK's `addToolApprovalResponse` takes. */
export interface ApprovalResponse {
  readonly id: string;
  readonly approved: boolean;
  /** How the approval ended without a decision: `expired` or `cancelled`. */
  readonly reason?: string;
}

/**
 * The decision that a `data-approval` part reports; undefined for any other part. The stream protocol of the AI SDK has
 * no chunk for a decision that was made elsewhere, so a page hands it on. Without this, the messages in the page are
 * not valid for `validateUIMessages`.
 *
 * @example
 * onData: (part) => {
 *   const response = approvalResponse(part)
 *   if (response !== undefined) addToolApprovalResponse(response)
 * }
 */
export function approvalResponse(part: {
  readonly type: string;
  readonly id?: string;
  readonly data?: unknown;
}): ApprovalResponse | undefined {
  requireFields(part, 'approvalResponse(part)', 'a tool part of a message');
  if (part.type !== 'data-approval' || part.id === undefined) return undefined;
  const { state } = part.data as ApprovalData;
  if (state === 'approved') return { id: part.id, approved: true };
  return { id: part.id, approved: false, ...(state === 'denied' ? {} : { reason: state }) };
}

/** The approvals of one answer. */
export class Approvals {
  /** By the id of the approval; the last one of a call counts. */
  readonly #known = new Map<string, ApprovalData>();

  /** A call waits for approval. */
  request(id: string, toolCallId: string): UiChunk {
    this.#known.set(id, { toolCallId, state: 'open' });
    return { type: 'tool-approval-request', approvalId: id, toolCallId };
  }

  *end(id: string, state: string, said: Pick<ApprovalData, 'actor' | 'by' | 'reason'> = {}): Generator<UiChunk> {
    const known = this.#known.get(id);
    if (known?.state !== 'open') return;
    const data = { ...known, state, ...said };
    this.#known.set(id, data);
    yield { type: 'data-approval', id, data, transient: true };
  }

  /**
   * A call failed. The AI SDK accepts an error of a call only when its approval was granted, so the failure of any
   * other call is a denial.
   */
  *failed(toolCallId: string, errorText: string): Generator<UiChunk> {
    const [id, last] = [...this.#known].findLast(([, known]) => known.toolCallId === toolCallId) ?? [];
    if (id !== undefined && last?.state === 'open') yield* this.end(id, 'cancelled');
    if (last === undefined || last.state === 'approved') yield { type: 'tool-output-error', toolCallId, errorText };
    else yield { type: 'tool-output-denied', toolCallId };
  }
}
