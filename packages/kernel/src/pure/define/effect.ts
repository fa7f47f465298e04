import { DIMENSION, GUARANTEES, type Guarantee, isWhole, RepriseError, UNIT } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { compileSchema, type SchemaNode, schemaDigest, schemaValue } from '../schema/index.js';
import type { EffectKind } from './names.js';
import { requireEffectKind, requireKnownFields, requireObject } from './parts.js';

/** A pure definition of an effect: its parameters, its receipt, and whether it may be executed again. */
export interface EffectDefinition<I = unknown, P = unknown> {
  readonly type: 'effect';
  /** The kind, for example `llm.generate@2`. */
  readonly name: string;
  readonly params: SchemaNode;
  readonly receipt: SchemaNode;
  /** The guarantee, or the name of the text parameter that holds it. */
  readonly guarantee: Guarantee | { readonly param: string };
  /** Dimensions of rights, besides its kind, that it needs: dimension → the text parameter that names the object. */
  readonly rights: Readonly<Record<string, string>>;
  /** The amounts that its account reserves for it, by unit: an amount, or the parameter with the amount. */
  readonly reserves: Readonly<Record<string, number | string>>;
  /** The parameter with the address of the cell that settles it; null when an adapter does. */
  readonly settledBy: string | null;
  /** The text parameter that policy rules and remembered approvals may name, as `kind#subject`; null without one. */
  readonly subject: string | null;
  /**
   * The text parameter that a remembered approval holds for besides the kind and the subject, as
   * `kind#subject#value`: an approval of one value does not cover another. Null: it holds for the kind and the subject.
   */
  readonly remembers: string | null;
  /** The digest of everything above; a manifest pins it. */
  readonly digest: string;
  /** Carries the parameter type; never present. */
  readonly $params?: I;
  /** Carries the payload type; never present. */
  readonly $payload?: P;
}

/** The parts of an effect. A misspelled one, such as `guarante`, would otherwise be ignored. */
const SPEC_FIELDS = {
  kind: true,
  params: true,
  receipt: true,
  guarantee: true,
  rights: true,
  reserves: true,
  settledBy: true,
  subject: true,
  remembers: true,
} as const;

/**
 * Defines an effect. The definition is pure and part of the contracts; an adapter only binds to it, so a
 * journal is verified with no adapter present.
 *
 * @param spec `kind`: a dotted name and version; `params`, `receipt`: schemas of the closed subset; `guarantee`:
 *   `at_most_once` by default (a crash inside it gives `outcome_unknown`), `idempotent` (offered again), or
 *   `reconcile` (the adapter is asked what happened); `{param}` when a parameter holds the guarantee; `rights`: the
 *   permissions its cell needs besides the kind, such as `{ tool: 'name' }`; `reserves`: the amounts to reserve,
 *   such as `{ tokens: 'max_tokens', micro_money: 5_000 }`; `settledBy`: the parameter with the address of the cell
 *   that settles it, when no adapter does; `subject`: the text parameter that policy rules and remembered approvals may
 *   name after the kind, as in `tool.call@1#refund`; `remembers`: the text parameter that a remembered approval also
 *   holds for, such as the digest of what was approved. Rules and rights do not see it; an effect without a value of it
 *   is covered by no remembered approval
 * @throws RepriseError `invalid_name`, `invalid_schema`, `invalid_definition`
 * @example
 * const pay = defineEffect({ kind: 'bank.pay@1', params: z.strictObject({ cents: z.int() }), receipt: z.strictObject({ id: z.string() }) })
 */
