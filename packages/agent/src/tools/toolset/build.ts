/** The recorded code of this build: the tools with handlers, and the agents with code. */
import { type ContextText, type Ref, RepriseError, type SessionInfo, type Value } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { getValue } from '@reprise/kernel/store';
import { type ToolEntry, toolEntry } from '../../contracts/agent-def.js';
import type { Schema } from '../schema/schema.js';
import type { Tool } from '../tool/tool.js';
import { Shelf, type WantedTool } from './shelf.js';
import type { LiveToolset } from './toolset.js';

/** A source of context: a text for an agent's model, read at the start of each run and recorded there. */
export interface ContextSource {
  readonly name: string;
  /** The place of the text in the request. */
  readonly lane: ContextText['lane'];
  readonly load: (session: SessionInfo) => string | Promise<string>;
}

/** The recorded code of an agent. */
export interface RecordedAgent {
  readonly name: string;
  readonly tools: readonly Tool[];
  readonly context?: readonly ContextSource[];
  /** The schema of a run's return value; any text when absent. */
  readonly returns?: Schema;
  /** The JSON Schema that this code stands for; any recorded one when absent. */
  readonly returnsJsonSchema?: Value;
}

/** The recorded code of this build. It is read at each use, so it may change while a world is open. */
export interface Build {
  /** The tool that a name and its details select; see `Shelf`. */
  tool(name: string, wanted?: WantedTool): Tool | undefined;
  /** All different tools with a name. */
  tools(name: string): readonly Tool[];
  agent(name: string): RecordedAgent | undefined;
  /** An open toolset of an agent of this build. */
  toolset?(name: string): LiveToolset | undefined;
}

/**
 * Finds the tool of a list's entry: one of the build's own tools, or a tool of the toolset that the entry names.
 *
 * @param agent the name of the agent whose list it is
 */
export function boundTool(build: Build, entry: ToolEntry, agent?: string): Tool | undefined {
  const { origin, name, fingerprint } = entry;
  if (origin !== undefined) return build.toolset?.(origin.toolset)?.tool(entry);
  return build.tool(name, { fingerprint, ...(agent === undefined ? {} : { agent }) });
}

/** The parts of a call that select its tool. */
interface Called {
  readonly tool: string;
  readonly entry_ref?: Ref;
  readonly fingerprint?: string;
  readonly session: SessionInfo;
}

/**
 * Finds the tool of a call, by the entry or the fingerprint that it was judged by.
 *
 * @param agentOf finds the agent of a session; called only when several tools have the name
 */
export async function calledTool(
  build: Build,
  { tool, entry_ref, fingerprint, session }: Called,
  content: ContentReader,
  agentOf: (session: string) => Promise<string | undefined> = async () => undefined,
): Promise<Tool | undefined> {
  if (entry_ref === undefined) {
    const agent = build.tools(tool).length > 1 ? await agentOf(session.key) : undefined;
    return build.tool(tool, {
      ...(fingerprint === undefined ? {} : { fingerprint }),
      ...(agent === undefined ? {} : { agent }),
    });
  }
  const entry = toolEntry.safeParse(await getValue(content, entry_ref)).data;
  return entry === undefined ? undefined : boundTool(build, entry);
}

/**
 * Collects the recorded code of some agents. Agents may share a tool, and may have different tools with the same name.
 *
 * @throws RepriseError `duplicate_definition` when two agents, or two tools of one agent, share a name
 */
export function buildOf(agents: readonly RecordedAgent[]): Build {
  const named = byName('agents', agents);
  const shelf = new Shelf();
  for (const { name, tools } of agents) shelf.put([...byName('tools', tools).values()], name);
  return {
    tool: (name, wanted = {}) => shelf.find(name, wanted),
    tools: (name) => shelf.all(name),
    agent: (name) => named.get(name),
  };
}

function byName<T extends { readonly name: string }>(what: string, things: readonly T[]): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const thing of things) {
    if ((found.get(thing.name) ?? thing) !== thing) {
      throw new RepriseError('duplicate_definition', `two ${what} have the name "${thing.name}"`, {
        hint: 'Rename one.',
      });
    }
    found.set(thing.name, thing);
  }
  return found;
}
