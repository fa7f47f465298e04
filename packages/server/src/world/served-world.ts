/**
 * What a world offers to clients outside: the tools and resources of its parts, and what it has recorded of sessions.
 *
 * Invariants
 * W1  Everything is done and read as the principal of the request: by its view, which the gate stands before. No argument
 *     names who calls.
 * W2  A call that is sent again has the same id, and no two calls of different principals or sessions have one.
 * W3  A denial is an answer; what failed in the server is not told.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { AgentWorld, Served, ServedAnswer, ServedResource, ServedTool } from '@reprise/agent';
import { type Principal, RepriseError, type ValueMap } from '@reprise/contracts';
import type { WorldView } from '@reprise/kernel';
import { SERVE_RESOURCE_BYTES_MAX } from '../protocol/limits.js';
import { type McpAnswer, McpFailure, type McpResources, type McpToolCall } from '../protocol/mcp-types.js';
import { Cursors } from './cursors.js';
import { answerTo, unlessRefused } from './refusals.js';
import { SessionResources } from './session-resources.js';
import { isTemplate, matches } from './templates.js';

/** The error for a resource that is too large; the range is free for servers. */
const TOO_LARGE = -32_003;

interface OfferedTool {
  readonly tool: ServedTool;
  readonly by: Served;
}

/** The tools and resources that the parts of a world offer. */
export class ServedWorld {
  readonly #tools: ReadonlyMap<string, OfferedTool>;
  readonly #resources: readonly ServedResource[];
  readonly #cursors = new Cursors();

  constructor(readonly world: AgentWorld) {
    this.#tools = toolsOf(world.served);
    this.#resources = world.served.flatMap(({ resources = [] }) => resources);
  }

  /** The resources of the parts. */
  get resources(): readonly ServedResource[] {
    return this.#resources;
  }

  /** Whether the parts let a principal act at all. */
  async admits(principal: Principal): Promise<boolean> {
    const view = this.world.kernel.as(principal);
    for (const { admits } of this.world.served) if (admits !== undefined && !(await admits(view))) return false;
    return true;
  }

  /** What it offers to one principal. */
  as(principal: Principal): OfferedWorld {
    return new OfferedWorld(this, this.world.kernel.as(principal), this.#tools, this.#cursors);
  }
}

/** What a world offers to one principal. */
export class OfferedWorld {
  readonly resources: McpResources;
  readonly #sessions: SessionResources;

  constructor(
    private readonly served: ServedWorld,
    private readonly view: WorldView,
    private readonly all: ReadonlyMap<string, OfferedTool>,
    cursors: Cursors,
  ) {
    this.#sessions = new SessionResources(served.world, view, cursors);
    const templates = served.resources.filter(({ uri }) => isTemplate(uri));
    this.resources = {
      templates: [...this.#sessions.templates, ...templates],
      list: (after) => this.#list(after),
      read: (uri) => this.#read(uri),
    };
  }

  /** The tools that the principal has, in the order of the parts. */
  async tools(): Promise<readonly ServedTool[]> {
    if (!(await this.served.admits(this.view.principal))) return [];
    const had = new Set(await this.#had());
    return [...this.all.values()].flatMap(({ tool }) => (had.has(tool.name) ? [tool] : []));
  }

  /** A tool of the parts, whether the principal has it or not: arguments are checked before rights are. */
  tool(name: string): ServedTool | undefined {
    return this.all.get(name)?.tool;
  }

  /**
   * Executes a call.
   *
   * @param session names the session of the client, in a revision that has sessions
   */
  async call(call: McpToolCall, session: string): Promise<McpAnswer> {
    const offered = this.all.get(call.name);
    if (offered === undefined) throw new McpFailure(-32_602, `Unknown tool: ${call.name.slice(0, 64)}`);
    if (!(await this.served.admits(this.view.principal))) return denied('principal');
    if (!(await this.#had()).includes(call.name)) return denied('tool');
    const { signal, progress } = call;
    const under = { signal, ...(progress === undefined ? {} : { progress }) };
    const id = callId(this.view.principal, session, call);
    try {
      return await offered.by.call(this.view, call.name, call.args, id, under);
    } catch (error) {
      return answerTo(error);
    }
  }

  /** Whether the principal may read a resource. */
  async mayRead(uri: string): Promise<boolean> {
    if (!(await this.served.admits(this.view.principal))) return false;
    const cell = this.#sessions.cellOf(uri);
    if (cell !== undefined) return this.#sessions.mayRead(cell);
    return (await this.#part(uri)) !== undefined;
  }

  async #had(): Promise<readonly string[]> {
    const found: string[] = [];
    for (const { tools, listed } of this.served.world.served)
      found.push(...(listed === undefined ? tools.map(({ name }) => name) : await listed(this.view)));
    return found;
  }

  async #list(after: string | undefined): Promise<Awaited<ReturnType<McpResources['list']>>> {
    if (!(await this.served.admits(this.view.principal))) return { items: [] };
    const fixed = this.served.resources.filter(({ uri }) => !isTemplate(uri));
    const { items, next } = await this.#sessions.list(after);
    return { items: after === undefined ? [...fixed, ...items] : items, ...(next === undefined ? {} : { next }) };
  }

  async #read(uri: string): ReturnType<McpResources['read']> {
    if (!(await this.served.admits(this.view.principal))) return undefined;
    const found = (await this.#sessions.read(uri)) ?? (await this.#part(uri));
    if (found !== undefined && found.bytes.length > SERVE_RESOURCE_BYTES_MAX)
      throw new McpFailure(
        TOO_LARGE,
        `The resource has ${found.bytes.length} bytes; ${SERVE_RESOURCE_BYTES_MAX} are served.`,
      );
    return found;
  }

  /** The resource of a part. A denial says no more than that nothing is there, and so does a URI that names nothing. */
  async #part(uri: string): ReturnType<McpResources['read']> {
    for (const resource of this.served.resources) {
      if (!matches(resource.uri, uri)) continue;
      const bytes = await unlessRefused(() => resource.read(this.view, uri));
      if (bytes !== undefined) return { mediaType: resource.mediaType, bytes };
    }
    return undefined;
  }
}

function denied(detail: string): ServedAnswer {
  return { structured: { error: 'capability_denied', detail }, isError: true };
}

// W2
function callId(principal: Principal, session: string, { key, inSession, args }: McpToolCall): string {
  const { command_id: command } = args as ValueMap;
  if (typeof command === 'string' && command !== '') return `c.${digestOf([principal, command])}`;
  return inSession ? `r.${digestOf([principal, session, key])}` : `a.${randomUUID()}`;
}

function digestOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function toolsOf(parts: readonly Served[]): ReadonlyMap<string, OfferedTool> {
  const tools = new Map<string, OfferedTool>();
  for (const by of parts) {
    for (const tool of by.tools) {
      if (tools.has(tool.name))
        throw new RepriseError('duplicate_definition', `two parts serve a tool with the name "${tool.name}"`, {
          where: 'served.tools',
          hint: 'Give one of them another name: clients call a tool by its name.',
        });
      tools.set(tool.name, { tool, by });
    }
  }
  return tools;
}
