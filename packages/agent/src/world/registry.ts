/** The agents that have code in this process, found by name: those a world was opened with, and those defined since. */
import { RepriseError } from '@reprise/contracts';
import type { AnyAgent } from '../define/agent.js';
import { spawnable } from '../define/spawnable.js';
import { toolsOf } from '../define/store-agent.js';
import type { Build, RecordedAgent } from '../tools/build.js';
import { Shelf, type WantedTool } from '../tools/shelf.js';
import type { Tool } from '../tools/tool.js';
import type { LiveToolset, Toolset } from '../tools/toolset.js';

/** The agents of a world. It is asked at each use, so agents may come while the world runs. */
export class Registry implements Build {
  readonly #agents = new Map<string, AnyAgent>();
  /** Of agents that others stand in place of: sessions may still go by their definitions. */
  readonly #past: AnyAgent[] = [];
  #shelf = new Shelf();
  readonly #toolsets = new Map<string, Toolset>();
  readonly #live = new Map<Toolset, LiveToolset>();

  /**
   * @param wrap puts something around a tool wherever it is asked for
   * @param closing aborted when the world closes: what toolsets started ends then
   * @param catalog tools that are there for definitions whose agent has no code in this process
   */
  constructor(
    private readonly wrap: (tool: Tool) => Tool = (tool) => tool,
    private readonly closing: AbortSignal = new AbortController().signal,
    private readonly catalog: readonly Tool[] = [],
  ) {
    this.#shelve();
  }

  /**
   * Adds agents and those that they may spawn.
   *
   * @throws RepriseError `duplicate_definition` when two agents, or two toolsets, share a name
   */
  add(agents: readonly AnyAgent[]): void {
    for (const agent of agents) for (const one of [agent, ...spawnable(agent)]) this.#put(one, 'refuse');
    this.#shelve();
  }

  /** Adds an agent in place of the one of that name; sessions take the changed definition as it says. */
  replace(agent: AnyAgent): void {
    this.#put(agent, 'replace');
    for (const one of spawnable(agent)) if (one !== agent) this.#put(one, 'replace');
    this.#shelve();
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

  tool(name: string, wanted: WantedTool = {}): Tool | undefined {
    const tool = this.#shelf.find(name, wanted);
    return tool === undefined || isOfSession(tool) ? tool : this.wrap(tool);
  }

  tools(name: string): readonly Tool[] {
    return this.#shelf.all(name);
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

  #put(agent: AnyAgent, mutant: 'refuse' | 'replace'): void {
    const known = this.#agents.get(agent.name);
    if (mutant === 'refuse' && known !== undefined && known !== agent) throw duplicate('agents', agent.name);
    for (const toolset of agent.toolsets as readonly Toolset[]) {
      const mutantSet = this.#toolsets.get(toolset.name);
      if (mutant === 'refuse' && mutantSet !== undefined && mutantSet !== toolset)
        throw duplicate('toolsets', toolset.name);
      this.#toolsets.set(toolset.name, toolset);
    }
    if (known !== undefined && known !== agent) this.#past.push(known);
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

  /** Agents of now come before what the world was opened with besides, and that before what agents had. */
  #shelve(): void {
    this.#shelf = new Shelf();
    for (const agent of this.#agents.values()) this.#shelf.put(toolsOf(agent), agent.name);
    this.#shelf.put(this.catalog, null);
    for (const agent of this.#past) this.#shelf.put(toolsOf(agent), null);
  }
}

/** Whether the session itself answers the calls of a tool: nothing runs that could be put something around. */
function isOfSession({ entry: { kind } }: Tool): boolean {
  return kind !== 'tool' && kind !== 'ask';
}

function duplicate(what: string, name: string): RepriseError {
  return new RepriseError('duplicate_definition', `two ${what} are called ${name}`, {
    hint: 'Give one of them another name.',
  });
}
