import type { Value } from '@reprise/contracts';
import { isRef, lengthOfText } from '@reprise/contracts';
import type { SchemaNode } from './node.js';

/** Longest text shown in full: enough for a tag or an enum, too little for most secrets. */
const SHOWN_UNITS = 40;

/** Describes what a node accepts, in words that are the same on every engine. */
export function expectation(node: SchemaNode): string {
  switch (node.type) {
    case 'number':
      return (node.int ? 'an integer' : 'a number') + numberBounds(node);
    case 'text':
      return `${textSizes(node)}${(node.patterns ?? []).map((source) => ` matching /${source}/`).join('')}`;
    case 'literal':
      return node.values.map(describe).join(' or ');
    case 'list':
      return `a list${sizes(node, 'items')}`;
    case 'tuple':
      return `a list of ${node.items.length} items`;
    case 'union':
      return [...new Set(node.options.map(expectation))].join(' or ');
    default:
      return NAMES[node.type];
  }
}

const NAMES = {
  null: 'null',
  boolean: 'a boolean',
  bytes: 'bytes',
  ref: 'a link',
  value: 'a value',
  never: 'nothing',
  object: 'a map',
  record: 'a map',
} as const;

function textSizes(node: Extract<SchemaNode, { type: 'text' }>): string {
  const key =
    node.key === undefined
      ? ''
      : `${node.min === undefined && node.max === undefined ? '' : ','} of 1 to ${node.key} bytes`;
  return `text${sizes(node, 'characters')}${key}`;
}

function sizes(node: { readonly min?: number; readonly max?: number }, what: string): string {
  const { min, max } = node;
  if (min !== undefined && max !== undefined)
    return min === max ? ` of ${min} ${what}` : ` of ${min} to ${max} ${what}`;
  if (min !== undefined) return ` of at least ${min} ${what}`;
  return max === undefined ? '' : ` of at most ${max} ${what}`;
}

function numberBounds(node: Extract<SchemaNode, { type: 'number' }>): string {
  const parts: string[] = [];
  if (node.min !== undefined) parts.push(` ≥ ${node.min}`);
  if (node.above !== undefined) parts.push(` > ${node.above}`);
  if (node.max !== undefined) parts.push(` ≤ ${node.max}`);
  if (node.below !== undefined) parts.push(` < ${node.below}`);
  return parts.join('');
}

/** Describes a value, without repeating text that may be long or secret. */
export function describe(value: Value): string {
  if (value === undefined) return 'undefined';
  if (typeof value === 'string') {
    return value.length <= SHOWN_UNITS ? JSON.stringify(value) : `text of ${lengthOfText(value)} characters`;
  }
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (isRef(value)) return 'a link';
  return Array.isArray(value) ? `a list of ${value.length} items` : 'a map';
}
