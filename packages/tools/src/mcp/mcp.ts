/** MCP servers as toolsets of agents. */
import {
  type ApprovalVerdict,
  type CallToApprove,
  type DriftPolicy,
  type Duration,
  durationMs,
  jsonSchema,
  type LeftOut,
  type LiveToolset,
  requireToolset,
  type Tool,
  type ToolEntry,
  type Toolset,
  type ToolsetHost,
} from '@reprise/agent';
import { RepriseError } from '@reprise/contracts';
import { Link } from './link.js';
import { type McpServer, requireServer } from './server.js';

/** A call of a tool of a server, as an approval rule sees it. */
export interface McpCall extends CallToApprove<Readonly<Record<string, unknown>>> {
  /** What the tool is called at the server. */
  readonly tool: string;
  /** What the server says of it, where it says it outright. */
  readonly hints: NonNullable<ToolEntry['origin']>['hints'];
}

/** Which calls somebody has to approve. `destructive`: those of tools that say of themselves that they destroy. */
export type McpApproval =
  | 'never'
  | 'always'
  | 'destructive'
  | ((call: McpCall) => ApprovalVerdict | Promise<ApprovalVerdict>);

/** What {@link mcp} takes besides the server. */
export interface McpOptions {
  /** What becomes of a tool that is described otherwise than when a session took it up. Default `ask`. */
  readonly onDrift?: DriftPolicy;
  /** What becomes of a tool that was not there when a session began. Default `accept`. */
  readonly onNew?: DriftPolicy;
  /** The tools that count, by their names at the server; `*` stands for anything. All when absent. */
  readonly allow?: readonly string[];
  /**
   * Whether what the server says of its tools is believed where that makes a call less careful: one that only reads, or
   * may be repeated, is made again after a crash, and reading calls run together. Default false.
   */
  readonly trust?: boolean;
  /** Which calls somebody has to approve. Default `destructive`. */
  readonly approval?: McpApproval;
  /** How long a call may take; ten minutes when it is not said. */
  readonly timeout?: Duration;
  /** How long reaching the server may take. Default 30 seconds. */
  readonly connectTimeout?: Duration;
  /** What to do when nobody can tell whether a call happened. Default `tell_model`. */
  readonly onUnknown?: ToolEntry['on_unknown'];
}

/** How long reaching a server may take, in milliseconds: a program may have to be loaded first. */
const CONNECT_MS_DEFAULT = 30_000;

/** Tools of one server that are kept ready. */
const BOUND_MAX = 1_024;

/**
 * An MCP server, as a toolset of agents. It is reached when a session first needs it, once for each world.
 *
 * @param name what its tools are called by: `<name>__<tool>`
 * @throws RepriseError `invalid_definition`, `invalid_argument` for a span of time that is none
 * @example
 * const files = mcp('files', { command: ['npx', '@modelcontextprotocol/server-filesystem', '/srv/docs'] }, { trust: true })
 * const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: '…', toolsets: [files] })
 */
export function mcp(name: string, server: McpServer, options: McpOptions = {}): Toolset {
  const where = `mcp ${String(name)}`;
  const { onDrift: onChanged = 'ask', onNew: onAdded = 'accept', approval = 'destructive', trust = false } = options;
  requireToolset({ name, onChanged, onAdded }, where);
  requireServer(server, where);
  requireApproval(approval, where);
  const connectMs =
    options.connectTimeout === undefined
      ? CONNECT_MS_DEFAULT
      : durationMs(options.connectTimeout, `${where} connectTimeout`);
  const timeoutMs = options.timeout === undefined ? undefined : durationMs(options.timeout, `${where} timeout`);
  const { allow, onUnknown = 'tell_model' } = options;
  const terms = { toolset: name, trust, timeoutMs, onUnknown, server, allow, connectMs };
  return Object.freeze({
    type: 'toolset' as const,
    name,
    onChanged,
    onAdded,
    open: ({ closing }: ToolsetHost) => new McpToolset(new Link({ ...terms, closing }), approval, trust),
  });
}

class McpToolset implements LiveToolset {
  readonly #bound = new Map<string, Tool>();

  constructor(
    private readonly link: Link,
    private readonly approval: McpApproval,
    private readonly trust: boolean,
  ) {}

  readonly list: LiveToolset['list'] = (context) => this.link.list(context);
  readonly leftOut = (): readonly LeftOut[] => this.link.leftOut;

  tool(entry: ToolEntry): Tool | undefined {
    const known = this.#bound.get(entry.fingerprint);
    if (known !== undefined || entry.origin === undefined) return known;
    const { link, approval, trust } = this;
    const { tool, toolset, hints } = entry.origin;
    const apart = trust && hints.read_only ? {} : { resource: () => `mcp:${toolset}` };
    const bound: Tool<string, Readonly<Record<string, unknown>>> = {
      type: 'tool',
      name: entry.name,
      entry,
      args: jsonSchema(entry.schema),
      approval: approvalOf(approval, tool, hints),
      ...apart,
      run: (args, ctx) => link.call(entry, args, ctx),
    };
    const [oldest] = this.#bound.keys();
    if (this.#bound.size >= BOUND_MAX && oldest !== undefined) this.#bound.delete(oldest);
    this.#bound.set(entry.fingerprint, bound as Tool);
    return bound as Tool;
  }
}

function approvalOf(approval: McpApproval, tool: string, hints: McpCall['hints']) {
  if (approval === 'destructive') return hints.destructive ? ('always' as const) : ('never' as const);
  return typeof approval === 'string'
    ? approval
    : (call: CallToApprove<Readonly<Record<string, unknown>>>) => approval({ ...call, tool, hints });
}

function requireApproval(approval: unknown, where: string): void {
  if (typeof approval === 'function' || ['never', 'always', 'destructive'].includes(approval as string)) return;
  throw new RepriseError('invalid_definition', 'this is no approval rule', {
    where,
    expected: 'never, always, destructive or a function',
    actual: approval,
  });
}
