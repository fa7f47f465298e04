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
import {
  aFlag,
  aList,
  aText,
  isFilled,
  type KnownOptions,
  missingPackage,
  RepriseError,
  requireArgument,
  requireKnownOptions,
} from '@reprise/contracts';
import { type McpServer, requireServer } from './address.js';
import type { Link, LinkOptions } from './link.js';

/** A call of a server's tool, as an approval rule sees it. */
interface McpCall extends CallToApprove<Readonly<Record<string, unknown>>> {
  /** The tool's name at the server. */
  readonly tool: string;
  /** The hints that the server states explicitly. */
  readonly hints: NonNullable<ToolEntry['origin']>['hints'];
}

/** Which calls need approval. `destructive`: calls of tools whose hints say that they are destructive. */
type McpApproval = 'never' | 'always' | 'destructive' | ((call: McpCall) => ApprovalVerdict | Promise<ApprovalVerdict>);

/** Options of {@link mcp} besides the server. */
export interface McpOptions {
  /** What to do with a tool whose description changed since the session recorded it. Default `ask`. */
  readonly onDrift?: DriftPolicy;
  /** What to do with a tool that was added after the session began. Default `accept`. */
  readonly onNew?: DriftPolicy;
  /** The tools to use, by their names at the server; `*` stands for any text. Default: all. */
  readonly allow?: readonly string[];
  /**
   * Whether to trust the server's hints where they make calls less careful: a tool that only reads, or may be
   * repeated, is then repeated after a crash, and calls that only read run in parallel. Default false.
   */
  readonly trust?: boolean;
  /** Which calls need approval. Default `destructive`. */
  readonly approval?: McpApproval;
  /** The longest time for a call. Default ten minutes. */
  readonly timeout?: Duration;
  /** The longest time to connect to the server. Default 30 seconds. */
  readonly connectTimeout?: Duration;
  /** What to do when the outcome of a call is unknown. Default `tell_model`. */
  readonly onUnknown?: ToolEntry['on_unknown'];
}

/** The longest time to connect, in milliseconds by default: a program may have to be downloaded first. */
const CONNECT_MS_DEFAULT = 30_000;

/** The most tools of one server that are kept ready. */
const BOUND_MAX = 1_024;

const MCP_OPTIONS: KnownOptions<McpOptions> = {
  onDrift: true,
  onNew: true,
  allow: aList,
  trust: aFlag,
  approval: true,
  timeout: true,
  connectTimeout: true,
  onUnknown: aText,
};

/**
 * Makes a toolset from an MCP server. It is connected when a session first needs it, once for each world. A world with such an
 * agent needs the package `@modelcontextprotocol/client`: without it, opening the world is refused as `runtime_unsupported`.
 *
 * @param name the prefix of its tools' names: `<name>__<tool>`
 * @throws RepriseError `invalid_definition`; `invalid_argument` when a time is not a duration
 * @example
 * const files = mcp('files', { command: ['npx', '@modelcontextprotocol/server-filesystem', '/srv/docs'] }, { trust: true })
 * const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: '…', toolsets: [files] })
 */
export function mcp(name: string, server: McpServer, options: McpOptions = {}): Toolset {
  requireArgument(isFilled(name), 'mcp(name)', 'the name of a toolset', name);
  requireKnownOptions(options, MCP_OPTIONS, 'mcp');
  const where = `mcp ${name}`;
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
    load: async () => void (await loadLink()),
    open: ({ closing }: ToolsetHost) => new McpToolset(new LateLink({ ...terms, closing }), approval, trust),
  });
}

/** Loads what speaks the protocol. @throws RepriseError `runtime_unsupported` without the protocol's library */
async function loadLink(): Promise<typeof import('./link.js')> {
  try {
    return await import('./link.js');
  } catch (error) {
    throw missingPackage(error, { what: 'MCP servers', name: '@modelcontextprotocol/client' });
  }
}

/** A link that is made when it is first used. */
class LateLink implements Pick<Link, 'list' | 'call' | 'leftOut'> {
  #loading: Promise<Link> | undefined;
  #link: Link | undefined;

  constructor(private readonly options: LinkOptions) {}

  get leftOut(): readonly LeftOut[] {
    return this.#link?.leftOut ?? [];
  }

  readonly list: Link['list'] = async (context) => (await this.#loaded()).list(context);
  readonly call: Link['call'] = async (...given) => (await this.#loaded()).call(...given);

  #loaded(): Promise<Link> {
    this.#loading ??= loadLink().then(({ Link }) => {
      this.#link = new Link(this.options);
      return this.#link;
    });
    return this.#loading;
  }
}

class McpToolset implements LiveToolset {
  readonly #bound = new Map<string, Tool>();

  constructor(
    private readonly link: LateLink,
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
  throw new RepriseError('invalid_definition', 'invalid option "approval"', {
    where,
    expected: 'never, always, destructive or a function',
    actual: approval,
  });
}
