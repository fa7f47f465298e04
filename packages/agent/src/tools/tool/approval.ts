/** Asks the approval rule of a tool about one call. */
import { type LlmToolCall, pattern, type SessionInfo } from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import { inTime, type Stopped } from '../schema/in-time.js';
import { type Report, reportFailed } from '../schema/report-failed.js';
import { shortened } from '../schema/schema.js';
import type { Tool } from './tool.js';

/** Who has to approve a call, and why. */
export type Approval = NonNullable<LlmToolCall['approval']>;

/** The parts that a rule is asked with. */
interface RuleContext {
  readonly session: SessionInfo;
  readonly content: ContentStore;
  readonly stopped: Stopped;
  readonly report?: Report;
}

/** The approval that a call needs; undefined when it needs none. A rule that fails requires one. */
export async function approvalOf(
  tool: Tool,
  args: unknown,
  { session, content, stopped, report }: RuleContext,
): Promise<Approval | undefined> {
  const { approval: rule } = tool;
  if (rule === 'never') return undefined;
  if (rule === 'always') return {};
  const verdict = await inTime(async () => rule({ args: args as never, ...session }), stopped);
  if (!verdict.ok) reportFailed(`the approval rule of ${tool.entry.name}`, verdict, report);
  if (!verdict.ok) return { reason_ref: await putText(content, ruleFailed(tool, verdict.why)) };
  if (verdict.value === false) return undefined;
  if (typeof verdict.value !== 'object' || verdict.value === null) return {};
  const { reason, to } = verdict.value;
  return {
    reason_ref: await putText(content, shortened(String(reason))),
    ...(pattern.safeParse(to).success ? { to: String(to) } : {}),
  };
}

function ruleFailed(tool: Tool, why: string): string {
  return shortened(`The approval rule of ${tool.entry.name} could not be asked: ${why}`);
}

function putText(content: ContentStore, text: string): ReturnType<ContentStore['put']> {
  return content.put(new TextEncoder().encode(text));
}
