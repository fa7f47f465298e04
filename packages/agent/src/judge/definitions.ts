/** Reads the recorded definitions of agents and their lists of tools. Each is read once and remembered. */
import type { Ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { ContentReader } from '@reprise/kernel';
import { getValue } from '@reprise/kernel/store';
import { type AgentDef, agentDef, type ToolEntry, toolEntry } from '../contracts/agent-def.js';

/** How many definitions are remembered: a world uses a few at a time. */
const REMEMBERED_MAX = 64;

const toolList = z.array(toolEntry);

/** Reads definitions by their links. */
export class Definitions {
  readonly #agents = new Map<string, AgentDef | undefined>();
  readonly #tools = new Map<string, readonly ToolEntry[]>();

  /** The definition that a `def_ref` links; undefined when this build cannot read it. */
  agent(content: ContentReader, ref: Ref): Promise<AgentDef | undefined> {
    return remembered(this.#agents, ref, async () => agentDef.safeParse(await getValue(content, ref)).data);
  }

  /** The tools that a `tools_ref` links; empty when this build cannot read the list. */
  tools(content: ContentReader, ref: Ref): Promise<readonly ToolEntry[]> {
    return remembered(this.#tools, ref, async () => toolList.safeParse(await getValue(content, ref)).data ?? []);
  }
}

async function remembered<T>(known: Map<string, T>, { hex }: Ref, read: () => Promise<T>): Promise<T> {
  if (known.has(hex)) return known.get(hex) as T;
  const found = await read();
  const [oldest] = known.keys();
  if (known.size >= REMEMBERED_MAX && oldest !== undefined) known.delete(oldest);
  known.set(hex, found);
  return found;
}
