/**
 * Pending items for people, from all cells of a world: approvals and questions of sessions, questions of other cells,
 * and the decisions about them.
 *
 * Does not own: who may decide (the gate), whether a call needs an approval (the judge, and policy rules).
 */
import {
  type Actor,
  aPrincipal,
  aText,
  isRef,
  isRepriseError,
  type EffectDecision as KernelDecision,
  type KnownOptions,
  type Principal,
  present,
  type Ref,
  RepriseError,
  requireKnownOptions,
  textOf,
  textsByName,
} from '@reprise/contracts';
import type { PendingItem, World } from '@reprise/kernel';
import { encode, portableSha256, toHex } from '@reprise/kernel/codec';
import { getValue, putValue } from '@reprise/kernel/store';
import { putText } from '../content/transcript.js';
import { durationMs } from '../contracts/duration.js';
import { SESSION_REDUCER } from '../contracts/session.js';
import type { SessionState } from '../contracts/state.js';
import { type HumanAskParams, humanAsk, type ToolCallParams, toolCall } from '../contracts/tool-call.js';
import { type ToolsetAdoptParams, toolsetAdopt } from '../contracts/toolset.js';
import { toolsetDiff } from '../contracts/toolset-offer.js';
import { worldRequestId } from '../session/request-id.js';
import type { Pending, PendingQuestion, ToolsetChange } from '../session/run/pending.js';
import { readQuestion } from '../session/run/read-question.js';
import type { Build } from '../tools/toolset/build.js';
import { approvedParams, changedDigest, type WaitingCall, waitingCall } from './changed-calls.js';
import { type Decision, invalidDecision, namesItem, readDecision, requireItemId } from './decision.js';

/** Which pending items to list; all of them when empty. */
export interface PendingQuery {
  /** Of sessions with all of these labels. */
  readonly label?: Readonly<Record<string, string>>;
  /** That this principal may decide about. */
  readonly to?: Principal;
  readonly session?: string;
}

/** The principal that decides, and what it decided on. */
export interface DecideOptions {
  readonly as?: Principal;
  /** The digest of what was shown. */
  readonly digest?: string;
  /** The id of the request: a repetition changes nothing. */
  readonly id?: string;
  /**
   * Who decides, where that does not follow from `as`: a rule or a program that decides with the rights of a person, a
   * node. At most 1,024 bytes. A person can state no other person.
   */
  readonly actor?: Actor;
}

/** The result of a decision. */
export interface Decided {
  /**
   * `already_settled`: another decision came first, or the item ended; nothing happened. `stale`: the item is not what
   * was shown; nothing happened. `changed`: a deployment changed the tool of the call, and the decision does not name the
   * digest of both versions; nothing happened.
   */
  readonly status: 'applied' | 'already_settled' | 'stale' | 'changed';
  /**
   * Of `already_settled`: who decided first. Absent when nobody decided (its time ran out, its run was cancelled), for an
   * id that was never an item, and when this principal could not have decided.
   */
  readonly actor?: Actor;
  /** Of `stale` and `changed`: the item as it is now. */
  readonly item?: Pending;
}

/** The parts of a world that decisions need. */
interface PeopleParts {
  readonly world: World;
  readonly build: Build;
  /** When an effect was emitted, in journal milliseconds, and the plan that emitted it. */
  effectOf(effect: string): Promise<{ readonly since: number; readonly plan: number | null } | undefined>;
  /** What asks, for a cell of a part. */
  titleOf(item: PendingItem): string | undefined;
}

const PENDING_QUERY: KnownOptions<PendingQuery> = { label: textsByName, to: aPrincipal, session: aText };
const DECIDE_OPTIONS: KnownOptions<DecideOptions> = { as: aPrincipal, digest: aText, id: textOf(256), actor: true };

/** Refuses the options of a decision that are not its own, or of another kind. */
export function requireDecideOptions(options: unknown): void {
  const hint = typeof options === 'string' ? "Write { as: 'human:ann' }." : undefined;
  requireKnownOptions(options, DECIDE_OPTIONS, 'decide', hint);
}

/** The pending items for people, the oldest first. */
export async function openItems(parts: PeopleParts, query: PendingQuery = {}): Promise<readonly Pending[]> {
  requireKnownOptions(query, PENDING_QUERY, 'pending');
  const { world } = parts;
  const waiting = await (query.to === undefined ? world.pending() : world.as(query.to).pending());
  const items: Pending[] = [];
  for (const item of waiting) {
    if (!isOfPeople(item)) continue;
    const { session, labels } = await asker(world, item);
    const isMeant =
      (query.session === undefined || query.session === session?.key) &&
      Object.entries(query.label ?? {}).every(([name, text]) => labels[name] === text);
    if (isMeant) items.push(await shown(parts, item, { session, labels }));
  }
  return items;
}

