import type { Value } from '@reprise/contracts';
import { toHex } from '@reprise/contracts';
import { FRAME_DEPTH_MAX } from '../codec/bounds.js';
import { encode } from '../codec/encode.js';
import type { Hash } from '../codec/hash.js';
import { portableSha256 } from '../codec/hash.js';
import type { SchemaNode } from './node.js';

/**
 * Returns a schema as a canonical value, for the manifest. A field that is required and has no default
 * is its node alone, others as `[node, 'optional']` or `[node, 'default', value]`, which keeps nesting flat.
 *
 * @param node a compiled schema
 */
export function schemaValue(node: SchemaNode): Value {
  switch (node.type) {
    case 'object':
      return { type: node.type, fields: fieldValues(node) };
    case 'list':
      return { ...node, item: schemaValue(node.item) };
    case 'tuple':
      return { type: node.type, items: node.items.map(schemaValue) };
    case 'record':
      return { type: node.type, key: schemaValue(node.key), item: schemaValue(node.item) };
    case 'union':
      return { ...node, options: node.options.map(schemaValue) };
    case 'text': {
      const { patterns, ...rest } = node;
      return patterns === undefined ? rest : { ...rest, patterns };
    }
    default:
      return { ...node };
  }
}

function fieldValues(node: Extract<SchemaNode, { type: 'object' }>): Record<string, Value> {
  const values: Record<string, Value> = {};
  for (const [key, field] of Object.entries(node.fields)) {
    const value = schemaValue(field.node);
    if (field.fallback !== undefined) values[key] = [value, 'default', field.fallback[0]];
    else values[key] = field.optional ? [value, 'optional'] : value;
  }
  return values;
}

/**
 * Computes the identity of a schema: equal schemas have the same identity, whatever the order of their
 * fields or literals, their descriptions and their error texts.
 *
 * @param node a compiled schema
 * @param hash the hash function of the world
 * @returns the sha-256 of the canonical bytes of {@link schemaValue}, in hex
 */
export function schemaDigest(node: SchemaNode, hash: Hash = portableSha256): string {
  return toHex(hash(encode(schemaValue(node), FRAME_DEPTH_MAX)));
}
