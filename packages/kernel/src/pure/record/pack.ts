/** Writes a frame's records as the list that is encoded: `[ingress, armed, derived, leaves]`. */
import {
  type DerivedRecord,
  fromHex,
  type IngressRecord,
  type JournalRecord,
  type Pinned,
  type Receipt,
  type RidingAttempt,
  type StateRecord,
  type Value,
} from '@reprise/contracts';
import { encodeScopeLinks, FRAME_DEPTH_MAX, type LinkedBytes } from '../codec/index.js';
import { DERIVED_LAYOUTS, type Form, INGRESS_LAYOUTS, type Layout, RECEIPT_LAYOUT, STATE_PREFIX } from './layout.js';

/** A frame's records by role. */
interface FrameParts {
  readonly ingress: IngressRecord;
  readonly derived: readonly DerivedRecord[];
  readonly attempts: readonly RidingAttempt[];
  readonly state: StateRecord;
}

/** All records of a frame, in order. */
export function recordsOf({ ingress, derived, attempts, state }: FrameParts): JournalRecord[] {
  return [ingress, ...derived, ...attempts, state];
}

/** The bytes of a frame, the links in its records, and the list that was encoded. */
interface EncodedFrame extends LinkedBytes {
  readonly packed: readonly unknown[];
}

/** Writes a frame's records as bytes in a scope. */
export function encodeFrame({ ingress, derived, attempts, state }: FrameParts): EncodedFrame {
  const packed = [
    packFields(INGRESS_LAYOUTS[ingress.kind], ingress),
    packArmed(attempts, derived),
    derived.map((record) => packFields(DERIVED_LAYOUTS[record.kind], record)),
    state.leaves.map((leaf) => packLeaf(leaf, ingress)),
  ];
  return { ...encodeScopeLinks(packed, FRAME_DEPTH_MAX), packed };
}

/** An effect is armed by the index of its record in the frame, or by its id when it was emitted before. */
function packArmed(attempts: readonly RidingAttempt[], derived: readonly DerivedRecord[]): (number | Uint8Array)[] {
  if (attempts.length === 0) return [];
  const places = new Map<string, number>();
  derived.forEach((record, i) => {
    if (record.kind === 'effect') places.set(record.effect, i + 1);
  });
  return attempts.map(({ effect }) => places.get(effect) ?? fromHex(effect));
}

type Fields = Readonly<Record<string, unknown>>;

function packFields({ code, fields, optional }: Layout, record: IngressRecord | DerivedRecord): unknown[] {
  const packed: unknown[] = [code];
  const values = record as unknown as Fields;
  for (const { name, form } of fields) packed.push(packField(form, values[name], values));
  const more = packOptional(optional, values);
  if (more !== undefined) packed.push(more);
  return packed;
}

function packOptional(optional: Layout['optional'], values: Fields): Fields | undefined {
  let more: Record<string, unknown> | undefined;
  for (const { name, form } of optional) {
    const value = values[name];
    if (value === undefined) continue;
    more ??= {};
    more[name] = packField(form, value, values);
  }
  return more;
}

function packField(form: Form, value: unknown, of: Fields): unknown {
  switch (form) {
    case 'plain':
      return value;
    case 'digest':
      return fromHex(value as string);
    case 'digests':
      return (value as readonly string[]).map(fromHex);
    case 'event': {
      const { name, value: inner } = value as { readonly name: string; readonly value: unknown };
      return [name, inner];
    }
    case 'receipt':
      return packReceipt(value as Receipt);
    case 'principal':
      return typeof of.effect === 'string' && value === `adapter:${of.effect}` ? true : value;
    case 'pins':
      return (value as readonly Pinned[]).flatMap(({ name, digest }) => [name, fromHex(digest)]);
    case 'settled':
      return (value as readonly (readonly [string, Receipt])[]).map(([effect, receipt]) => [
        fromHex(effect),
        packReceipt(receipt),
      ]);
    default:
      return form satisfies never;
  }
}

function packReceipt(receipt: Receipt): unknown[] {
  const values = receipt as unknown as Fields;
  const packed = RECEIPT_LAYOUT.fields.map(({ name }) => values[name]);
  const more = packOptional(RECEIPT_LAYOUT.optional, values);
  return more === undefined ? packed : [...packed, more];
}

/**
 * A touched leaf is the parts of its path, then its changed fields; null when it is gone. The fields of a cell's state
 * are a map of their own behind those of its bookkeeping. The effect that the ingress names is `true`.
 */
function packLeaf(leaf: StateRecord['leaves'][number], ingress: IngressRecord): unknown[] {
  const path: readonly Value[] = leaf[0];
  const fields = leaf[1];
  const kind = path[0];
  const packed: unknown[] =
    kind === 'effect' || kind === 'settled' ? [kind, packEffect(path[1], ingress)] : path.slice();
  if (kind === 'cell' && fields !== null) packed.push(...packCell(fields));
  else packed.push(kind === 'plan' && Array.isArray(fields?.wait) ? withWaits(fields, fields.wait) : fields);
  return packed;
}

function packEffect(effect: Value | undefined, ingress: IngressRecord): true | Uint8Array {
  return ('effect' in ingress && ingress.effect === effect) || fromHex(effect as string);
}

function withWaits(fields: Fields, waits: readonly Value[]): Fields {
  return { ...fields, wait: waits.map(packWait) };
}

/** What a plan waits for, as a list: for what, for which of its effects or which cell, and until when, if at all. */
export function packWait(wait: Value): Value {
  if (wait === null) return null;
  const { for: what, emissions, address, until } = wait as Readonly<Record<string, Value>>;
  const packed = [what, emissions ?? address];
  if ((until ?? null) !== null) packed.push(until);
  return packed as Value;
}

function packCell(fields: Fields): [Fields, Fields] {
  const own: Record<string, unknown> = {};
  const state: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    if (name.startsWith(STATE_PREFIX)) state[name.slice(STATE_PREFIX.length)] = fields[name];
    else own[name] = fields[name];
  }
  return [own, state];
}
