/** Renders each record as one line: what happened, and to which cell or effect. */
import {
  escapeLine,
  formatAddress,
  isDigest,
  type JournalRecord,
  type PlanAddress,
  type Sender,
  shortText,
  type Value,
} from '@reprise/contracts';
import { toJson } from './json.js';

const PREVIEW_MAX = 100;

type Lines = { readonly [K in JournalRecord['kind']]: (record: Extract<JournalRecord, { kind: K }>) => string };

const LINES: Lines = {
  manifest: ({ world, reducers, plans, effects }) =>
    `world ${short(world)}: ${names(reducers)}; ${plans.length} plans, ${effects.length} effects`,
  request: ({ event, to, principal }) =>
    `${event.name} to ${formatAddress(to)} by ${principal} ${preview(event.value)}`,
  receipt: ({ effect, attempt, receipt, quarantined }) => {
    const { status, code, adapter, payload } = receipt;
    const outcome = code === undefined ? status : `${status} ${code}`;
    const rest = payload === undefined ? '' : ` ${preview(payload)}`;
    return `effect ${short(effect)} attempt ${attempt}: ${outcome} from ${adapter}${mark(quarantined)}${rest}`;
  },
  command: ({ command, principal }) => `${command.name} by ${principal} ${preview(command.value as unknown as Value)}`,
  deferred: ({ effect, attempt, expires }) =>
    `effect ${short(effect)} attempt ${attempt} is pending${expires === null ? '' : ` until ${timeText(expires)}`}`,
  ask: ({ effect, n, question }) => `effect ${short(effect)} question ${n}: ${preview(question)}`,
  timer: ({ cell, plan, name, due, quarantined }) =>
    `${name} of ${plan === null ? formatAddress(cell) : planName([...cell, plan])}, due ${timeText(due)}${mark(quarantined)}`,
  attempt: ({ effect, attempt }) => `effect ${short(effect)} attempt ${attempt}`,
  snapshot: ({ root, leaves }) => `${leaves} leaves, root ${root}`,
  erase: ({ cell, subtree, digests, principal, reason }) => {
    const of = cell === null ? '' : ` of ${formatAddress(cell)}${subtree ? ' and the cells below' : ''}`;
    return `${digests.length} blobs${of} by ${principal}${reason === undefined ? '' : `: ${reason}`}`;
  },
  continue: ({ quarantined }) => `the rest of the cascade${mark(quarantined)}`,
  clock: ({ wall, principal }) => `${timeText(wall)}, confirmed by ${principal}`,
  fork: ({ world, from, mode, settled }) =>
    `world ${short(world)}, a ${mode} fork of ${short(from.world)} after frame ${from.seq}; ${settled.length} effects settled`,
  event: ({ event, to, from }) =>
    `${event.name} to ${formatAddress(to)} from ${senderName(from)} ${preview(event.value)}`,
  intent: ({ name, plan, input }) => `${name} as ${planName(plan)} ${preview(input)}`,
  effect: ({ name, effect, guarantee, params }) => `${name} ${short(effect)} ${guarantee} ${preview(params)}`,
  denial: ({ who, what, effect, code }) =>
    `${what}${effect === undefined ? '' : ` ${short(effect)}`} by ${who}: ${code}`,
  settled: ({ effect, status, code, by }) =>
    `effect ${short(effect)}: ${code === null ? status : `${status} ${code}`} by ${by}`,
  late: ({ effect, status, settled }) => `effect ${short(effect)}: ${status}, but it was settled as ${settled}`,
  fact: ({ name, from, value }) => `${name} from ${senderName(from)} ${preview(value)}`,
  fault: ({ target, code }) => `${code} at ${senderName(target)}`,
  cell_command: ({ from, command }) => `${formatAddress(from)} asks for ${command.name}`,
  plan_ended: ({ plan, status, code }) => `${planName(plan)}: ${code === null ? status : `${status} ${code}`}`,
  state: ({ leaves }) => stateLine(leaves),
};

const WHAT_MAX = 240;

/** Digests and ids by their first digits, which every command takes; `--json` has them whole. */
function shortIds(line: string): string {
  return line.replace(/[0-9a-f]{32,}/g, (id) => `${id.slice(0, 12)}…`);
}

/** A record with its place and time, as one line that is safe for a terminal. */
export function recordRow({ seq, i, at }: { seq: number; i: number; at: number }, record: JournalRecord): string {
  const what = escapeLine(shortText(shortIds(recordLine(record)), WHAT_MAX));
  return `${`${seq}.${i}`.padEnd(8)}  ${timeText(at)}  ${record.kind.padEnd(10)}  ${what}`.trimEnd();
}

/** The content of a record, as one line of any length. */
function recordLine(record: JournalRecord): string {
  return (LINES[record.kind] as (record: JournalRecord) => string)(record);
}

/** A time of the journal as ISO text in UTC; the number itself when it is outside the range of dates. */
export function timeText(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? `${at} ms` : date.toISOString();
}

type Leaf = Extract<JournalRecord, { kind: 'state' }>['leaves'][number];

/** Sorts cells first, because readers look for them. */
function stateLine(leaves: readonly Leaf[]): string {
  const rank = ([[kind]]: Leaf) => (kind === 'cell' ? 0 : kind === 'log' ? 1 : 2);
  return leaves
    .toSorted((a, b) => rank(a) - rank(b))
    .map(leafLine)
    .join('; ');
}

/**
 * A changed leaf: its key, and the change (`=` with the new value, `=…` when the value is long, `-` when removed). Only
 * cells and logs show their fields: those of other leaves belong to the kernel.
 */
function leafLine([key, changed]: Leaf): string {
  const name = key.map((part) => (isDigest(part) ? short(part) : String(part))).join(' ');
  if (changed === null) return `${name} gone`;
  if (key[0] !== 'cell' && key[0] !== 'log') return name;
  const fields = Object.entries(changed).map(([field, now]) => {
    if (now instanceof Uint8Array) return `${field}=…`;
    return now.length === 0 ? `-${field}` : `${field}=${preview(now[0])}`;
  });
  return `${name}: ${fields.join(' ')}`;
}

function preview(value: unknown): string {
  return shortText(toJson(value, { shortLinks: true }), PREVIEW_MAX);
}

function senderName(from: Sender): string {
  if (from === null) return 'the kernel';
  return from.length === 3 ? planName(from) : formatAddress(from);
}

function planName(plan: PlanAddress): string {
  return `${formatAddress(plan)}#${plan[2]}`;
}

function names(pinned: readonly { readonly name: string }[]): string {
  return pinned.length === 0 ? 'no reducer' : pinned.map(({ name }) => name).join(', ');
}

function short(hex: string): string {
  return hex.slice(0, 12);
}

function mark(quarantined: true | undefined): string {
  return quarantined === true ? ', quarantined' : '';
}
