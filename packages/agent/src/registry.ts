/** The agents that have code in this process, found by name: those a world was opened with, and those defined since. */
import { RepriseError } from '@reprise/contracts';
import type { AnyAgent } from './agent.js';
import { spawnable } from './spawnable.js';
import type { Build, RecordedAgent } from './tools/build.js';
import { childTools } from './tools/children.js';
import type { Tool } from './tools/tool.js';
import type { LiveToolset, Toolset } from './tools/toolset.js';

/** The agents of a world. It is asked at each use, so agents may come while the world runs. */
export class Registry implements Build {
  readonly #agents = new Map<string, AnyAgent>();
  readonly #tools = new Map<string, Tool>();
  #childTools: ReadonlyMap<string, Tool> = new Map();
  readonly #toolsets = new Map<string, Toolset>();
  readonly #live = new Map<Toolset, LiveToolset>();

  /**
   * @param wrap puts something around a tool wherever it is asked for
   * @param closing aborted when the world closes: what toolsets started ends then
   */
  constructor(
    private readonly wrap: (tool: Tool) => Tool = (tool) => tool,
    private readonly closing: AbortSignal = new AbortController().signal,
  ) {}

  /**
   * Adds agents and those that they may spawn.
   *
   * @throws RepriseError `duplicate_definition` when two agents, or two tools, share a name
   */
  add(agents: readonly AnyAgent[]): void {
    for (const agent of agents) for (const one of [agent, ...spawnable(agent)]) this.#put(one, 'refuse');
    this.#listChildTools();
  }

  /** Adds an agent in place of the one of that name; sessions take the changed definition as it says. */
  replace(agent: AnyAgent): void {
    this.#put(agent, 'replace');
    for (const one of spawnable(agent)) if (one !== agent) this.#put(one, 'replace');
    this.#listChildTools();
  }

  /** Whether an agent is one of these. */
  has(agent: AnyAgent): boolean {
    return this.#agents.get(agent.name) === agent;
  }

  /** The names of all agents. */
  get names(): readonly string[] {
    return [...this.#agents.keys()];
  }

  /** The agent of a name. */
  find(name: string): AnyAgent | undefined {
    return this.#agents.get(name);
  }

  tool(name: string): Tool | undefined {
    const tool = this.#tools.get(name);
    return tool === undefined ? this.#childTools.get(name) : this.wrap(tool);
  }

  toolset(name: string): LiveToolset | undefined {
    const toolset = this.#toolsets.get(name);
    if (toolset === undefined) return undefined;
    const live = this.#live.get(toolset) ?? this.#wrapped(toolset.open({ closing: this.closing }));
    this.#live.set(toolset, live);
    return live;
  }

  agent(name: string): RecordedAgent | undefined {
    const agent = this.#agents.get(name);
    if (agent === undefined) return undefined;
    const { tools, context, returns } = agent;
    return { name, tools, context, ...(returns === null ? {} : { returns: returns.schema }) };
  }

  #put(agent: AnyAgent, twin: 'refuse' | 'replace'): void {
    const known = this.#agents.get(agent.name);
    if (twin === 'refuse' && known !== undefined && known !== agent) throw duplicate('agents', agent.name);
    for (const tool of agent.tools as readonly Tool[]) {
      if (CHILD_TOOLS.has(tool.name)) continue;
      const twinTool = this.#tools.get(tool.name);
      if (twin === 'refuse' && twinTool !== undefined && twinTool !== tool) throw duplicate('tools', tool.name);
      this.#tools.set(tool.name, tool);
    }
    for (const toolset of agent.toolsets as readonly Toolset[]) {
      const twinSet = this.#toolsets.get(toolset.name);
      if (twin === 'refuse' && twinSet !== undefined && twinSet !== toolset) throw duplicate('toolsets', toolset.name);
      this.#toolsets.set(toolset.name, toolset);
    }
    this.#agents.set(agent.name, agent);
  }

  #wrapped(live: LiveToolset): LiveToolset {
    return {
      list: (context) => live.list(context),
      leftOut: () => live.leftOut?.() ?? [],
      tool: (entry) => {
        const tool = live.tool(entry);
        return tool === undefined ? undefined : this.wrap(tool);
      },
    };
  }

  /** Judged by the names of all agents; which of them a session may spawn is the session's to decide. */
  #listChildTools(): void {
    const spawns = [...this.#agents.values()].some((agent) => agent.spawns.length > 0);
    this.#childTools = new Map((spawns ? childTools(this.names) : []).map((tool) => [tool.name, tool]));
  }
}

/** Each agent has its own, that name whom it may spawn. */
const CHILD_TOOLS: ReadonlySet<string> = new Set(childTools(['any']).map(({ name }) => name));

function duplicate(what: string, name: string): RepriseError {
  return new RepriseError('duplicate_definition', `two ${what} are called ${name}`, {
    hint: 'Agents may share a tool; two different ones need two names.',
  });
}
