/** The closed schema language of journaled data: compiled from zod once, and then checked without zod. */
export { check, checkNext } from './check.js';
export { compileSchema } from './compile.js';
export { schemaDigest, schemaValue } from './digest.js';
export { childrenOf, type FieldNode, type SchemaNode } from './node.js';
