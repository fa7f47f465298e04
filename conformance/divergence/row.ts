/**
 * A row of the divergence matrix: one way to break determinism or integrity, what catches it, and the sound mutant that
 * passes the same checks, so that each check is seen to fail for its reason and no other.
 */
import assert from 'node:assert/strict';
import { type ErrorCode, isRepriseError, type RepriseError, type Value } from '@reprise/contracts';
import { type Divergence, encode, equalBytes, FRAME_DEPTH_MAX, toHex } from '@reprise/kernel';

/** The kinds of damage. */
export const GROUPS = ['changed code', 'ambient', 'illegal values', 'integrity', 'receipts and writers'] as const;

/** The kinds of damage. */
export type Group = (typeof GROUPS)[number];

/** The places of a catch, in the order in which a program would reach them. */
export type Where =
  /** While definitions are made. */
  | 'definition'
  /** The rules for the sources of Reprise's own pure code. */
  | 'sources'
  /** As a world is opened. */
  | 'opening'
  /** A request is refused and leaves nothing. */
  | 'request'
  /** A request is refused by the guard. */
  | 'guard'
  /** A request is refused because its frame, folded a second time, came out otherwise. */
  | 'second fold'
  /** It is recorded truthfully, and changes nothing. */
  | 'journal'
  /** It cannot make a difference: the bytes are those of the sound mutant. */
  | 'no difference'
  /** Replaying the journal. */
  | 'verification'
  /** Replaying it on another machine or engine. */
  | 'verification elsewhere'
  /** A verification without the app: chain, shape, content. */
  | 'integrity check'
  /** A verification with an expected head. */
  | 'acknowledged head';

/** One catch: where, as what, and the first wrong thing by name. */
export interface Catch {
  readonly where: Where;
  readonly code?: ErrorCode;
  readonly names: string;
}

/** One way to break something. */
export interface Row {
  readonly group: Group;
  readonly name: string;
  /** The damage in words. */
  readonly how: string;
  /** The expected catches: place, code, and the beginning of the name of the first wrong thing. */
  readonly caught: readonly (readonly [where: Where, code: ErrorCode | undefined, names: string])[];
  /** Breaks it. @returns the catches */
  broken(): Promise<readonly Catch[]>;
  /** Does the same without breaking it. @returns the catches: none */
  sound(): Promise<readonly Catch[]>;
}

/** Checks a row in both ways. @returns the catches */
export function judge({ caught }: Row, found: readonly Catch[]): void {
  const shown = JSON.stringify(found, null, 2);
  assert.deepEqual(
    found.map(({ where, code }) => [where, code]),
    caught.map(([where, code]) => [where, code]),
    shown,
  );
  for (const [i, [, , names]] of caught.entries()) {
    const named = found[i]?.names ?? '';
    assert.ok(begins(named, names), `“${named}” does not name ${names}`);
  }
}

/** Whether a name begins with another, by whole words and numbers: `frame 1` is not a beginning of `frame 10`. */
function begins(named: string, names: string): boolean {
  return names !== '' && named.startsWith(names) && !/^\w/.test(named.slice(names.length));
}

/** The catch of an attempt: none when it succeeds; anything but a named error is a defect. */
export async function caughtBy(
  where: Where,
  attempt: Promise<unknown>,
  say: (error: RepriseError) => string = placeOf,
): Promise<Catch[]> {
  try {
    await attempt;
    return [];
  } catch (error) {
    if (!isRepriseError(error) || error.code === 'internal_error') throw error;
    return [{ where, code: error.code, names: say(error) }];
  }
}

/** The first wrong thing, by name: of a divergence its record, path and both values, of a fault its code, else the place. */
export function placeOf(error: RepriseError): string {
  const { divergence, fault, where, expected, actual } = error.details;
  if (divergence !== undefined) return inShort(describe(divergence as Divergence));
  if (fault === error.code) return error.what;
  if (fault !== undefined) return `fault \`${String(fault)}\`: ${error.what}`;
  const what = actual ?? expected;
  const named = typeof what === 'string' && !error.what.includes(what) ? ` (${what})` : '';
  return inShort(`${where === undefined ? '' : `${where}: `}${error.what}${named}`);
}

/** Digests as people tell them apart. */
function inShort(text: string): string {
  return text.replace(/\b([0-9a-f]{12})[0-9a-f]{52}\b/g, '$1…');
}

/** Like {@link placeOf}, for values that are others in every run. */
export function placeOnly(error: RepriseError): string {
  const { divergence } = error.details;
  return divergence === undefined ? placeOf(error) : recordOf(divergence as Divergence);
}

function describe(divergence: Divergence): string {
  const { recorded, regenerated } = divergence;
  return `${recordOf(divergence)}: ${shown(recorded)} → ${shown(regenerated)}`;
}

function recordOf({ seq, i, kind, path }: Divergence): string {
  return `frame ${seq}, record ${i} (${kind}), \`${path}\``;
}

/** Few enough characters for a table. */
const SHOWN_MAX = 72;

function shown(value: Value | undefined): string {
  if (value === undefined) return 'nothing';
  if (value instanceof Uint8Array) return `bytes \`${toHex(value).slice(0, 12)}…\``;
  const record = value as { readonly kind?: unknown; readonly name?: unknown };
  if (typeof record?.kind === 'string') return `a record \`${record.kind}\``;
  const text = JSON.stringify(value);
  return text.length <= SHOWN_MAX ? `\`${text}\`` : `\`${text.slice(0, SHOWN_MAX)}…\``;
}

/** A catch of another kind: two values are equal in memory and in bytes, whatever was done to make them differ. */
export function sameBytes(one: Value | undefined, other: Value | undefined, names: string): Catch[] {
  // Encoding would normalize −0 and drop undefined keys: the value that a reader gets is checked as well.
  assert.deepStrictEqual(one, other);
  const bytes = (value: Value | undefined) => encode(value ?? null, FRAME_DEPTH_MAX);
  assert.ok(equalBytes(bytes(one), bytes(other)), `${JSON.stringify(one)} is not ${JSON.stringify(other)}`);
  return [{ where: 'no difference', names }];
}
