/** Owner tools whose code this build does not have. */
import type { ToolEntry } from '../contracts/agent-def.js';
import { defineOwnerTool, jsonSchema, type Tool } from '../tools/index.js';

/** The tool that stands for a recorded entry where its code is missing: the recorded JSON Schema checks its arguments. */
export function recordedOwnerTool(entry: ToolEntry): Tool | undefined {
  if (entry.kind !== 'owner') return undefined;
  const { name, description, schema } = entry;
  const tool = defineOwnerTool({ name, description, args: jsonSchema(schema), jsonSchema: schema as object });
  return { ...tool, entry } as unknown as Tool;
}
