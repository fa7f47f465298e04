/**
 * Options of external agents for programs that are common as nodes. `codex` and `claude` were not run here: their flags
 * follow their documentation.
 */

import type { Usage } from '@reprise/contracts';
import { isFilled, isFunction, requireArgument, requireFields } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';
import type { ExternalAgentOptions, ProgramAnswer } from '@reprise/tools/external';
import type { Bridge } from './bridge.js';

/** What stands for the path of the file with MCP servers. */
const MCP_CONFIG = '{mcp_config}';

/** Options of a preset: those of an external agent, and the bridge that gives the program its tools. */
export interface PresetOptions extends Partial<Omit<ExternalAgentOptions, 'serve' | 'watch' | 'protocol'>> {
  /** Gives the program the tools of its session's owner. */
  readonly bridge?: Bridge;
}

/** How Claude Code is started. */
export interface ClaudeOptions extends PresetOptions {
  /** The most that one turn may cost, in dollars: the program stops there by itself. */
  readonly usd?: number;
}

/** How a program of any other kind is started as an agent. */
export interface ProgramOptions extends PresetOptions {
  readonly name: string;
  /**
   * The program and its arguments. It reads the prompt from standard input, and prints its result. `{mcp_config}` is the
   * path of a file that lists the bridge, for a program that uses it.
   */
  readonly command: ExternalAgentOptions['command'];
}

/** opencode, over the Agent Client Protocol. */
export function opencode(options: PresetOptions = {}): ExternalAgentOptions {
  requireFields(options, 'opencode(options)', 'an object');
  return preset({ name: 'opencode', command: ['opencode', 'acp'], protocol: 'acp' }, options);
}

/** Codex, by its adapter for the Agent Client Protocol, `codex-acp`. Not run here. */
export function codex(options: PresetOptions = {}): ExternalAgentOptions {
  requireFields(options, 'codex(options)', 'an object');
  return preset({ name: 'codex', command: ['codex-acp'], protocol: 'acp' }, options);
}

/** Claude Code, once for each turn. It permits no tools but those of the bridge. Not run here. */
export function claude(given: ClaudeOptions = {}): ExternalAgentOptions {
  requireFields(given, 'claude(options)', 'an object');
  const { usd, ...options } = given;
  const budget = usd === undefined ? [] : ['--max-budget-usd', String(usd)];
  const { bridge } = options;
  const served = bridge && ['--mcp-config', MCP_CONFIG, '--strict-mcp-config', '--allowedTools', `mcp__${bridge.name}`];
  const command = ['claude', '-p', '--output-format', 'json', ...(served ?? []), ...budget] as const;
  return preset({ name: 'claude', command: [...command], protocol: 'stdout', read: readClaude }, options);
}

/** Any program that reads its prompt from standard input and prints its result. */
export function program(options: ProgramOptions): ExternalAgentOptions {
  requireFields(options, 'program(options)', 'an object with name and command');
  requireArgument(isFilled(options.name), 'program(options.name)', 'a name', options.name);
  const fits = Array.isArray(options.command) || isFunction(options.command);
  requireArgument(fits, 'program(options.command)', 'the program and its arguments, as a list', options.command);
  return preset({ name: options.name, command: options.command, protocol: 'stdout' }, options);
}

/**
 * A turn whose outcome is unknown fails: what it did cannot be told from its answer. A program is ended after each turn: a
 * node that waits for its children keeps no program.
 */
function preset(own: ExternalAgentOptions, { bridge, ...options }: PresetOptions): ExternalAgentOptions {
  const whole: ExternalAgentOptions = { onUnknown: 'fail', lives: 'turn', ...own, ...options };
  if (bridge === undefined) return whole;
  const isServed = whole.protocol === 'acp' || whole.command.slice(1).some((part) => part.includes(MCP_CONFIG));
  return { ...whole, watch: bridge.watch, ...(isServed ? { serve: bridge.nodeTools } : {}) };
}

interface ClaudeResult {
  readonly result?: string;
  readonly is_error?: boolean;
  readonly total_cost_usd?: number;
  readonly usage?: Readonly<Record<string, unknown>>;
}

function readClaude(output: string): ProgramAnswer {
  const { result, is_error, total_cost_usd, usage } = parseJson(output) as ClaudeResult;
  if (is_error === true) throw new Error(result ?? 'the program reports an error');
  const used = usage === undefined ? undefined : usageOf(usage, total_cost_usd);
  return { text: result ?? '', ...(used === undefined ? {} : { usage: used }) };
}

function usageOf(usage: Readonly<Record<string, unknown>>, usd: number | undefined): Usage {
  const count = (name: string): number => (Number.isSafeInteger(usage[name]) ? Math.max(0, Number(usage[name])) : 0);
  const cached = count('cache_read_input_tokens');
  return {
    tokens_in: count('input_tokens') + count('cache_creation_input_tokens') + cached,
    tokens_out: count('output_tokens'),
    ...(cached === 0 ? {} : { tokens_cached: cached }),
    ...(usd === undefined || !Number.isFinite(usd) || usd < 0 ? {} : { micro_money: Math.ceil(usd * 1_000_000) }),
  };
}