/**
 * Decides about a pending item, or answers it.
 *
 * @param id the id of the item, or its first 8 digits or more
 * @throws RepriseError `invalid_argument` for a decision that is malformed or does not fit the kind of item,
 * `invalid_value` for arguments that the tool does not accept or an answer that is not one of the options;
 * `cap_denied`, `policy_denied` for a principal that may not decide
 */
export async function decide(
  parts: PeopleParts,
  id: string,
  given: Decision,
  options: DecideOptions = {},
): Promise<Decided> {
  const decision = readDecision(given);
  requireItemId(id);
  const item = itemNamed(await parts.world.pending(), id);
  if (item === undefined || !isOfPeople(item)) return lost(parts.world, id, decision, options);
  const call = await waitingOn(parts, item);
  const refused = await unseen(parts, item, { call, decision, digest: options.digest });
  if (refused !== undefined) return refused;
  try {
    if (!('answer' in decision)) await approveOrDeny(parts, item, decision, { ...options, call });
    else if (!(await answer(parts, item, decision.answer, options)))
      return await lost(parts.world, item.id, decision, options);
    return { status: 'applied' };
  } catch (error) {
    if (isRepriseError(error, 'approval_stale')) return stale(parts, item);
    if (isRepriseError(error, 'effect_settled')) return lost(parts.world, item.id, decision, options);
    throw error;
  }
}

/** The item with this id, or the only one whose id begins with it. */
function itemNamed(items: readonly PendingItem[], id: string): PendingItem | undefined {
  const [item, another] = items.filter((one) => namesItem(id, one.id));
  if (another === undefined || item?.id === id) return item;
  throw new RepriseError('invalid_argument', 'several pending items begin with these digits', {
    where: 'item',
    expected: 'more digits of the id',
    actual: id,
  });
}

/** The answer to a decision that comes second: who was first, for a principal that could have decided. */
async function lost(world: World, id: string, decision: Decision, { as }: DecideOptions): Promise<Decided> {
  const item = 'answer' in decision ? id : { id, kind: 'approval' as const };
  const first = await (as === undefined ? world : world.as(as)).decidedBy(item);
  return { status: 'already_settled', ...(first && { actor: first.actor }) };
}

/** The answer to a decision about something else than what waits: the item as it waits now. */
async function stale(parts: PeopleParts, { id }: PendingItem): Promise<Decided> {
  const now = (await parts.world.pending()).find((one) => one.id === id);
  return { status: 'stale', ...(now && { item: await shown(parts, now, await asker(parts.world, now)) }) };
}

/** The waiting call of an item, beside the tool of this build; undefined for other items. */
async function waitingOn(parts: PeopleParts, item: PendingItem): Promise<WaitingCall | undefined> {
  const params = callOf(item);
  return params === undefined ? undefined : waitingCall(parts, params);
}

/** Refuses a decision about something else than what its digest covers: the call, with both versions where it changed. */
async function unseen(
  parts: PeopleParts,
  item: PendingItem,
  { call, decision, digest }: { call: WaitingCall | undefined; decision: Decision; digest: string | undefined },
): Promise<Decided | undefined> {
  const alone = digestOf(item);
  const both = call?.changed && changedDigest(alone, call.changed);
  if (both !== undefined && digest === both) return undefined;
  const needsBoth = call?.onlyWords === true ? 'approve' in decision && decision.remember !== undefined : true;
  if (both === undefined || !needsBoth)
    return digest === undefined || digest === alone ? undefined : stale(parts, item);
  const now = await shown(parts, item, await asker(parts.world, item));
  return { status: 'changed', item: { ...now, ...(call?.changed && { changed: call.changed }), digest: both } };
}

/** Whether a person has to act: items that a program resolves are not for people. */
function isOfPeople({ cell, kind, name }: PendingItem): boolean {
  if (name === humanAsk.name) return true;
  return cell[0] === SESSION_REDUCER && kind !== 'deferred';
}

