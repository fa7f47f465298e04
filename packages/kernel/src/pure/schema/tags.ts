import type { Value } from '@reprise/contracts';
import type { SchemaNode } from './node.js';

/**
 * Lists the values that a discriminator can have in an option of a union.
 *
 * @param node an object, or a union of such objects
 * @param on the name of the discriminator
 * @returns the values, repeated where options repeat them; `undefined` when the field does not distinguish the options
 */
export function tagsOf(node: SchemaNode, on: string): readonly Value[] | undefined {
  if (node.type === 'object') {
    const field = Object.hasOwn(node.fields, on) ? node.fields[on] : undefined;
    const plain = field !== undefined && !field.optional && field.fallback === undefined;
    return plain && field.node.type === 'literal' ? field.node.values : undefined;
  }
  if (node.type !== 'union') return undefined;
  const tags: Value[] = [];
  for (const option of node.options) {
    const found = tagsOf(option, on);
    if (found === undefined) return undefined;
    tags.push(...found);
  }
  return tags;
}
