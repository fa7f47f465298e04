/** The recorded code of this build: which tools have handlers, which agents have code of their own. */
import { type ContextText, type Ref, RepriseError, type SessionInfo } from '@reprise/contracts';
import { type ContentReader, getValue } from '@reprise/kernel';
import { type ToolEntry, toolEntry } from '../contracts/agent-def.js';
import type { Schema } from './schema.js';
import type { Tool } from './tool.js';
import type { LiveToolset } from './toolset.js';

/** A source of context: a text that an agent's model is given at the start of each run, recorded there. */
export interface ContextSource {
  readonly name: string;
  /** Where in the request it stands. */
  readonly lane: ContextText['lane'];
  readonly load: (session: SessionInfo) => string | Promise<string>;
}

/** The recorded code of an agent. */
export interface RecordedAgent {
  readonly name: string;
  readonly tools: readonly Tool[];
  readonly context?: readonly ContextSource[];
  /** What a run returns; any text when absent. */
  readonly returns?: Schema;
}

/** The recorded code of this build, found by name. It is asked at each use, so it may change while a world is open. */
export interface Build {
  tool(name: string): Tool | undefined;
  agent(name: string): RecordedAgent | undefined;
  /** A toolset of an agent of this build, open. */
  toolset?(name: string): LiveToolset | undefined;
}

/** The tool behind an entry of a list: one of the build's own, or of the toolset that the entry names. */
export function boundTool(build: Build, entry: ToolEntry): Tool | undefined {
  const { origin, name } = entry;
  return origin === undefined ? build.tool(name) : build.toolset?.(origin.toolset)?.tool(entry);
}

/** The tool that a call is of, under the entry that it was judged by. */
export async function calledTool(
  build: Build,
  { tool, entry_ref }: { readonly tool: string; readonly entry_ref?: Ref },
  content: ContentReader,
): Promise<Tool | undefined> {
  if (entry_ref === undefined) return build.tool(tool);
  const entry = toolEntry.safeParse(await getValue(content, entry_ref)).data;
  return entry === undefined ? undefined : boundTool(build, entry);
}

/**
 * The recorded code of some agents. Agents may share a tool.
 *
 * @throws RepriseError `duplicate_definition` when two tools or two agents share a name
 */
export function buildOf(agents: readonly RecordedAgent[]): Build {
  const tools = byName(
    'tools',
    agents.flatMap((agent) => agent.tools),
  );
  const named = byName('agents', agents);
  return { tool: (name) => tools.get(name), agent: (name) => named.get(name) };
}

function byName<T extends { readonly name: string }>(what: string, things: readonly T[]): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const thing of things) {
    if ((found.get(thing.name) ?? thing) !== thing) {
      throw new RepriseError('duplicate_definition', `two ${what} are called ${thing.name}`, { hint: 'Rename one.' });
    }
    found.set(thing.name, thing);
  }
  return found;
}
