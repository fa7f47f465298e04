/**
 * Calls that wait for a person, and the tools of this build: what a deployment changed since they were judged.
 *
 * Invariants
 * W1  What a decision applies to is what its digest covers: where the meaning has changed, both versions.
 * W2  A decision that would run nothing is refused, and the item stays: its tool is missing, or takes other arguments.
 * W3  A decision carries the meaning of this build, so the call runs with what was shown.
 */
import { present, type Ref, RepriseError, type Value } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { encode, portableSha256, toHex } from '@reprise/kernel/codec';
import { getValue, putValue } from '@reprise/kernel/store';
import { type ToolVersion, toolVersion } from '../contracts/agent-def.js';
import type { ToolCallParams } from '../contracts/tool-call.js';
import { agentOf } from '../define/agent-of.js';
import { check } from '../tools/schema/schema.js';
import type { Tool } from '../tools/tool/tool.js';
import type { ToolChange } from '../tools/tool/tool-change.js';
import { isSameMeaning, recordedVersion } from '../tools/tool/version.js';
import { type Build, calledTool } from '../tools/toolset/build.js';
import { invalidDecision } from './decision.js';

/** The parts that waiting calls are compared with. */
interface ComparingParts {
  readonly world: World;
  readonly build: Build;
}

/** A call that waits, beside the tool of this build. */
export interface WaitingCall {
  readonly params: ToolCallParams;
  /** Undefined when this process has no such tool. */
  readonly tool: Tool | undefined;
  /** The versions, where they differ in meaning; with `words` also where only their words differ. */
  readonly changed?: ToolChange;
  /** Only the words have changed, which matters to a decision that is remembered. */
  readonly onlyWords?: true;
}

/** Compares a waiting call with the tool of this build. */
export async function waitingCall({ world, build }: ComparingParts, params: ToolCallParams): Promise<WaitingCall> {
  const tool = await calledTool(build, params, world.content, (session) => agentOf(world, session));
  if (tool === undefined) return { params, tool };
  const { version: after, meaning } = recordedVersion(tool);
  const isAsBefore =
    params.meaning === undefined
      ? params.fingerprint === tool.entry.fingerprint
      : isSameMeaning(params.meaning, meaning);
  const hasWords = params.meaning === undefined || params.meaning === meaning;
  if (isAsBefore && params.before_ref === undefined && hasWords) return { params, tool };
  const before = await versionAt(world, params.before_ref ?? params.judged_ref);
  const changed = { ...(before === undefined ? {} : { before }), after };
  const isOnlyWords = isAsBefore && params.before_ref === undefined;
  return isOnlyWords ? { params, tool, changed, onlyWords: true } : { params, tool, changed };
}

async function versionAt({ content }: World, ref: Ref | undefined): Promise<ToolVersion | undefined> {
  return ref === undefined ? undefined : toolVersion.safeParse(await getValue(content, ref)).data;
}

/** The digest of an item with both versions (W1). */
export function changedDigest(digest: string, { before, after }: ToolChange): string {
  return toHex(portableSha256(encode([digest, before ?? null, after])));
}

/**
 * The parameters that an approval lets run, with the meaning of this build (W3); undefined for those that wait.
 *
 * @param edited arguments in place of the stored ones
 * @throws RepriseError `invalid_argument` without a tool in this process, `invalid_value` for arguments that it does not
 * take
 */
export async function approvedParams(
  { world }: ComparingParts,
  { params: call, tool, changed }: WaitingCall,
  edited?: { readonly args: unknown },
): Promise<Value | undefined> {
  if (tool === undefined)
    throw invalidDecision({
      expected: `a tool ${call.tool} with a handler in this process`,
      actual: undefined,
      hint: 'Deny the call, or decide in a process that has the tool.',
    });
  const args = edited === undefined ? await getValue(world.content, call.args_ref) : edited.args;
  await requireArgs(tool, args, edited === undefined);
  if (edited === undefined && changed === undefined && call.meaning !== undefined) return undefined;
  const { version, meaning } = recordedVersion(tool);
  const { fingerprint, guarantee, origin } = version;
  const entry_ref = origin === undefined ? undefined : await putValue(world.content, tool.entry);
  const now = present({
    fingerprint,
    meaning,
    guarantee,
    judged_ref: await putValue(world.content, version),
    entry_ref,
  });
  if (edited === undefined) return asValue({ ...call, ...now });
  const args_ref = await putValue(world.content, args);
  return asValue({ ...call, ...now, args_ref, asked_ref: call.asked_ref ?? call.args_ref });
}

// W2
async function requireArgs(tool: Tool, args: unknown, isStored: boolean): Promise<void> {
  const checked = await check(tool.args, args);
  if (checked.ok) return;
  throw new RepriseError('invalid_value', `invalid arguments for tool "${tool.name}"`, {
    where: 'args',
    actual: checked.problems,
    hint: isStored
      ? 'The tool has changed and does not take them any more. Approve with edited `args`, or deny the call.'
      : 'Correct them, or approve the call as it is.',
  });
}

function asValue(params: ToolCallParams): Value {
  return params as unknown as Value;
}
