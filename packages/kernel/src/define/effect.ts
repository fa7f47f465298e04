import type { Delivery } from '@reprise/contracts';
import type { SchemaNode } from '../schema/node.js';

/** A pure definition of an effect: what goes out, what comes back, and whether it may be performed again. */
export interface EffectDefinition<I, P> {
  readonly type: 'effect';
  readonly kind: string;
  readonly params: SchemaNode;
  readonly receipt: SchemaNode;
  /** The delivery class, or the parameter that holds it. */
  readonly delivery: Delivery | { readonly param: string };
  readonly digest: string;
  readonly $params?: I;
  readonly $receipt?: P;
}
