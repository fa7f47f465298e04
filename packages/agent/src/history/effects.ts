/** Open effects of sessions, by id: which call they execute, and which files their receipts report as changed. */
import type { JournalRecord } from '@reprise/contracts';
import { SESSION_REDUCER } from '../contracts/session.js';
import { type FileChange, toolCallReceipt } from '../contracts/tool-call.js';

/** An open effect of a session. */
export interface OpenEffect {
  readonly effect: string;
  readonly session: string;
  readonly name: string;
  readonly call_id?: string;
  readonly tool?: string;
  /** The index of the policy rule that permitted it. */
  readonly rule: number;
  /** Whether it had to wait for a person. */
  readonly approval: boolean;
}

/** What a receipt reports of files. */
export interface Files {
  readonly changes: readonly FileChange[];
  readonly artifacts: readonly string[];
}

/** Follows effects through frames. Memory is bounded by the number of open effects. */
export class OpenEffects {
  readonly #open = new Map<string, OpenEffect>();

  /** Takes the next record. @returns the effect that the record emits or is about */
  take(record: JournalRecord): OpenEffect | undefined {
    switch (record.kind) {
      case 'effect': {
        const { effect, plan, name, params, rule, approval } = record;
        if (plan[0] !== SESSION_REDUCER) return undefined;
        const { call_id, tool } = params as { readonly call_id?: string; readonly tool?: string };
        const opened: OpenEffect = {
          effect,
          session: plan[1],
          name,
          rule,
          approval: approval !== undefined,
          ...(call_id === undefined ? {} : { call_id }),
          ...(tool === undefined ? {} : { tool }),
        };
        this.#open.set(effect, opened);
        return opened;
      }
      case 'receipt':
      case 'settled': {
        const known = this.#open.get(record.effect);
        this.#open.delete(record.effect);
        return known;
      }
      case 'attempt':
        return this.#open.get(record.effect);
      default:
        return undefined;
    }
  }
}

/** The files that the receipt of a tool call reports; none for other records. */
export function filesOf(record: JournalRecord): Files {
  const none = { changes: [], artifacts: [] };
  if (record.kind !== 'receipt' || record.receipt.payload === undefined) return none;
  const { success, data } = toolCallReceipt.safeParse(record.receipt.payload);
  if (!success) return none;
  return { changes: data.changes ?? [], artifacts: (data.artifacts ?? []).map(({ path }) => path) };
}
