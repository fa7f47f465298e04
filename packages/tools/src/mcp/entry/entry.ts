/**
 * The recorded entry of an MCP server's tool.
 *
 * A server's hints about its own tools always make calls more careful. They make calls less careful only when the
 * author trusts the server: only then is a tool that calls itself harmless repeated after a crash.
 */

import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { type ToolEntry, toolEntryOf } from '@reprise/agent';
import { bare, isTextWithin, parseOwnJson, shortText, type Value } from '@reprise/contracts';
import { type ContentStore, decode, encode } from '@reprise/kernel';
import { quotedWords } from './quoted-words.js';
import { withoutUnreachableBounds } from './schema-bounds.js';
import { wireName } from './wire-name.js';

/** The largest descriptor of a tool, in canonical bytes: the model reads it at every step. */
const DESCRIPTOR_BYTES_MAX = 64 * 1024;

/** The longest description that every provider accepts. */
const DESCRIPTION_LENGTH_MAX = 1_024;

const TOOL_NAME_LENGTH_MAX = 256;

/** An author's settings for the tools of a server. */
export interface Terms {
  readonly toolset: string;
  readonly trust: boolean;
  readonly timeoutMs: number | undefined;
  readonly onUnknown: ToolEntry['on_unknown'];
}

/** Makes the entry of a tool; returns the reason when the tool cannot be offered. */
export async function entryOf(tool: McpTool, terms: Terms, content: ContentStore): Promise<ToolEntry | string> {
  if (tool.name === '' || !isTextWithin(tool.name, TOOL_NAME_LENGTH_MAX))
    return `its name is empty or longer than ${TOOL_NAME_LENGTH_MAX}`;
  if (tool.execution?.taskSupport === 'required') return 'it can only be run as a task, which this client cannot do';
  const bytes = descriptorOf(tool);
  if (typeof bytes === 'string') return bytes;
  const { inputSchema } = decode(bytes) as { readonly inputSchema: Readonly<Record<string, Value>> };
  const { $schema: _, ...schema } = inputSchema;
  const hints = hintsOf(tool);
  const repeatable = terms.trust && (hints.read_only || hints.idempotent);
  return toolEntryOf({
    name: wireName(terms.toolset, tool.name),
    description: shortText(bare(tool.description ?? tool.title ?? ''), DESCRIPTION_LENGTH_MAX),
    schema: quotedWords(withoutUnreachableBounds(schema)),
    kind: 'tool',
    guarantee: repeatable ? 'idempotent' : 'at_most_once',
    ...(terms.timeoutMs === undefined ? {} : { timeout_ms: terms.timeoutMs }),
    family: 'mcp',
    parallel: true,
    polling: false,
    on_unknown: terms.onUnknown,
    origin: {
      toolset: terms.toolset,
      tool: tool.name,
      descriptor_ref: (await content.put(bytes)).asValue(),
      hints,
    },
  });
}

/** Everything about a tool that a model, a person or a call depends on, in canonical form. */
function descriptorOf({ name, title, description, inputSchema, outputSchema, annotations }: McpTool) {
  const descriptor = { name, title, description, inputSchema, outputSchema, annotations };
  try {
    const bytes = encode(parseOwnJson(JSON.stringify(descriptor)) as Value);
    return bytes.length <= DESCRIPTOR_BYTES_MAX ? bytes : `its description has more than ${DESCRIPTOR_BYTES_MAX} bytes`;
  } catch {
    return 'its description has no canonical form';
  }
}

/** The hints that the server states explicitly. */
function hintsOf({ annotations = {} }: McpTool): NonNullable<ToolEntry['origin']>['hints'] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  return {
    read_only: readOnlyHint === true,
    destructive: destructiveHint === true,
    idempotent: idempotentHint === true,
    open_world: openWorldHint === true,
  };
}
