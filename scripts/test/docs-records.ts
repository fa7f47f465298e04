/** The schemas of records, in the words of `docs/reference/records.md`. */
import * as contracts from '@reprise/contracts';
import type { AnySchema } from '@reprise/contracts/schema';
import {
  DERIVED_LAYOUTS,
  INGRESS_LAYOUTS,
  type Layout,
  RECEIPT_LAYOUT,
} from '../../packages/kernel/src/pure/record/index.js';
import { compileSchema, type FieldNode, type SchemaNode } from '../../packages/kernel/src/pure/schema/index.js';

/** The records of a frame by kind, in the order of the page. */
export const RECORDS: Readonly<Record<string, AnySchema>> = {
  manifest: contracts.manifestRecord,
  request: contracts.requestRecord,
  command: contracts.commandRecord,
  deferred: contracts.deferredRecord,
  ask: contracts.askRecord,
  receipt: contracts.receiptRecord,
  timer: contracts.timerRecord,
  attempt: contracts.attemptRecord,
  snapshot: contracts.snapshotRecord,
  continue: contracts.continueRecord,
  clock: contracts.clockRecord,
  erase: contracts.eraseRecord,
  fork: contracts.forkRecord,
  event: contracts.eventRecord,
  intent: contracts.intentRecord,
  effect: contracts.effectRecord,
  denial: contracts.denialRecord,
  settled: contracts.settledRecord,
  late: contracts.lateRecord,
  fact: contracts.factRecord,
  fault: contracts.faultRecord,
  plan_ended: contracts.planEndedRecord,
  cell_command: contracts.cellCommandRecord,
  'attempt (riding)': contracts.ridingAttempt,
  state: contracts.stateRecord,
};

/** Values inside records that the page lists in tables of their own. */
export const PARTS: Readonly<Record<string, AnySchema>> = {
  envelope: contracts.eventEnvelope,
  pin: contracts.pinned,
  'effect rule': contracts.effectRule,
  'send rule': contracts.sendRule,
  'settle rule': contracts.settleRule,
  'read rule': contracts.readRule,
  'erase rule': contracts.eraseRule,
  'sys/Settle@1': contracts.settleCommand,
  'sys/Decide@1': contracts.decideCommand,
  'sys/Answer@1': contracts.answerCommand,
  'sys/Cancel@1': contracts.cancelCommand,
  'sys/SetRights@1': contracts.setRightsCommand,
  'sys/SetAccount@1': contracts.setAccountCommand,
  capability: contracts.capability,
  origin: contracts.forkOrigin,
  'inherited rights': contracts.inheritedRights,
  reserved: contracts.reserved,
  outcome: contracts.receipt,
  asked: contracts.askedModel,
  usage: contracts.usage,
};

/** Schemas that the page calls by a name. */
const NAMED: Readonly<Record<string, AnySchema>> = {
  ...PARTS,
  address: contracts.address,
  'plan address': contracts.planAddress,
  'wire name': contracts.wireName,
  'effect kind': contracts.effectKind,
  principal: contracts.principal,
  actor: contracts.actor,
  sender: contracts.sender,
  'touched leaf': contracts.touchedLeaf,
  'failure code': contracts.failureCode,
  'policy rule': contracts.policyRule,
  pattern: contracts.pattern,
  amounts: contracts.amounts,
  command: contracts.kernelCommand,
  settlement: contracts.settlement,
  decision: contracts.decision,
  remembered: contracts.remembered,
  hold: contracts.hold,
  account: contracts.accountName,
  'effect and outcome': contracts.forkSettlement,
  'holder and rights': contracts.forkRights,
  'account and ledger': contracts.forkAccount,
  'rights by dimension': contracts.capability.shape.may,
};

const NAME_OF = new Map(Object.entries(NAMED).map(([name, schema]) => [keyOf(compileSchema(schema)), name]));
const FAULT_CODES: readonly unknown[] = contracts.FAULT_CODES;

/** A field of an object schema, as the page lists it: its name, with `?` when it may be absent, and its type. */
export type Field = readonly [name: string, type: string];

/** The common fields of ingress records. */
export const STAMPS: readonly Field[] = [
  ['seq', 'integer ≥ 0'],
  ['at', 'integer ≥ 0'],
  ['principal', 'principal'],
];

/** The fields of an object schema, except `kind`, which is in the heading. */
export function fieldsOf(schema: AnySchema): Field[] {
  const node = compileSchema(schema);
  if (node.type !== 'object') throw new TypeError('a record is an object');
  const entries: [string, FieldNode][] = Object.entries(node.fields);
  return entries
    .filter(([name]) => name !== 'kind')
    .map(([name, field]) => [field.optional ? `${name}?` : name, words(field.node)]);
}

/** The table of how records are written: the number of each kind, and its fields in their places. */
export function layoutsTable(): string {
  const rows = [
    ...rowsOf('the first of a frame', INGRESS_LAYOUTS),
    ...rowsOf('derived', DERIVED_LAYOUTS),
    `| an outcome | | ${names(RECEIPT_LAYOUT.fields)} | ${names(RECEIPT_LAYOUT.optional)} |`,
  ];
  return ['| kind | number | fields, in their places | optional |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function rowsOf(where: string, layouts: Readonly<Record<string, Layout>>): string[] {
  return Object.entries(layouts).map(
    ([kind, { code, fields, optional }]) =>
      `| \`${kind}\`, ${where} | ${code} | ${names(fields)} | ${names(optional)} |`,
  );
}

function names(fields: Layout['fields']): string {
  return fields.map(({ name }) => `\`${name}\``).join(', ');
}

/** A schema in a few words. */
export function words(node: SchemaNode): string {
  const name = NAME_OF.get(keyOf(node));
  if (name !== undefined) return name;
  switch (node.type) {
    case 'ref':
      return 'link';
    case 'literal':
      if (node.values.every((value) => FAULT_CODES.includes(value))) return 'fault code';
      if (node.values.length === 1) return String(node.values[0]);
      return node.values.map((value) => `\`${String(value)}\``).join(', ');
    case 'list':
      return `list of ${words(node.item)}`;
    case 'union':
      return node.options.map(words).join(' or ');
    case 'number':
      return node.int && node.max === undefined ? `integer ≥ ${node.min}` : refuse(node);
    case 'text':
      if (node.patterns?.[0] === '^[0-9a-f]{64}$') return '64 hex digits';
      if (node.patterns?.[0]?.startsWith('^00-')) return 'a `traceparent` of W3C Trace Context';
      return node.patterns === undefined && node.max !== undefined ? `text ≤ ${node.max}` : refuse(node);
    case 'null':
    case 'boolean':
    case 'value':
    case 'bytes':
      return node.type;
    default:
      return refuse(node);
  }
}

function refuse(node: SchemaNode): never {
  throw new TypeError(`the page on records has no words for ${JSON.stringify(node)}`);
}

function keyOf(node: SchemaNode): string {
  return JSON.stringify(node);
}
