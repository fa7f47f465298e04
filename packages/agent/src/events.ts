/** What watchers of a session see: a pure projection of journal frames, so it needs no log of its own. */
import type { Address, DerivedOf, JournalRecord, Ref } from '@reprise/contracts';
import type { WorldFrame } from '@reprise/kernel';
import type { Lifecycle, StopReason, ToolOutcome } from './contracts/session.js';

/** Where an event stands: `frame.record`. Resume after it with the same text. */
export type Cursor = `${number}.${number}`;

/** Something that happened in a session. */
export type AgentEvent = { readonly cursor: Cursor; readonly at: number } & (
  | { readonly type: 'input.accepted'; readonly run: number; readonly queued: boolean; readonly text_ref: Ref }
  | {
      readonly type: 'lifecycle';
      readonly run: number;
      readonly from: Lifecycle;
      readonly to: Lifecycle;
      readonly stop?: StopReason;
      readonly output_ref?: Ref;
      readonly usage?: { readonly steps: number; readonly tokens_in: number; readonly tokens_out: number };
    }
  | { readonly type: 'llm_step.requested'; readonly step_epoch: number }
  | {
      readonly type: 'llm_step.completed';
      readonly step_epoch: number;
      readonly output_ref: Ref;
      readonly calls: readonly string[];
    }
  | {
      readonly type: 'llm_step.failed';
      readonly step_epoch: number;
      readonly code: string;
      readonly retryable: boolean;
    }
  | { readonly type: 'tool.requested'; readonly call_id: string; readonly tool: string; readonly args_ref: Ref }
  | { readonly type: 'tool.completed'; readonly call_id: string; readonly outcome: ToolOutcome }
);

type Body = AgentEvent extends infer E ? (E extends unknown ? Omit<E, 'cursor' | 'at'> : never) : never;

/**
 * The events of one session in one frame.
 *
 * @param frame a durable frame
 * @param session the session's address
 */
export function projectFrame(frame: WorldFrame, session: Address): AgentEvent[] {
  const events: AgentEvent[] = [];
  for (const [i, record] of frame.records.entries()) {
    const body = bodyOf(record, session);
    if (body !== undefined) events.push({ cursor: `${frame.seq}.${i}`, at: frame.at, ...body } as AgentEvent);
  }
  return events;
}

function bodyOf(record: JournalRecord, session: Address): Body | undefined {
  switch (record.kind) {
    case 'fact':
      return isOf(record.from, session) ? factBody(record) : undefined;
    case 'intent':
      return isOf(record.plan, session) ? intentBody(record) : undefined;
    case 'event':
      return isOf(record.to, session) ? eventBody(record) : undefined;
    default:
      return undefined;
  }
}

function factBody({ name, value }: DerivedOf<'fact'>): Body | undefined {
  // The reducer's own schemas checked these values before they were journaled.
  if (name === 'aos.agent/InputAccepted@1') return { type: 'input.accepted', ...(value as object) } as Body;
  if (name === 'aos.agent/LifecycleChanged@1') return { type: 'lifecycle', ...(value as object) } as Body;
  return undefined;
}

function intentBody({ name, input }: DerivedOf<'intent'>): Body | undefined {
  const fields = input as unknown as { step_epoch: number; call_id: string; tool: string; args_ref: Ref };
  if (name === 'aos.agent/llm_step_plan@1') return { type: 'llm_step.requested', step_epoch: fields.step_epoch };
  if (name !== 'aos.agent/tool_call_plan@1') return undefined;
  return { type: 'tool.requested', call_id: fields.call_id, tool: fields.tool, args_ref: fields.args_ref };
}

function eventBody({ event }: DerivedOf<'event'>): Body | undefined {
  const value = event.value as unknown as {
    step_epoch: number;
    output_ref: Ref;
    tool_calls: readonly { call_id: string }[];
    code: string;
    retryable: boolean;
    call_id: string;
    outcome: ToolOutcome;
  };
  switch (event.name) {
    case 'aos.agent/LlmStepCompleted@1': {
      const calls = value.tool_calls.map(({ call_id }) => call_id);
      return { type: 'llm_step.completed', step_epoch: value.step_epoch, output_ref: value.output_ref, calls };
    }
    case 'aos.agent/LlmStepFailed@1':
      return { type: 'llm_step.failed', step_epoch: value.step_epoch, code: value.code, retryable: value.retryable };
    case 'aos.agent/ToolResult@1':
      return { type: 'tool.completed', call_id: value.call_id, outcome: value.outcome };
    default:
      return undefined;
  }
}

function isOf(of: readonly unknown[] | null, session: Address): boolean {
  return of !== null && of[0] === session[0] && of[1] === session[1];
}
