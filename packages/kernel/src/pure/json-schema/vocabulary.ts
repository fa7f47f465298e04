/** Where schemas stand within schemas: what a keyword's value is. */
import { isMap, type JsonMap } from './equal.js';

const ONE = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const LIST = new Set(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']);
const MAP = new Set(['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties']);

/** The schemas that stand directly in one. */
export function subschemas(schema: JsonMap): readonly unknown[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (LIST.has(keyword) && Array.isArray(value)) return value;
    if (MAP.has(keyword) && isMap(value)) return Object.values(value).filter((one) => !Array.isArray(one));
    return ONE.has(keyword) ? [value] : [];
  });
}
