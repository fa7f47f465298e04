/**
 * What waits for people: approvals of calls and questions, from all sessions of a world, and what people say to them.
 *
 * Does not own: who may decide (the gate's), whether a call has to wait (the judge's, and policy rules).
 */
import {
  type Address,
  isRef,
  isRepriseError,
  type EffectDecision as KernelDecision,
  type Principal,
  type Ref,
  RepriseError,
  type Value,
} from '@reprise/contracts';
import { encode, getValue, type PendingItem, portableSha256, putValue, toHex, type World } from '@reprise/kernel';
import { putText } from '../content/transcript.js';
import { SESSION_REDUCER } from '../contracts/session.js';
import type { SessionState } from '../contracts/state.js';
import { type HumanAskParams, humanAsk, type ToolCallParams, toolCall } from '../contracts/tool-call.js';
import { type ToolsetAdoptParams, toolsetAdopt } from '../contracts/toolset.js';
import { toolsetDiff } from '../contracts/toolset-offer.js';
import { agentOf } from '../define/agent-of.js';
import { commentRequestId, worldRequestId } from '../session/request-id.js';
import { type Build, calledTool } from '../tools/build.js';
import { type Duration, durationMs } from '../tools/duration.js';
import { check } from '../tools/schema.js';

/** A question that waits for an answer, as it was asked. */
export interface PendingQuestion {
  readonly question: string;
  /** Answers to choose from. */
  readonly options?: readonly { readonly id: string; readonly label: string }[];
  /** The JSON Schema of an answer. */
  readonly answer?: Value;
  /** What was wrong with the last answer. */
  readonly problems?: string;
}

/** Tools of a toolset that are held back until somebody approves. */
export interface ToolsetChange {
  readonly toolset: string;
  readonly tools: readonly {
    readonly tool: string;
    /** As whoever offers it described it when the session took it up; absent of one that is new. */
    readonly before?: Value;
    /** As it is described now. */
    readonly after: Value;
  }[];
}

/** Something that waits for a person. */
export interface Pending {
  /** What `decide` takes. */
  readonly id: string;
  /** A call waits for leave, or an answer is waited for. */
  readonly kind: 'approval' | 'question';
  /** The key of the session. */
  readonly session: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The call that waits; absent of a question that the session itself asks. */
  readonly tool?: string;
  readonly callId?: string;
  /** Of an approval: the arguments. */
  readonly args?: Value;
  /** Of an approval: why somebody has to decide, where the tool says so. */
  readonly reason?: string;
  /** Of an approval of tools that are not those that the session took up: what they were and what they are. */
  readonly drift?: ToolsetChange;
  /** Of a question. */
  readonly question?: PendingQuestion;
  /** Of all that is shown. A decision that names it is `stale` when it has changed. */
  readonly digest: string;
  /** Who besides the host may decide, as a pattern of principals. */
  readonly to: string;
  /** Since when it waits, in journal milliseconds. */
  readonly since: number;
  /** When it is given up, in journal milliseconds; null when it is not. */
  readonly deadline: number | null;
}

/** Which open items are wanted. */
export interface PendingQuery {
  /** Of sessions with all of these labels. */
  readonly label?: Readonly<Record<string, string>>;
  /** That this principal may decide about. */
  readonly to?: Principal;
  readonly session?: string;
}

/** What a person decides. */
export type Decision =
  | {
      readonly approve: true;
      /** Other arguments than the model gave: checked by the tool, and shown to the model. */
      readonly args?: unknown;
      /** What the model is told with it. */
      readonly comment?: string;
      /** Approves this tool for this session from now on: until it is taken back, or for so long. */
      readonly remember?: true | { readonly for: Duration };
    }
  /** The reason is told to the model. */
  | { readonly deny: string }
  | { readonly answer: unknown };

/** Who decides, and on what. */
export interface DecideOptions {
  readonly as?: Principal;
  /** The digest of what was shown. */
  readonly digest?: string;
  /** Makes it happen once. */
  readonly id?: string;
}

/** What became of a decision. */
export interface Decided {
  /** `stale`: what waits is not what was shown; nothing happened. */
  readonly status: 'applied' | 'already_settled' | 'stale';
}

/** What people's work is done with. */
export interface PeopleParts {
  readonly world: World;
  readonly build: Build;
  /** When an effect was emitted, in journal milliseconds, and by which plan of its cell. */
  effectOf(effect: string): Promise<{ readonly since: number; readonly plan: number | null } | undefined>;
}

/** The id of a command has room for so many characters behind `note.`. */
const NOTE_NAME_MAX = 100;

const ALREADY: Decided = { status: 'already_settled' };
const STALE: Decided = { status: 'stale' };
const APPLIED: Decided = { status: 'applied' };

