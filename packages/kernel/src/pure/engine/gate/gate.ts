/**
 * The gate: it checks a plan's effect, a cell's event and an outside request. Pure functions of journaled state.
 *
 * Order: capability, budget, policy. Of the policy rules about an act the first match decides; without a match
 * an effect is denied, and an event reaches the cell itself, its parent and its descendants. A refusal is data.
 */
import {
  type Address,
  type Capability,
  type FailureCode,
  formatAddress,
  type PlanAddress,
  type PolicyRule,
  type Principal,
  pattern,
  type Reserved,
  type Value,
} from '@reprise/contracts';
import { isExpired, matches, PARALLEL, permits } from '../../authority/index.js';
import { encode, toHex } from '../../codec/index.js';
import { cellAddress, type EffectDefinition } from '../../define/index.js';
import type { FrameFold } from '../frame/frame-fold.js';
import { cellKey, isAddress } from '../leaf/leaf-key.js';
import type { EffectLeaf } from '../leaf/leaves.js';
import { fitsAccount } from '../ledger/accounts.js';
import { hasReach } from './reach.js';
import {
  type Authority,
  actorOf,
  approvalsOf,
  authorityOf,
  cellOf,
  holderIn,
  holderOf,
  isAdapter,
  isBelow,
  isChild,
  isGeneration,
  lastGeneration,
  type RightsReader,
} from './rights.js';

/** The inputs of a decision, and its time. */
interface RightsReaderAt extends RightsReader {
  readonly at: number;
}

/** The reason of a refusal. */
export interface Refused {
  readonly allow: false;
  readonly code: FailureCode;
  /** The policy rule that refused; null when none did. */
  readonly rule: number | null;
}

/** The gate's verdict on an effect. */
export type EffectVerdict =
  | {
      readonly allow: true;
      readonly rule: number;
      /** The digest of the rights in force; only where rights were ever set. */
      readonly grant?: string;
      /** The amounts to reserve for it. */
      readonly reserved?: Reserved;
      /** The principals that must approve it first, if any. */
      readonly approval?: string;
    }
  | Refused;

/** An effect before the gate. */
interface AskedEffect {
  readonly plan: PlanAddress;
  /** The generation of the cell that emitted it; absent for the first. */
  readonly inc?: number | undefined;
  readonly definition: EffectDefinition;
  readonly params: Value;
  /** Its id, when it was approved: it needs no second approval. */
  readonly approved?: string;
  /** Its plan requires an approval, whatever the policy says. */
  readonly approval?: { readonly to?: string };
}

/** Who may approve where a policy names nobody: any human principal. */
const APPROVERS = 'human:*';

/** Checks an effect. Nothing is reserved yet. */
export function gateEffect(fold: FrameFold, asked: AskedEffect): EffectVerdict {
  const cell: Address = [asked.plan[0], asked.plan[1]];
  const who = holderOf(cell);
  const authority = emitterAuthority(fold, asked);
  const refusal = capabilityRefusal(fold, authority, asked) ?? parallelRefusal(fold, authority, asked);
  if (refusal !== undefined) return refused(refusal);
  const reserved = reservedFor(authority, asked);
  if (reserved !== undefined && !isWhole(reserved)) return refused('validation_error/reserve');
  if (reserved !== undefined && !fitsAccount(fold, reserved)) return refused('cap_denied/budget');
  const ruling = firstRule(fold.rules.policy, 'effect', namesOf(asked), who);
  if (ruling === undefined || ruling.rule.decision === 'deny') return refused('policy_denied', ruling?.index);
  const grant = authority === 'everything' ? {} : { grant: digestOf(fold, authority?.exercise) };
  const allowed = {
    allow: true,
    rule: ruling.index,
    ...grant,
    ...(reserved === undefined ? {} : { reserved }),
  } as const;
  const byRule = ruling.rule.decision === 'require_approval';
  const wanted = byRule || asked.approval !== undefined;
  if (!wanted || asked.approved !== undefined || isRemembered(fold, who, asked)) return allowed;
  const to = byRule && 'to' in ruling.rule ? ruling.rule.to : asked.approval?.to;
  return { ...allowed, approval: to ?? APPROVERS };
}

/** Why the rights of a plan's cell do not permit an effect; undefined when they do. Checked again whenever rights change. */
function rightsRefusal(fold: FrameFold, asked: AskedEffect): FailureCode | undefined {
  return capabilityRefusal(fold, emitterAuthority(fold, asked), asked);
}

/** The rights of the cell that emitted an effect: not of a later cell at the same address. */
function emitterAuthority(fold: FrameFold, { plan, inc }: AskedEffect): Authority | undefined | 'everything' {
  const cell: Address = [plan[0], plan[1]];
  const authority = authorityIn(fold, holderOf(cell));
  return authority === 'everything' || isGeneration(fold, cell, inc) ? authority : undefined;
}

