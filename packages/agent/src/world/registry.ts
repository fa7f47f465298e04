/** The agents with code in this process, by name: those that a world was opened with, and those defined later. */
import { type ArgumentCheck, checkOf, fieldsOf, isObject, RepriseError } from '@reprise/contracts';
import { type AnyAgent, requireAgents } from '../define/agent.js';
import { spawnable } from '../define/spawnable.js';
import { toolsOf } from '../define/store-agent.js';
import type { Tool } from '../tools/tool/tool.js';
import type { Build, RecordedAgent } from '../tools/toolset/build.js';
import { Shelf, type WantedTool } from '../tools/toolset/shelf.js';
import type { LiveToolset, Toolset } from '../tools/toolset/toolset.js';

const require: ArgumentCheck = checkOf('invalid_definition', 'invalid tool');

/** The agents of a world. It is read at each use, so agents may be added while the world runs. */
export class Registry implements Build {
  readonly #agents = new Map<string, AnyAgent>();
  /** Replaced agents: sessions may still use their definitions. */
  readonly #past: AnyAgent[] = [];
  #shelf = new Shelf();
  readonly #toolsets = new Map<string, Toolset>();
  readonly #live = new Map<Toolset, LiveToolset>();

  /**
   * @param wrap wraps each tool when it is read
   * @param closing aborted when the world closes: the work that toolsets started ends then
   * @param catalog tools for definitions whose agent has no code in this process
   */
  constructor(
    private readonly wrap: (tool: Tool) => Tool = (tool) => tool,
    private readonly closing: AbortSignal = new AbortController().signal,
    private readonly catalog: readonly Tool[] = [],
  ) {
    require(Array.isArray(catalog), 'tools', 'a list of tools', typeof catalog);
    for (const [i, tool] of catalog.entries()) {
      require(isObject(fieldsOf(tool).entry), `tools[${i}]`, 'a tool that defineTool made', typeof tool);
    }
    this.#shelve();
  }

  /**
   * Adds agents and those that they may spawn.
   *
   * @throws RepriseError `duplicate_definition` when two agents, or two toolsets, share a name; `invalid_definition`
   *   for anything but agents
   */
  add(agents: readonly AnyAgent[]): void {
    requireAgents(agents, 'agents');
    for (const agent of agents) for (const one of [agent, ...spawnable(agent)]) this.#put(one, 'refuse');
    this.#shelve();
  }

  /** Adds an agent in place of an agent with the same name; sessions adopt the changed definition as it states. */
  replace(agent: AnyAgent): void {
    this.#put(agent, 'replace');
    for (const one of spawnable(agent)) if (one !== agent) this.#put(one, 'replace');
    this.#shelve();
  }

  /** Whether an agent is registered. */
  has(agent: AnyAgent | undefined): boolean {
    return isObject(agent) && this.#agents.get(agent.name) === agent;
  }

  /** The names of all agents. */
  get names(): readonly string[] {
    return [...this.#agents.keys()];
  }

  /** The agent with a name. */
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

  /** Loads the code that the toolsets of an agent need. @throws what a toolset cannot load */
  async load(agents: readonly AnyAgent[] = [...this.#agents.values()]): Promise<void> {
    for (const agent of agents) for (const toolset of agent.toolsets as readonly Toolset[]) await toolset.load?.();
  }

  agent(name: string): RecordedAgent | undefined {
    const agent = this.#agents.get(name);
    if (agent === undefined) return undefined;
    const { tools, context, returns } = agent;
    return {
      name,
      tools,
      context,
      ...(returns === null ? {} : { returns: returns.schema, returnsJsonSchema: returns.jsonSchema }),
    };
  }

  #put(agent: AnyAgent, existing: 'refuse' | 'replace'): void {
    const known = this.#agents.get(agent.name);
    if (existing === 'refuse' && known !== undefined && known !== agent) throw duplicate('agents', agent.name);
    for (const toolset of agent.toolsets as readonly Toolset[]) {
      const knownSet = this.#toolsets.get(toolset.name);
      if (existing === 'refuse' && knownSet !== undefined && knownSet !== toolset)
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

  /** Current agents come first, then the tools of the catalog, then replaced agents. */
  #shelve(): void {
    this.#shelf = new Shelf();
    for (const agent of this.#agents.values()) this.#shelf.put(toolsOf(agent), agent.name);
    this.#shelf.put(this.catalog, null);
    for (const agent of this.#past) this.#shelf.put(toolsOf(agent), null);
  }
}

/** Whether the session itself executes a tool: such a tool has no function to wrap. */
function isOfSession({ entry: { kind } }: Tool): boolean {
  return kind !== 'tool' && kind !== 'ask';
}

function duplicate(what: string, name: string): RepriseError {
  return new RepriseError('duplicate_definition', `two ${what} have the name "${name}"`, {
    hint: 'Give one of them another name.',
  });
}
