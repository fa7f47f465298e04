/**
 * Whether a call may run with the tool of this build, or is asked about again: invariant `tool-adapter/T4`.
 *
 * Invariants
 * A1  A call runs with the meaning that it was judged by, or with one that changes nothing for its arguments.
 * A2  A person that approved a call is one that the tool's rule names now, unless the rule named the same before: where
 *     the policy says who decides, the rule cannot be obeyed.
 * A3  A call that a remembered approval released runs with the same meaning and words only.
 * A4  What nobody approved, with a tool that never needed an approval and needs none, is not asked about: the model is
 *     told.
 */
import { type Principal, pattern, present, type Value } from '@reprise/contracts';
import type { AdapterContext } from '@reprise/kernel';
import { matches } from '@reprise/kernel/authority';
import { getValue, putValue } from '@reprise/kernel/store';
import { type ToolVersion, toolVersion } from '../../contracts/agent-def.js';
import type { ChangedCall, ToolCallParams } from '../../contracts/tool-call.js';
import { stoppingWith } from '../schema/in-time.js';
import type { Checked } from '../schema/schema.js';
import { type Approval, approvalOf } from '../tool/approval.js';
import { isSameValue } from '../tool/same-arguments.js';
import type { Tool } from '../tool/tool.js';
import { differsInSchema, isSameMeaning, recordedVersion } from '../tool/version.js';

/** A call at its execution. */
interface CallAtHand {
  readonly tool: Tool;
  readonly params: ToolCallParams;
  readonly context: AdapterContext;
  /** The arguments as they are stored, and as this build's schema takes them. */
  readonly args: Value;
  readonly checked: Checked;
}

/** Why a call may not run; undefined when it may. */
export async function changeOf(call: CallAtHand): Promise<ChangedCall | undefined> {
  const { tool, params, context } = call;
  const { approvedBy } = context;
  const isSame = hasSameMeaning(call);
  const before = isSame === true ? undefined : await judgedVersion(params, context);
  const runs = isSame ?? (await meansTheSame(call, before));
  if (runs && approvedBy === undefined && isReleased(params, tool)) return undefined;
  const asked = await approvalNow(call);
  if (runs && asked === undefined) return undefined;
  if (runs && approvedBy !== undefined && isDecider(asked, params, approvedBy)) return undefined;
  return changed(call, isSame === true ? await judgedVersion(params, context) : before, asked);
}

/** Whether a call that means the same, and that nobody approved, runs without asking the rule again. */
function isReleased({ meaning, needs_approval }: ToolCallParams, tool: Tool): boolean {
  if (tool.approval === 'never' || meaning === undefined) return true;
  const now = recordedVersion(tool).meaning;
  return needs_approval === true ? meaning === now : isSameMeaning(meaning, now); // A3
}

/**
 * A1, as far as the parameters tell, which they do for nearly all calls; undefined where the version must be read that the
 * call was judged by. Parameters without a meaning are those of a call that was judged without the tool's code, or by an
 * older build.
 */
function hasSameMeaning({ tool, params }: CallAtHand): boolean | undefined {
  if (params.meaning === undefined) {
    if (params.fingerprint === undefined) return tool.approval === 'never';
    return params.fingerprint === tool.entry.fingerprint;
  }
  return isSameMeaning(params.meaning, recordedVersion(tool).meaning) ? true : undefined;
}

/** A1, by the version that the call was judged by. */
async function meansTheSame(call: CallAtHand, before: ToolVersion | undefined): Promise<boolean> {
  const { tool, args, checked } = call;
  const now = recordedVersion(tool);
  if (before === undefined || !checked.ok) return false;
  if (!differsInSchema(before, now.version)) return false; // also the tool of another toolset is another tool
  return isSameValue(before.schema, args, checked.value);
}

async function judgedVersion({ judged_ref }: ToolCallParams, { content }: AdapterContext) {
  return judged_ref === undefined ? undefined : toolVersion.safeParse(await getValue(content, judged_ref)).data;
}

/** The approval that the tool wants now. A rule cannot be asked about arguments that do not fit. */
async function approvalNow({ tool, params, context, checked }: CallAtHand): Promise<Approval | undefined> {
  if (typeof tool.approval !== 'function') return tool.approval === 'always' ? {} : undefined;
  if (!checked.ok) return {};
  const { content, signal } = context;
  const { session } = params;
  return stoppingWith(signal, (stopped) => approvalOf(tool, checked.value, { session, content, stopped }));
}

// A2
function isDecider(asked: Approval | undefined, { to }: ToolCallParams, by: Principal): boolean {
  if (asked?.to === undefined || asked.to === to || by === 'operator') return true;
  return matches(asked.to, by);
}

async function changed(
  { tool, params, context }: CallAtHand,
  before: ToolVersion | undefined,
  asked: Approval | undefined,
): Promise<ChangedCall> {
  const { version, meaning } = recordedVersion(tool);
  const { content, approvedBy } = context;
  const now_ref = await putValue(content, version);
  const versions = { now_ref, ...(params.judged_ref === undefined ? {} : { judged_ref: params.judged_ref }) };
  const isFree = version.approval === 'never' && (before?.approval ?? 'never') === 'never';
  if (approvedBy === undefined && isFree) return versions; // A4
  const { fingerprint, guarantee, timeout_ms, parallel, polling, on_unknown, origin } = version;
  const entry_ref = origin === undefined ? undefined : await putValue(content, tool.entry);
  const approval = approvalFor(params, approvedBy, asked);
  const terms = { fingerprint, meaning, guarantee, timeout_ms, parallel, polling, on_unknown, entry_ref, approval };
  return { ...versions, again: present(terms) };
}

/** Who is asked again: the people that the rule names now, or the decider where it is one of them. */
function approvalFor(params: ToolCallParams, by: Principal | undefined, asked: Approval | undefined): Approval {
  const isNamed = by !== undefined && by !== 'operator' && isDecider(asked, params, by);
  const to = isNamed && pattern.safeParse(by).success ? by : (asked?.to ?? params.to);
  return present({ to, reason_ref: asked?.reason_ref ?? params.reason_ref });
}