/** What asks: a session with its state, or a cell that states labels with its question. */
interface Asker {
  readonly session: { readonly key: string; readonly state: SessionState } | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

async function asker(world: World, { cell, kind, name, value }: PendingItem): Promise<Asker> {
  if (cell[0] === SESSION_REDUCER) {
    const state = (await world.state(cell)) as unknown as SessionState;
    return { session: { key: cell[1], state }, labels: state.labels };
  }
  const asked = kind === 'deferred' && name === humanAsk.name ? (value as unknown as HumanAskParams) : undefined;
  return { session: undefined, labels: asked?.session?.labels ?? {} };
}

/** The call that waits for approval; undefined for other items. */
function callOf({ kind, name, value }: PendingItem): ToolCallParams | undefined {
  return kind === 'approval' && name === toolCall.name ? (value as unknown as ToolCallParams) : undefined;
}

/** The toolset whose tools wait for approval; undefined for other items. */
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

async function shown(
  { world, build, effectOf, titleOf }: PeopleParts,
  item: PendingItem,
  { session, labels }: Asker,
): Promise<Pending> {
  const { id, to, expires: deadline } = item;
  const { since, plan } = (await effectOf(item.effect)) ?? { since: 0, plan: null };
  const call = session?.state.calls.find((known) => known.plan !== null && known.plan === plan);
  const title = session === undefined ? titleOf(item) : undefined;
  const all = {
    id,
    ...(session === undefined ? {} : { session: session.key }),
    labels,
    ...(title === undefined ? {} : { title }),
    ...(call === undefined ? {} : { tool: call.tool, callId: call.call_id }),
    digest: digestOf(item),
    to,
    since,
    deadline,
  };
  if (item.kind !== 'approval') return { ...all, kind: 'question', question: await questionOf(world, item) };
  const params = callOf(item);
  const drift = driftOf(item);
  if (drift !== undefined) return { ...all, kind: 'approval', drift: await readDrift(world, drift) };
  if (params === undefined) return { ...all, kind: 'approval' };
  const reason = params.reason_ref === undefined ? {} : { reason: await textAt(world, params.reason_ref) };
  const approval = {
    ...all,
    kind: 'approval' as const,
    args: await getValue(world.content, params.args_ref),
    ...reason,
  };
  const { changed, onlyWords } = await waitingCall({ world, build }, params);
  if (changed === undefined || onlyWords === true) return approval;
  return { ...approval, changed, digest: changedDigest(all.digest, changed) };
}

function questionOf({ content }: World, item: PendingItem): Promise<PendingQuestion> {
  return readQuestion(
    content,
    item.kind === 'question' ? item.value : (item.value as unknown as HumanAskParams).question_ref,
  );
}

/** The digest of an item: the kernel's for an approval, a digest of the question otherwise. */
function digestOf(item: PendingItem): string {
  return item.digest ?? toHex(portableSha256(encode(item.value)));
}

async function approveOrDeny(
  parts: PeopleParts,
  item: PendingItem,
  decision: Exclude<Decision, { readonly answer: unknown }>,
  { call, ...options }: DecideOptions & { readonly call: WaitingCall | undefined },
): Promise<void> {
  if (item.kind !== 'approval') {
    throw invalidDecision({
      expected: '{answer}, since the item is a question',
      actual: Object.keys(decision).join(', '),
    });
  }
  const made = await kernelDecision(parts, call, decision);
  const said = ('deny' in decision ? decision.deny : decision.comment) ?? '';
  const reason = said === '' ? {} : { reason_ref: await putText(parts.world.content, said) };
  await parts.world.decide(item, made, { ...asking(options), ...reason });
}

async function kernelDecision(
  parts: PeopleParts,
  call: WaitingCall | undefined,
  decision: Exclude<Decision, { readonly answer: unknown }>,
): Promise<KernelDecision> {
  if ('deny' in decision) return { approve: false };
  const { args, remember } = decision;
  const edited = args === undefined ? undefined : { args };
  const carried = call === undefined ? undefined : await approvedParams(parts, call, edited);
  const params = carried === undefined ? {} : { params: carried };
  if (remember === undefined) return { approve: true, ...params };
  const until = remember === true ? null : parts.world.now + durationMs(remember.for, 'remember.for');
  return { approve: true, ...params, remember: { until } };
}

/** Answers a question. @returns whether this answer settled it */
async function answer(
  { world }: PeopleParts,
  item: PendingItem,
  given: unknown,
  options: DecideOptions,
): Promise<boolean> {
  if (item.kind === 'approval') {
    throw invalidDecision({ expected: '{approve} or {deny}, since the item is an approval', actual: 'answer' });
  }
  const { options: listed } = await questionOf(world, item);
  const chosen = listed?.find(({ id }) => id === given);
  if (listed !== undefined && chosen === undefined) {
    throw new RepriseError('invalid_value', 'the answer is not one of the options', {
      where: 'answer',
      expected: listed.map(({ id }) => id).join(', '),
      actual: given,
    });
  }
  if (item.kind === 'question') {
    await world.answer(item, given, asking(options));
    return true;
  }
  const value_ref = await putValue(world.content, given);
  const text = chosen?.label ?? (typeof given === 'string' ? given : JSON.stringify(given));
  const said = new TextEncoder().encode(text);
  const payload = { value_ref, text_ref: await world.content.put(said), bytes: said.length };
  // Without an id of its own each answer is a request of its own: equal answers of two people are two decisions.
  const { status, duplicate } = await world.settle(item.effect, { status: 'ok', payload }, asking(options));
  return status === 'applied' && (!duplicate || options.id !== undefined);
}

function asking({ as, id, actor }: DecideOptions) {
  return { ...present({ as, actor }), ...(id === undefined ? {} : { id: worldRequestId(id) }) };
}

async function textAt({ content }: World, ref: Ref): Promise<string> {
  const bytes = isRef(ref) ? await content.get(ref) : undefined;
  return bytes === undefined ? '' : new TextDecoder().decode(bytes);
}
