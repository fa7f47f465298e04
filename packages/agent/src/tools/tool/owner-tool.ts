/** Tools whose calls the owner of a session answers: the cell that made it. */
import { RepriseError, requireFields, type SessionInfo, type Value } from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import type { OutputOf, Schema } from '../schema/schema.js';
import { defineSessionTool, type Tool } from './tool.js';

/** What `keep` may use to prepare the arguments. */
export interface KeepContext {
  /** The world's content store, which takes long texts. */
  readonly content: ContentStore;
  /** The session whose model or program calls. */
  readonly session: SessionInfo;
}

/** The parts of a tool whose calls the owner answers. */
export interface OwnerToolSpec<Name extends string, S extends Schema> {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: Name;
  /** The tool's purpose and when to use it, in the words that the model reads; at most 1024 characters. */
  readonly description: string;
  /** An object schema. The owner is given what passes it. */
  readonly args: S;
  /** The JSON Schema of the arguments, for a library that does not provide it. */
  readonly jsonSchema?: object;
  /**
   * Makes the arguments that the owner is given. It replaces long texts by links: the calls of one answer are given to
   * owners up to 22 KiB together, and a call beyond that is refused. Runs once, where the call is judged, and its result
   * is recorded. Absent: the arguments as they are.
   */
  readonly keep?: (args: OutputOf<S>, context: KeepContext) => Value | Promise<Value>;
}

/**
 * Defines a tool whose calls the owner of the session answers. A call reaches the cell that made the session as
 * `aos.agent/OwnerCall@1`, in the frame that takes it up, and that cell answers with `aos.agent/OwnerAnswer@1`.
 *
 * @throws RepriseError `invalid_definition` when no provider accepts the tool
 * @example
 * const report = defineOwnerTool({ name: 'report', description: 'Tells the team what you found.',
 *   args: z.strictObject({ text: z.string() }), keep: async ({ text }, { content }) => ({ text_ref: await putText(content, text) }) })
 */
export function defineOwnerTool<const Name extends string, S extends Schema>(
  spec: OwnerToolSpec<Name, S>,
): Tool<Name, OutputOf<S>, never, unknown> {
  requireFields(spec, 'defineOwnerTool(spec)', 'an object with name, description and args');
  const { name, description, args, jsonSchema: stated, keep } = spec;
  if (keep !== undefined && typeof keep !== 'function') {
    throw new RepriseError('invalid_definition', 'invalid tool definition', {
      where: `tool ${String(name)}`,
      expected: '`keep` as a function',
      actual: typeof keep,
    });
  }
  return defineSessionTool({
    name,
    description,
    args,
    ...(stated === undefined ? {} : { jsonSchema: stated }),
    kind: 'owner',
    operation: async (asked, content, session) => ({
      op: 'owner',
      name,
      args: keep === undefined ? (asked as Value) : await keep(asked, { content, session }),
    }),
  });
}
