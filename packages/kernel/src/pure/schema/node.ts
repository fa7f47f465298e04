/**
 * The closed schema language of journaled data, as plain data. It checks; the only thing it ever adds is a
 * constant default. Its canonical bytes are the schema's identity in the manifest.
 */
import type { Value } from '@reprise/contracts';

/** One field of an object node. */
export interface FieldNode {
  readonly node: SchemaNode;
  readonly optional: boolean;
  /** The constant to use when the key is absent; wrapped, so that null can be one. */
  readonly fallback?: readonly [Value];
}

/** A schema as plain data, by which values are checked. */
export type SchemaNode =
  | { readonly type: 'null' | 'boolean' | 'bytes' | 'ref' | 'value' | 'never' }
  | {
      readonly type: 'number';
      readonly int: boolean;
      readonly min?: number;
      readonly max?: number;
      readonly above?: number;
      readonly below?: number;
    }
  | {
      readonly type: 'text';
      /** Bounds in characters: Unicode code points. */
      readonly min?: number;
      readonly max?: number;
      /** Of a text that is a key: the most bytes in UTF-8, from 1. */
      readonly key?: number;
      readonly patterns?: readonly string[];
    }
  | { readonly type: 'literal'; readonly values: readonly Value[] }
  | { readonly type: 'list'; readonly item: SchemaNode; readonly min?: number; readonly max?: number }
  | { readonly type: 'tuple'; readonly items: readonly SchemaNode[] }
  | { readonly type: 'record'; readonly key: SchemaNode; readonly item: SchemaNode }
  | { readonly type: 'object'; readonly fields: Readonly<Record<string, FieldNode>> }
  | { readonly type: 'union'; readonly on?: string; readonly options: readonly SchemaNode[] };

/** The nodes directly inside a node. */
export function childrenOf(node: SchemaNode): readonly SchemaNode[] {
  switch (node.type) {
    case 'list':
    case 'record':
      return [node.item];
    case 'tuple':
      return node.items;
    case 'object':
      return Object.values(node.fields).map((field) => field.node);
    case 'union':
      return node.options;
    default:
      return [];
  }
}