/** What waits for people, the oldest first. */
export async function openItems(parts: PeopleParts, query: PendingQuery = {}): Promise<readonly Pending[]> {
  const { world } = parts;
  const waiting = await (query.to === undefined ? world.pending() : world.as(query.to).pending());
  const items: Pending[] = [];
  for (const item of waiting) {
    if (!isOfPeople(item) || (query.session ?? item.cell[1]) !== item.cell[1]) continue;
    const state = (await world.state(item.cell)) as unknown as SessionState;
    const isMeant = Object.entries(query.label ?? {}).every(([name, text]) => state.labels[name] === text);
    if (isMeant) items.push(await shown(parts, item, state));
  }
  return items;
}

/**
 * Decides about an open item, or answers it.
 *
 * @param id of the item
 * @throws RepriseError `invalid_argument` for a decision that is none of this kind of item, `invalid_value` for
 *   arguments that the tool does not take or an answer that is not one of the options; `cap_denied`, `policy_denied`
 *   for somebody who was not asked
 */
export async function decide(
  parts: PeopleParts,
  id: string,
  decision: Decision,
  options: DecideOptions = {},
): Promise<Decided> {
  const item = (await parts.world.pending()).find((one) => one.id === id);
  if (item === undefined || !isOfPeople(item)) return ALREADY;
  if (options.digest !== undefined && options.digest !== digestOf(item)) return STALE;
  try {
    if ('answer' in decision) await answer(parts, item, decision.answer, options);
    else await approveOrDeny(parts, item, decision, options);
    return APPLIED;
  } catch (error) {
    if (isRepriseError(error, 'approval_stale')) return STALE;
    if (isRepriseError(error, 'effect_settled')) return ALREADY;
    throw error;
  }
}

/** Whether somebody has to say something: what a program finishes waits for no person. */
function isOfPeople({ cell, kind, name }: PendingItem): boolean {
  return cell[0] === SESSION_REDUCER && (kind !== 'deferred' || name === humanAsk.name);
}

/** The call that waits for leave; undefined when something else does. */
function callOf({ kind, name, value }: PendingItem): ToolCallParams | undefined {
  return kind === 'approval' && name === toolCall.name ? (value as unknown as ToolCallParams) : undefined;
}

/** The toolset whose tools wait for leave; undefined when something else does. */
function driftOf({ kind, name, value }: PendingItem): ToolsetAdoptParams | undefined {
  return kind === 'approval' && name === toolsetAdopt.name ? (value as unknown as ToolsetAdoptParams) : undefined;
}

async function readDrift({ content }: World, { toolset, diff_ref }: ToolsetAdoptParams): Promise<ToolsetChange> {
  const { added, changed, withheld } = toolsetDiff.parse(await getValue(content, diff_ref));
  const all = [...added.map((one) => ({ ...one, before_ref: null })), ...changed];
  const tools = all
    .filter(({ tool }) => withheld.includes(tool))
    .map(async ({ tool, before_ref, after_ref }) => ({
      tool,
      ...(before_ref === null ? {} : { before: await getValue(content, before_ref) }),
      after: await getValue(content, after_ref),
    }));
  return { toolset, tools: await Promise.all(tools) };
}

async function shown({ world, effectOf }: PeopleParts, item: PendingItem, state: SessionState): Promise<Pending> {
  const { id, to, expires: deadline, cell } = item;
  const { since, plan } = (await effectOf(item.effect)) ?? { since: 0, plan: null };
  const call = state.calls.find((known) => known.plan !== null && known.plan === plan);
  const called = call === undefined ? {} : { tool: call.tool, callId: call.call_id };
  const all = { id, session: cell[1], labels: state.labels, ...called, digest: digestOf(item), to, since, deadline };
  if (item.kind !== 'approval') return { ...all, kind: 'question', question: await questionOf(world, item) };
  const params = callOf(item);
  const drift = driftOf(item);
  if (drift !== undefined) return { ...all, kind: 'approval', drift: await readDrift(world, drift) };
  if (params === undefined) return { ...all, kind: 'approval' };
  const reason = params.reason_ref === undefined ? {} : { reason: await textAt(world, params.reason_ref) };
  return { ...all, kind: 'approval', args: await getValue(world.content, params.args_ref), ...reason };
}

async function questionOf({ content }: World, item: PendingItem): Promise<PendingQuestion> {
  const ref = item.kind === 'question' ? undefined : (item.value as unknown as HumanAskParams).question_ref;
  const asked = ref === undefined ? item.value : await getValue(content, ref);
  if (typeof asked === 'string') return { question: asked };
  const { question, options, ...rest } = asked as { question?: Value; options?: readonly Value[] };
  const text = typeof question === 'string' ? question : JSON.stringify(asked);
  const listed = Array.isArray(options) ? { options: options.map(optionOf) } : {};
  return { ...(rest as Partial<PendingQuestion>), question: text, ...listed };
}

