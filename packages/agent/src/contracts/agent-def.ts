/** What is recorded of an agent and its tools: data, kept as content, adopted by sessions. */
import { GUARANTEES, ON_UNKNOWN, ref, value } from '@reprise/contracts';
import * as z from 'zod';
import { agentConfig } from './config.js';
import { toolsetName } from './toolset.js';

/** What a call of a tool is for the session: an effect, or something it does itself. */
export const TOOL_KINDS = ['tool', 'ask', 'spawn', 'send_input', 'wait', 'close'] as const;

/** Where a tool of a toolset comes from. */
export const toolOrigin = z.strictObject({
  toolset: toolsetName,
  /** What it is called there. */
  tool: z.string().min(1).max(256),
  /** Its descriptor as it was offered, as a value: what two of its kind are compared by. */
  descriptor_ref: ref(),
  /** What whoever offers it says of it. */
  hints: z.strictObject({
    read_only: z.boolean(),
    destructive: z.boolean(),
    idempotent: z.boolean(),
    open_world: z.boolean(),
  }),
});

/** Where a tool of a toolset comes from. */
export type ToolOrigin = z.infer<typeof toolOrigin>;

/** A tool as a definition lists it: what a model is told, and the terms of a call. */
export const toolEntry = z.strictObject({
  name: z.string().min(1).max(64),
  description: z.string().max(1024),
  /** The JSON Schema of its arguments. */
  schema: value(),
  kind: z.enum(TOOL_KINDS),
  /** The digest of the entry without this field. */
  fingerprint: z.string().regex(/^[0-9a-f]{64}$/),
  guarantee: z.enum(GUARANTEES),
  timeout_ms: z.exactOptional(z.int().min(1)),
  /** Which output policy counts. */
  family: z.string().min(1).max(64),
  parallel: z.boolean(),
  polling: z.boolean(),
  on_unknown: z.enum(ON_UNKNOWN),
  /** Whose it is, of a tool of a toolset. */
  origin: z.exactOptional(toolOrigin),
});

/** A tool as a definition lists it. */
export type ToolEntry = z.infer<typeof toolEntry>;

/** `AgentDef@1`: the whole definition of an agent, the blob behind a `def_ref`. Its tools are a list behind `config.tools_ref`. */
export const agentDef = z.strictObject({
  type: z.literal('aos.agent/AgentDef@1'),
  config: agentConfig,
  /** The JSON Schema of what a run returns; null when any text is an answer. */
  returns: z.nullable(value()),
  /** The names of its context sources, in the order of their lanes. */
  context: z.array(z.string().min(1).max(64)).max(16),
});

/** `AgentDef@1`. */
export type AgentDef = z.infer<typeof agentDef>;
