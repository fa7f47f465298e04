/**
 * The cells that a record concerns. A principal that may not read one of them may not see the record.
 *
 * Invariants
 * S1  They include every cell that the kernel itself puts into a record: owner, sender, receiver, cause, the holder of
 *     changed rights, the subject of a notice. Values supplied by authors are not inspected.
 * S2  Every record concerns a cell or the world: records of no cell belong to the world.
 */
import type {
  Address,
  DerivedRecord,
  EventEnvelope,
  IngressRecord,
  KernelCommand,
  NoticeName,
  PlanAddress,
  RidingAttempt,
  Sender,
  Value,
} from '@reprise/contracts';
import { cellOfLeaf } from '../leaf/leaf-key.js';
import { cellIn } from './gate.js';
import { cellOf, effectBehind, isNobody } from './rights.js';

/** A subject of a record: a cell, the cell of an effect, or the world. */
export type Subject = { readonly cell: Address } | { readonly effect: string } | 'world';

/** Records that concern subjects as a whole; a state record is judged leaf by leaf. */
type RecordOfCells = IngressRecord | DerivedRecord | RidingAttempt;
type ByKind = {
  readonly [K in RecordOfCells['kind']]: (record: Extract<RecordOfCells, { kind: K }>) => readonly Subject[];
};

const CONCERNED: ByKind = {
  manifest: ({ cancels = [] }) => ['world', ...cancels.map(of)],
  request: ({ to }) => [of(to)],
  command: ({ command }) => toldByCommand(command),
  receipt: ({ effect, receipt }) => [{ effect }, ...who(receipt.by)],
  timer: ({ cell }) => [of(cell)],
  attempt: ({ effect }) => [{ effect }],
  deferred: ({ effect }) => [{ effect }],
  ask: ({ effect }) => [{ effect }],
  snapshot: () => ['world'],
  continue: () => ['world'],
  clock: () => ['world'],
  erase: ({ cell }) => [cell === null ? 'world' : of(cell)],
  fork: ({ settled, rights }) => [
    'world',
    ...settled.map(([effect]) => ({ effect })),
    ...rights.flatMap(([principal]) => who(principal)),
  ],
  event: ({ to, from, event }) => [of(to), ...sender(from), ...(from === null ? noticed(event) : [])],
  intent: ({ plan }) => [of(plan)],
  effect: ({ plan }) => [of(plan)],
  denial: (record) => [...who(record.who), ...denied(record)],
  settled: ({ effect }) => [{ effect }],
  late: ({ effect }) => [{ effect }],
  fact: ({ from, ...fact }) => (from === null ? ['world'] : [...sender(from), ...noticed(fact)]),
  fault: ({ target }) => [of(target)],
  plan_ended: ({ plan }) => [of(plan)],
  cell_command: ({ from, command }) => [of(from), ...toldByCommand(command)],
};

/** The subjects of a record: a reader needs the right to read all of them. */
export function concernedCells(record: RecordOfCells): readonly Subject[] {
  const cells = (CONCERNED[record.kind] as (record: RecordOfCells) => readonly Subject[])(record);
  return 'principal' in record ? [...cells, ...who(record.principal)] : cells;
}

/** The owner of a leaf, by its path in a state record. */
export function subjectOfLeaf(path: readonly Value[]): Subject {
  const cell = cellOfLeaf(path);
  if (cell !== undefined) return of(cell);
  const [kind, name] = path;
  if (kind === 'effect' || kind === 'settled') return { effect: String(name) };
  return kind === 'rights' ? holder(String(name)) : 'world';
}

function toldByCommand({ name, value }: KernelCommand): readonly Subject[] {
  if (name === 'sys/SetAccount@1') return ['world'];
  return name === 'sys/SetRights@1' ? [holder(value.holder), ...who(value.granter)] : [{ effect: value.effect }];
}

/** A refused event names its intended receiver; a refused command does not. */
function denied({ what, effect }: Extract<RecordOfCells, { kind: 'denial' }>): readonly Subject[] {
  if (effect !== undefined || !what.includes('#')) return [];
  const cell = cellIn(what);
  return [cell === undefined ? 'world' : of(cell)];
}

/** A kernel notice names the cells that its receiver deals with. */
function noticed({ name, value }: EventEnvelope): readonly Subject[] {
  const place = NAMED_IN_NOTICE[name];
  const named = place === undefined ? undefined : (value as Readonly<Record<string, Value>>)[place];
  return Array.isArray(named) ? [of(named as unknown as Address)] : [];
}

const NAMED_IN_NOTICE: Readonly<Record<string, string>> = {
  'sys/Undeliverable@1': 'to',
  'sys/Reply@1': 'to',
  'sys/ChildFailed@1': 'cell',
  'sys/EffectOpened@1': 'from',
} satisfies Partial<Record<NoticeName, string>>;

/** People, the operator and the kernel are not cells, so reading them needs no right. */
function who(principal: string | undefined): readonly Subject[] {
  const subject = principal === undefined ? 'world' : holder(principal);
  return subject === 'world' ? [] : [subject];
}

function holder(principal: string): Subject {
  const effect = effectBehind(principal);
  if (effect !== undefined) return { effect };
  const cell = isNobody(principal) ? undefined : cellOf(principal);
  return cell === undefined ? 'world' : of(cell);
}

function sender(from: Sender): readonly Subject[] {
  return from === null ? [] : [of(from)];
}

function of([reducer, key]: Address | PlanAddress): Subject {
  return { cell: [reducer, key] };
}