/** Why an allowed effect may not continue; undefined when it may: by its cell's rights, and the policy of the era. */
export function standingRefusal(
  fold: FrameFold,
  { plan, inc, params }: EffectLeaf,
  definition: EffectDefinition,
): FailureCode | undefined {
  const refusal = rightsRefusal(fold, { plan, inc, definition, params });
  if (refusal !== undefined) return refusal;
  const ruling = firstRule(fold.rules.policy, 'effect', namesOf({ definition, params }), holderOf([plan[0], plan[1]]));
  return ruling === undefined || ruling.rule.decision === 'deny' ? 'policy_denied' : undefined;
}

/** The gate's verdict on an event. */
export type SendVerdict =
  | {
      readonly allow: true;
      /** It may reach a cell only as its maker. */
      readonly making?: true;
    }
  | Refused;

/**
 * An event for a cell as patterns of the dimension `send` see it: `address#event`. In keys `#` and `%` are written as
 * `%23` and `%25`, so the first `#` always ends the key and no cell can be taken for another.
 */
export function sendText(to: Address, event: string): string {
  const key = to[1].replace(/[#%]/g, (sign) => (sign === '#' ? '%23' : '%25'));
  return `${formatAddress([to[0], key])}#${event}`;
}

/** The cell that such a text names; undefined when it names none. */
export function cellIn(text: string): Address | undefined {
  const [, reducer, key] = /^([^/]+\/[^/]+)\/([^#]+)#/s.exec(text) ?? [];
  const address = [reducer, key?.replace(/%2[35]/g, (code) => (code === '%23' ? '#' : '%'))];
  return isAddress(address) ? address : undefined;
}

const ALLOWED: SendVerdict = { allow: true };

/** Checks an event that a cell sends. */
export function gateSend(fold: FrameFold, from: Address, to: Address, event: string): SendVerdict {
  const who = holderOf(from);
  const what = sendText(to, event);
  const authority = authorityIn(fold, who);
  const ruling = firstRule(fold.rules.policy, 'send', what, who);
  const asked = permitted(fold, authority, 'send', what);
  const refusal = asked === undefined || isNear(fold, from, to) ? undefined : asked;
  if (refusal !== undefined) return refused(refusal);
  if (ruling !== undefined) return ruling.rule.decision === 'allow' ? ALLOWED : refused('policy_denied', ruling.index);
  const isReached = authority !== 'everything' && hasReach(fold, from);
  if (isReached || isOwn(fold, from, to)) return ALLOWED;
  return isNew(fold, to) ? { allow: true, making: true } : refused('policy_denied');
}

/** Whether kinship lets a cell reach another: itself, its parent, and the cells below it. */
export function isOwn(fold: RightsReader, from: Address, to: Address): boolean {
  return isNear(fold, from, to) || isBelow(fold, to, from);
}

/** Checks what the rights of a principal and the rules say of an event from outside: all that there is to check for people. */
export function gateSender(fold: RightsReaderAt, who: Principal, to: Address, event: string): SendVerdict {
  const what = sendText(to, event);
  const refusal = who === 'operator' ? undefined : permitted(fold, authorityIn(fold, who), 'send', what);
  if (refusal !== undefined) return refused(refusal);
  const ruling = firstRule(fold.rules.policy, 'send', what, who);
  return ruling?.rule.decision === 'deny' ? refused('policy_denied', ruling.index) : ALLOWED;
}

/** Checks an event from outside. */
export function gateRequest(fold: FrameFold, who: Principal, to: Address, event: string): SendVerdict {
  const sender = gateSender(fold, who, to, event);
  if (!sender.allow) return sender;
  if (isAdapter(who)) return gateAdapter(fold, who, to, event);
  return cellOf(who) === undefined ? ALLOWED : gateItself(fold, who, to);
}

/**
 * A request in the name of a cell reaches that cell and no other: a receiver takes a request for one of people, and a cell
 * that it made would have no parent. What the cell then sends is gated like every event of it.
 */
function gateItself(fold: FrameFold, who: Principal, to: Address): SendVerdict {
  const { app } = fold.env;
  const isItself = holderIn(app, who) === holderOf(cellAddress(app, to));
  return isItself && !isNew(fold, to) ? ALLOWED : refused('policy_denied');
}

/** An adapter reaches the same cells as the cell of its effect; it makes no cells, for they would have no parent. */
function gateAdapter(fold: FrameFold, who: Principal, to: Address, event: string): SendVerdict {
  const cell = actorOf(fold, who);
  if (cell == null) return refused('cap_denied/broken_chain');
  return isNew(fold, to) ? refused('cap_denied') : gateSend(fold, cell, to, event);
}

/**
 * Checks whether a principal may decide, answer or settle an effect of this kind.
 *
 * @param to the principals that were asked besides the operator; null for the default
 */
export function mayAnswer(
  fold: RightsReaderAt,
  who: Principal,
  kind: string,
  to: string | null,
): FailureCode | undefined {
  if (who === 'operator') return undefined;
  const refusal = permitted(fold, authorityIn(fold, who), 'settle', kind);
  if (refusal !== undefined) return refusal;
  const ruling = firstRule(fold.rules.policy, 'settle', kind, who);
  if (ruling?.rule.decision === 'deny') return 'policy_denied';
  return matches(to ?? APPROVERS, who) ? undefined : 'cap_denied';
}

/** The gate's verdict on reading. */
export type ReadVerdict =
  | {
      readonly allow: true;
      /** It holds by kinship, so for the records of this generation of the cell; null: for all at the address. */
      readonly inc: number | null;
      /** When the rights expire; null for never. */
      readonly until: number | null;
    }
  | { readonly allow: false; readonly code: FailureCode };

/**
 * Checks whether a principal may read a cell: its state and logs, or frames that concern it. Records of no
 * cell (null) are under `*`.
 *
 * Cells read themselves, their parent and the cells below; people and the operator everything that no rule denies.
 */
export function gateRead(fold: RightsReaderAt, who: Principal, cell: Address | null): ReadVerdict {
  if (who === 'operator') return { allow: true, inc: null, until: null };
  const what = cell === null ? '*' : formatAddress(cell);
  const reader = actorOf(fold, who);
  if (reader === null) return { allow: false, code: 'cap_denied/broken_chain' };
  const near = reader !== undefined && cell !== null && isNear(fold, reader, cell);
  const authority = authorityIn(fold, who);
  const refusal = permitted(fold, authority, 'read', what);
  if (refusal !== undefined && !near) return { allow: false, code: refusal };
  const { policy } = fold.rules;
  const ruling = firstRule(policy, 'read', what, who) ?? (reader && firstRule(policy, 'read', what, holderOf(reader)));
  if (ruling?.rule.decision === 'deny') return { allow: false, code: 'policy_denied' };
  const until = (authority !== 'everything' && authority?.exercise.expires_at) || null;
  const byAddress = refusal === undefined && (ruling !== undefined || reader === undefined);
  if (byAddress || cell === null) return byAddress ? { allow: true, inc: null, until } : UNREADABLE;
  const kin = near || (reader !== undefined && isBelow(fold, cell, reader));
  return kin ? { allow: true, inc: lastGeneration(fold, cell), until } : UNREADABLE;
}

const UNREADABLE: ReadVerdict = { allow: false, code: 'policy_denied' };

/** Checks whether a principal may erase content: of a cell, or by its links alone without one. */
export function gateErase(fold: FrameFold, who: Principal, cell: Address | null): SendVerdict {
  const ruling = firstRule(fold.rules.policy, 'erase', cell === null ? '*' : formatAddress(cell), who);
  const allowed = ruling === undefined ? who === 'operator' : ruling.rule.decision === 'allow';
  return allowed ? ALLOWED : refused('policy_denied', ruling?.index);
}

/** Rights are checked only where some were set: most worlds have none, and pay nothing for them. */
function authorityIn(fold: RightsReader, who: Principal): Authority | undefined | 'everything' {
  if (isAdapter(who) && actorOf(fold, who) === null) return undefined;
  return fold.rules.governed === true ? authorityOf(fold, who) : 'everything';
}

function capabilityRefusal(
  fold: FrameFold,
  authority: Authority | undefined | 'everything',
  { definition, params }: AskedEffect,
): FailureCode | undefined {
  if (authority === 'everything') return undefined;
  const kind = permitted(fold, authority, 'effect', definition.name);
  if (kind !== undefined || authority === undefined) return kind;
  for (const [dimension, param] of Object.entries(definition.rights)) {
    const text = (params as Readonly<Record<string, Value>>)[param];
    const refusal = permitted(fold, authority, dimension, String(text));
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** Counts all open effects of this generation, those of ended plans included. */
function parallelRefusal(
  fold: FrameFold,
  authority: Authority | undefined | 'everything',
  { plan, inc = 0, approved }: AskedEffect,
): FailureCode | undefined {
  if (authority === 'everything' || authority?.exercise.max_parallel === undefined) return undefined;
  let open = 0;
  for (const { key, leaf } of fold.overlay.list('effect')) {
    const { plan: of, inc: by = 0, late } = leaf;
    if (late === undefined && key.path[1] !== approved && of[0] === plan[0] && of[1] === plan[1] && by === inc) open++;
  }
  return open >= authority.exercise.max_parallel ? 'cap_denied/parallel' : undefined;
}

function permitted(
  fold: Pick<RightsReaderAt, 'at'>,
  authority: Authority | undefined | 'everything',
  dimension: string,
  text: string,
): FailureCode | undefined {
  if (authority === 'everything') return undefined;
  if (authority === undefined) return 'cap_denied/broken_chain';
  if (isExpired(authority.exercise, fold.at)) return 'cap_denied/expired';
  return permits(authority.exercise, dimension, text) ? undefined : 'cap_denied';
}

/** The reservation of an effect: one call, one slot, and the amounts of its definition. */
function reservedFor(
  authority: Authority | undefined | 'everything',
  { definition, params }: AskedEffect,
): Reserved | undefined {
  if (authority === 'everything' || authority === undefined || authority.account === null) return undefined;
  const amounts: Record<string, number> = { calls: 1, [PARALLEL]: 1 };
  for (const [unit, reserve] of Object.entries(definition.reserves)) {
    const amount = typeof reserve === 'number' ? reserve : (params as Readonly<Record<string, Value>>)[reserve];
    if (typeof amount === 'number') amounts[unit] = amount;
  }
  return { account: authority.account, amounts };
}

/** Parameters are untrusted: a negative amount would make room for others, and the ledger counts whole units. */
function isWhole({ amounts }: Reserved): boolean {
  return Object.values(amounts).every((amount) => Number.isSafeInteger(amount) && amount >= 0);
}

function isRemembered(fold: FrameFold, who: string, asked: AskedEffect): boolean {
  if (fold.rules.governed !== true) return false;
  const holds = coveredBy(asked);
  return approvalsOf(fold, who).some(([kind, until]) => holds(kind) && (until === null || fold.at < until));
}

/**
 * Whether a remembered name covers an effect. Where the definition states `remembers`, only the exact name does: a
 * pattern, or a name from before, does not say which value was approved.
 */
function coveredBy({ definition, params }: Pick<AskedEffect, 'definition' | 'params'>): (kind: string) => boolean {
  if (definition.remembers !== null) {
    const exact = rememberedName(definition, params);
    return (kind) => kind === exact;
  }
  const names = namesOf({ definition, params });
  return (kind) => names.some((name) => matches(kind, name));
}

/**
 * The name under which an approval of an effect is remembered; undefined when it cannot be. A value with `#` or `*` has
 * none: the name would be that of another subject, or a pattern that a cell narrows to other values.
 */
export function rememberedName(definition: EffectDefinition, params: Value): string | undefined {
  const { remembers } = definition;
  const full = fullName(definition, params);
  if (remembers === null) return full;
  const value = (params as Readonly<Record<string, Value>>)[remembers];
  const name = `${full}#${String(value)}`;
  const isPlain = typeof value === 'string' && value !== '' && !/[#*]/.test(value);
  const isWhole = isPlain && (definition.subject === null || full !== definition.name);
  return isWhole && pattern.safeParse(name).success ? name : undefined;
}

/** The names of an effect in rules: its kind, also with its subject. */
function namesOf({ definition, params }: Pick<AskedEffect, 'definition' | 'params'>): readonly string[] {
  const full = fullName(definition, params);
  return full === definition.name ? [full] : [definition.name, full];
}

/** The kind of an effect with its subject, as far as that can be named by a pattern. */
function fullName({ name, subject }: EffectDefinition, params: Value): string {
  if (subject === null) return name;
  const text = (params as Readonly<Record<string, Value>>)[subject];
  const full = `${name}#${String(text)}`;
  return typeof text === 'string' && pattern.safeParse(full).success ? full : name;
}

function digestOf(fold: FrameFold, exercise: Capability | undefined): string {
  return toHex(fold.env.hash(encode(exercise ?? null)));
}

/** A cell that does not exist yet would be made by the sender, and so be below it. */
function isNew(fold: FrameFold, to: Address): boolean {
  return fold.overlay.get(cellKey(to))?.live !== true;
}

/** A cell itself, or the one that made it. */
function isNear(fold: RightsReader, from: Address, to: Address): boolean {
  return (from[0] === to[0] && from[1] === to[1]) || isChild(fold, from, to);
}

function refused(code: FailureCode, rule?: number): Refused {
  return { allow: false, code, rule: rule ?? null };
}

type Act = 'effect' | 'send' | 'settle' | 'read' | 'erase';

/** The first matching rule about an act; a rule without a principal concerns cells. */
function firstRule(policy: readonly PolicyRule[], act: Act, what: string | readonly string[], who: string) {
  const names = typeof what === 'string' ? [what] : what;
  for (const [index, rule] of policy.entries()) {
    const named = (rule as Readonly<Record<string, string | undefined>>)[act];
    const meant = named !== undefined && names.some((name) => matches(named, name));
    if (meant && matches(rule.who ?? 'cell:*', who)) return { index, rule };
  }
  return undefined;
}
