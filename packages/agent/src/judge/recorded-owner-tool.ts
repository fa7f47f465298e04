/** Owner tools whose code this build does not have as it was recorded. */
import type { ToolEntry } from '../contracts/agent-def.js';
import { recordedSchema } from '../tools/schema/recorded-schema.js';
import { check } from '../tools/schema/schema.js';
import { defineOwnerTool } from '../tools/tool/owner-tool.js';
import type { Tool } from '../tools/tool/tool.js';
import type { Build } from '../tools/toolset/build.js';

/**
 * The tool that stands for a recorded entry where its code is missing. The recorded JSON Schema checks its arguments;
 * the first owner tool of this build with the name that takes them, such as a later version, makes what the owner is
 * given.
 */
export function recordedOwnerTool(entry: ToolEntry, build: Build): Tool | undefined {
  if (entry.kind !== 'owner') return undefined;
  const { name, description, schema } = entry;
  const tool = defineOwnerTool({ name, description, args: recordedSchema(schema), jsonSchema: schema as object });
  const operation: Tool['operation'] = async (asked, content, session) => {
    for (const { entry: known, args, operation: make } of build.tools(name)) {
      if (known.kind !== 'owner' || make === undefined) continue;
      const fits = await check(args, asked);
      if (fits.ok) return make(fits.value as never, content, session);
    }
    return { op: 'owner', name, args: asked };
  };
  return { ...tool, entry, operation } as unknown as Tool;
}
