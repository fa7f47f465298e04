import { DELIVERIES, type Delivery, RepriseError } from '@reprise/contracts';
import type * as z from 'zod';
import { compileSchema, type SchemaNode, schemaDigest, schemaValue } from '../schema/index.js';
import { requireEffectKind, requireObject } from './parts.js';

/** A pure definition of an effect: what goes out, what comes back, and whether it may be performed again. */
export interface EffectDefinition<I = unknown, P = unknown> {
  readonly type: 'effect';
  /** The kind, for example `llm.generate@2`. */
  readonly name: string;
  readonly params: SchemaNode;
  readonly receipt: SchemaNode;
  /** The delivery class, or the name of the text parameter that holds it. */
  readonly delivery: Delivery | { readonly param: string };
  /** The digest of everything above; a manifest pins it. */
  readonly digest: string;
  /** Carries the parameter type; never present. */
  readonly $params?: I;
  /** Carries the payload type; never present. */
  readonly $payload?: P;
}

/**
 * Defines an effect. The definition is pure and lives with the contracts; an adapter only binds to it, so a
 * journal is verified with no adapter present.
 *
 * @param spec `kind`: a dotted name and version; `params`, `receipt`: schemas of the closed subset; `delivery`:
 *   `at_most_once` by default (a crash inside it gives `outcome_unknown`), `idempotent` (offered again), or
 *   `reconcile` (the adapter is asked what happened); `{param}` when the parameters carry the class
 * @throws RepriseError `invalid_name`, `invalid_schema`, `invalid_definition`
 * @example
 * const pay = defineEffect({ kind: 'bank.pay@1', params: z.strictObject({ cents: z.int() }), receipt: z.strictObject({ id: z.string() }) })
 */
export function defineEffect<I extends z.ZodType, P extends z.ZodType>(spec: {
  readonly kind: string;
  readonly params: I;
  readonly receipt: P;
  readonly delivery?: Delivery | { readonly param: string };
}): EffectDefinition<z.output<I>, z.output<P>> {
  requireObject(spec, 'an effect');
  requireEffectKind(spec.kind);
  const params = compileSchema(spec.params);
  const receipt = compileSchema(spec.receipt);
  const delivery = deliveryOf(spec.delivery ?? 'at_most_once', params, spec.kind);
  const digest = schemaDigest({
    type: 'literal',
    values: [schemaValue(params), schemaValue(receipt), typeof delivery === 'string' ? delivery : { ...delivery }],
  });
  return Object.freeze({ type: 'effect', name: spec.kind, params, receipt, delivery, digest });
}

/** The delivery as it is pinned; a parameter that carries it must be one, and text. */
function deliveryOf(given: unknown, params: SchemaNode, kind: string): EffectDefinition['delivery'] {
  const known = DELIVERIES.find((delivery) => delivery === given);
  if (known !== undefined) return known;
  const param = typeof given === 'object' && given !== null && 'param' in given ? given.param : undefined;
  if (typeof param === 'string' && params.type === 'object' && Object.hasOwn(params.fields, param)) {
    const type = params.fields[param]?.node.type;
    if (type === 'text' || type === 'literal') return { param };
  }
  throw new RepriseError('invalid_definition', `the delivery of ${kind} is none`, {
    expected: `${DELIVERIES.join(', ')}, or {param: the name of a text parameter}`,
    actual: given,
  });
}
