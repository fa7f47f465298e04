/** The recorded definition of an agent and its tools: data that is stored as content and adopted by sessions. */
import { digestHex, GUARANTEES, ON_UNKNOWN, ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { agentConfig } from './config.js';
import { toolsetName } from './toolset.js';

/** How a session executes a call of a tool: as an effect, by itself, or by passing it to its owner. */
export const TOOL_KINDS = ['tool', 'ask', 'spawn', 'send_input', 'wait', 'close', 'owner'] as const;

/** The origin of a tool that a toolset offers. */
export const toolOrigin = z.strictObject({
  toolset: toolsetName,
  /** The tool's name at its origin. */
  tool: z.string().min(1).max(256),
  /** The tool's descriptor as it was offered, as a value. Two versions of a tool are compared by it. */
  descriptor_ref: ref(),
  /** The tool's effects, as its toolset describes them. */
  hints: z.strictObject({
    read_only: z.boolean(),
    destructive: z.boolean(),
    idempotent: z.boolean(),
    open_world: z.boolean(),
  }),
});

/** The origin of a tool that a toolset offers. */
export type ToolOrigin = z.infer<typeof toolOrigin>;

/** A tool as a definition lists it: what a model is told, and the terms of a call. */
export const toolEntry = z.strictObject({
  name: z.string().min(1).max(64),
  description: z.string().max(1024),
  /** The JSON Schema of its arguments. */
  schema: value(),
  kind: z.enum(TOOL_KINDS),
  /** The digest of the entry without this field. */
  fingerprint: digestHex(),
  guarantee: z.enum(GUARANTEES),
  timeout_ms: z.exactOptional(z.int().min(1)),
  /** The name of the output policy. */
  family: z.string().min(1).max(64),
  parallel: z.boolean(),
  polling: z.boolean(),
  on_unknown: z.enum(ON_UNKNOWN),
  /** Of a toolset's tool: its origin. */
  origin: z.exactOptional(toolOrigin),
});

/** A tool as a definition lists it. */
export type ToolEntry = z.infer<typeof toolEntry>;

/** Whether calls of a tool need an approval: all, none, or those that its rule selects. */
export const TOOL_APPROVALS = ['always', 'never', 'rule'] as const;

/** A version of a tool, as it is recorded with a call that was judged by it: its entry, and when it needs an approval. */
export const toolVersion = z.strictObject({ ...toolEntry.shape, approval: z.enum(TOOL_APPROVALS) });

/** A version of a tool. */
export type ToolVersion = z.infer<typeof toolVersion>;

/**
 * `AgentDef@1`: the whole definition of an agent, the blob that a `def_ref` links. Its tools are a list that
 * `config.tools_ref` links.
 */
export const agentDef = z.strictObject({
  type: z.literal('aos.agent/AgentDef@1'),
  config: agentConfig,
  /** The JSON Schema of a run's return value; null when any text is an answer. */
  returns: z.nullable(value()),
  /** The names of the agent's context sources, in the order of their lanes. */
  context: z.array(z.string().min(1).max(64)).max(16),
});

/** An agent as the manifest records it, `AgentDef@1`. */
export type AgentDef = z.infer<typeof agentDef>;