function optionOf(option: Value): { readonly id: string; readonly label: string } {
  if (typeof option !== 'object' || option === null) return { id: String(option), label: String(option) };
  const { id, label = id } = option as { readonly id?: Value; readonly label?: Value };
  return { id: String(id), label: String(label) };
}

/** An approval has the kernel's digest; of a question its own is made of what was asked. */
function digestOf(item: PendingItem): string {
  return item.digest ?? toHex(portableSha256(encode(item.value)));
}

async function approveOrDeny(
  parts: PeopleParts,
  item: PendingItem,
  decision: Exclude<Decision, { readonly answer: unknown }>,
  options: DecideOptions,
): Promise<void> {
  if (item.kind !== 'approval') throw wrong('{answer}, for this is a question', Object.keys(decision).join(', '));
  const call = callOf(item);
  const made = await kernelDecision(parts, call, decision);
  const said = 'deny' in decision ? decision.deny : decision.comment;
  // First what is said, then what is decided: the call goes on, or is over, with the latter.
  if (said !== undefined && said !== '' && call !== undefined) await note(parts.world, item.cell, call, said, options);
  await parts.world.decide(item, made, asking(options));
}

async function kernelDecision(
  parts: PeopleParts,
  call: ToolCallParams | undefined,
  decision: Exclude<Decision, { readonly answer: unknown }>,
): Promise<KernelDecision> {
  if ('deny' in decision) return { approve: false };
  const { args, remember } = decision;
  const params = args === undefined || call === undefined ? {} : { params: await edited(parts, call, args) };
  if (remember === undefined) return { approve: true, ...params };
  const until = remember === true ? null : parts.world.now + durationMs(remember.for, 'remember.for');
  return { approve: true, ...params, remember: { until } };
}

/** The call with other arguments; what the model gave stays beside them. */
async function edited({ world, build }: PeopleParts, call: ToolCallParams, args: unknown): Promise<Value> {
  const tool = await calledTool(build, call, world.content, (session) => agentOf(world, session));
  if (tool === undefined) throw wrong(`a tool ${call.tool} with a handler in this process`, undefined);
  const checked = await check(tool.args, args);
  if (!checked.ok) {
    throw new RepriseError('invalid_value', `tool ${call.tool} does not take these arguments`, {
      where: 'args',
      actual: checked.problems,
      hint: 'Fix them, or approve the call as it is.',
    });
  }
  const args_ref = await putValue(world.content, args);
  return { ...call, args_ref, asked_ref: call.asked_ref ?? call.args_ref } as unknown as Value;
}

async function note(
  world: World,
  session: Address,
  { call_id }: ToolCallParams,
  text: string,
  { as, id }: DecideOptions,
): Promise<void> {
  const text_ref = await putText(world.content, text);
  const command_id = `note.${noteName(id ?? text_ref.hex)}`;
  await world.request(
    session,
    { name: 'aos.agent/HostCommand@1', value: { command_id, command: { type: 'Note', call_id, text_ref } } },
    { ...(id === undefined ? {} : { id: commentRequestId(id) }), ...(as && { as }) },
  );
}

/** What the comment's command is called: a name as it is where it fits, else its digest. */
function noteName(name: string): string {
  return name.length <= NOTE_NAME_MAX ? name : toHex(portableSha256(encode(name)));
}

async function answer(
  { world }: PeopleParts,
  item: PendingItem,
  given: unknown,
  options: DecideOptions,
): Promise<void> {
  if (item.kind === 'approval') throw wrong('{approve} or {deny}, for this is an approval', 'answer');
  const { options: listed } = await questionOf(world, item);
  const chosen = listed?.find(({ id }) => id === given);
  if (listed !== undefined && chosen === undefined) {
    throw new RepriseError('invalid_value', 'this is not one of the answers to choose from', {
      where: 'answer',
      expected: listed.map(({ id }) => id).join(', '),
      actual: given,
    });
  }
  if (item.kind === 'question') {
    await world.answer(item, given, asking(options));
    return;
  }
  const value_ref = await putValue(world.content, given);
  const text = chosen?.label ?? (typeof given === 'string' ? given : JSON.stringify(given));
  const said = new TextEncoder().encode(text);
  const payload = { value_ref, text_ref: await world.content.put(said), bytes: said.length };
  await world.settle(item.effect, { status: 'ok', payload }, asking(options));
}

function asking({ as, id }: DecideOptions) {
  return { ...(as && { as }), ...(id === undefined ? {} : { id: worldRequestId(id) }) };
}

async function textAt({ content }: World, ref: Ref): Promise<string> {
  const bytes = isRef(ref) ? await content.get(ref) : undefined;
  return bytes === undefined ? '' : new TextDecoder().decode(bytes);
}

function wrong(expected: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_argument', 'this cannot be decided like this', { expected, actual });
}