export function defineEffect<I extends z.AnySchema, P extends z.AnySchema, const N extends string>(spec: {
  readonly kind: EffectKind<N>;
  readonly params: I;
  readonly receipt: P;
  readonly guarantee?: Guarantee | { readonly param: string };
  readonly rights?: Readonly<Record<string, string>>;
  readonly reserves?: Readonly<Record<string, number | string>>;
  readonly settledBy?: string;
  readonly subject?: string;
  readonly remembers?: string;
}): EffectDefinition<z.output<I>, z.output<P>> {
  requireObject(spec, 'an effect');
  requireEffectKind(spec.kind);
  requireKnownFields(spec, SPEC_FIELDS, `the effect ${spec.kind}`);
  const params = compileSchema(spec.params);
  const receipt = compileSchema(spec.receipt);
  const guarantee = guaranteeOf(spec.guarantee ?? 'at_most_once', params, spec.kind);
  const { rights, reserves, settledBy, subject, remembers } = authorityParts(spec, params);
  // Unused options are not in its digest: definitions keep theirs when the language grows.
  const more = {
    ...(spec.rights === undefined ? {} : { rights }),
    ...(spec.reserves === undefined ? {} : { reserves }),
    ...(settledBy === null ? {} : { settledBy }),
    ...(subject === null ? {} : { subject }),
    ...(remembers === null ? {} : { remembers }),
  };
  const digest = schemaDigest({
    type: 'literal',
    values: [
      schemaValue(params),
      schemaValue(receipt),
      typeof guarantee === 'string' ? guarantee : { ...guarantee },
      ...(Object.keys(more).length === 0 ? [] : [more]),
    ],
  });
  return Object.freeze({
    type: 'effect',
    name: spec.kind,
    params,
    receipt,
    guarantee,
    rights,
    reserves,
    settledBy,
    subject,
    remembers,
    digest,
  });
}

/** The guarantee to pin; a parameter that holds it must exist and be text. */
function guaranteeOf(given: unknown, params: SchemaNode, kind: string): EffectDefinition['guarantee'] {
  const known = GUARANTEES.find((guarantee) => guarantee === given);
  if (known !== undefined) return known;
  const param = typeof given === 'object' && given !== null && 'param' in given ? given.param : undefined;
  if (typeof param === 'string' && params.type === 'object' && Object.hasOwn(params.fields, param)) {
    const type = params.fields[param]?.node.type;
    if (type === 'text' || type === 'literal') return { param };
  }
  throw new RepriseError('invalid_definition', `the effect ${kind} has an unknown guarantee`, {
    expected: `${GUARANTEES.join(', ')}, or {param: the name of a text parameter}`,
    actual: given,
  });
}

interface AuthorityParts {
  readonly rights?: Readonly<Record<string, string>>;
  readonly reserves?: Readonly<Record<string, number | string>>;
  readonly settledBy?: string;
  readonly subject?: string;
  readonly remembers?: string;
}

/** The parts that the gate reads; each parameter that they name must exist and have the right type. */
function authorityParts(spec: AuthorityParts & { readonly kind: string }, params: SchemaNode) {
  const { rights = {}, reserves = {}, settledBy = null, subject = null, remembers = null } = spec;
  requireObject(rights, `the rights of ${spec.kind}`);
  requireObject(reserves, `the reserves of ${spec.kind}`);
  for (const [dimension, param] of Object.entries(rights)) {
    const named = DIMENSION.test(dimension) && isParam(params, param, ['text', 'literal']);
    if (!named) refusePart(spec.kind, `rights.${dimension}`, 'a text parameter', param);
  }
  for (const [unit, amount] of Object.entries(reserves)) {
    const fixed = isWhole(amount);
    const named = typeof amount === 'string' && isParam(params, amount, ['number']);
    if (!UNIT.test(unit) || !(fixed || named)) {
      refusePart(spec.kind, `reserves.${unit}`, 'a whole amount, or a number parameter', amount);
    }
  }
  if (settledBy !== null && !isParam(params, settledBy, ['tuple', 'value', 'list'])) {
    refusePart(spec.kind, 'settledBy', 'the parameter with the address of a cell', settledBy);
  }
  if (subject !== null && !isParam(params, subject, ['text', 'literal'])) {
    refusePart(spec.kind, 'subject', 'a text parameter', subject);
  }
  if (remembers !== null && !isParam(params, remembers, ['text', 'literal'])) {
    refusePart(spec.kind, 'remembers', 'a text parameter', remembers);
  }
  const frozen = { rights: Object.freeze({ ...rights }), reserves: Object.freeze({ ...reserves }) };
  return { ...frozen, settledBy, subject, remembers };
}

function isParam(params: SchemaNode, name: unknown, types: readonly string[]): boolean {
  if (typeof name !== 'string' || params.type !== 'object' || !Object.hasOwn(params.fields, name)) return false;
  return types.includes(params.fields[name]?.node.type ?? '');
}

function refusePart(kind: string, where: string, expected: string, actual: unknown): never {
  throw new RepriseError('invalid_definition', `the effect ${kind} names a parameter that it does not have`, {
    where,
    expected,
    actual,
  });
}
