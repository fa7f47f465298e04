/**
 * The MCP servers that a program is given for its turns.
 *
 * Invariants
 * V1  What a server is started or called with (variables, headers, arguments) is concealed before it is used: it
 *     reaches neither the journal nor a log, and no argument of the program.
 * V2  A file that lists servers is readable by this user only, and is removed when its turn has ended.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ToolContext } from '@reprise/agent';
import { RepriseError } from '@reprise/contracts';
import { concealAddress, concealArguments, concealHeaders, concealVariables, type Scrubber } from '@reprise/kernel';
import * as z from 'zod';

/** What stands for the path of the file in the arguments of a program. */
export const MCP_CONFIG = '{mcp_config}';

/** The most servers of one program. */
const SERVERS_MAX = 16;

const name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
const texts = z.record(z.string().min(1), z.string());

const started = z.strictObject({
  name,
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
});

const called = z.strictObject({
  name,
  type: z.enum(['http', 'sse']),
  url: z.url(),
  headers: texts.default({}),
});

const servers = z.array(z.union([started, called])).max(SERVERS_MAX);

type Served = z.output<typeof servers>[number];

/** An MCP server that a program starts itself. */
export interface StartedServer {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  readonly command: string;
  readonly args?: readonly string[];
  /** Additional environment variables. They are concealed. */
  readonly env?: Readonly<Record<string, string>>;
}

/** An MCP server that a program calls at an address. */
export interface CalledServer {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  readonly type: 'http' | 'sse';
  readonly url: string;
  /** Headers of each request. They are concealed. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An MCP server that a program is given. */
export type ProgramServer = StartedServer | CalledServer;

/** The turn for which servers are given. */
export interface ServeContext extends ToolContext {
  /** Aborted when the program that gets the servers has ended. */
  readonly programEnded: AbortSignal;
}

/** Gives a program its MCP servers. */
export type Serve = (ctx: ServeContext) => readonly ProgramServer[] | Promise<readonly ProgramServer[]>;

/** The servers of a program. */
export class ServerList {
  static readonly NONE = new ServerList([]);

  private constructor(private readonly list: readonly Served[]) {}

  /**
   * Asks for the servers of a turn.
   *
   * @throws RepriseError `invalid_argument` when what is given is no list of servers
   */
  static async of(serve: Serve | undefined, ctx: ToolContext, programEnded: AbortSignal): Promise<ServerList> {
    if (serve === undefined) return ServerList.NONE;
    const { data, error } = servers.safeParse(await Promise.resolve(serve({ ...ctx, programEnded })));
    // The values may be secrets: only their places are shown.
    if (data === undefined) throw invalid(error.issues.map((issue) => issue.path.join('.')).join(', '));
    const names = data.map((one) => one.name);
    if (new Set(names).size !== names.length) throw invalid('two servers with one name');
    if (ctx.scrubber !== undefined) for (const one of data) conceal(one, ctx.scrubber); // V1
    return new ServerList(data);
  }

  /**
   * The servers as the Agent Client Protocol lists them.
   *
   * @throws Error when the program does not take servers of a type
   */
  forAcp(takes: { readonly [type in 'http' | 'sse']?: boolean | undefined }): readonly object[] {
    return this.list.map((one) => {
      if ('command' in one) return { ...one, env: pairs(one.env) };
      if (takes[one.type] === true) return { ...one, headers: pairs(one.headers) };
      throw new Error(`the program takes no MCP servers over ${one.type}; give "${one.name}" as a command`);
    });
  }

  /** Writes the servers into a file that only this user can read. @returns its path, and what removes it (V2) */
  file(): { readonly path: string; remove(): void } {
    const folder = mkdtempSync(path.join(process.env.XDG_RUNTIME_DIR ?? tmpdir(), 'reprise-mcp-'));
    const file = path.join(folder, `${randomUUID()}.json`);
    const mcpServers = Object.fromEntries(
      this.list.map(({ name: key, ...one }) => [key, 'command' in one ? { type: 'stdio', ...one } : one]),
    );
    folders.add(folder);
    writeFileSync(file, JSON.stringify({ mcpServers }), { mode: 0o600, flag: 'wx' });
    chmodSync(file, 0o600);
    return { path: file, remove: () => remove(folder) };
  }
}

/** The folders whose turns are under way: they are removed when the process exits. */
const folders = new Set<string>();

process.on('exit', () => {
  for (const folder of folders) remove(folder);
});

function remove(folder: string): void {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true });
}

function conceal(server: Served, scrubber: Scrubber): void {
  if ('command' in server) {
    concealVariables(scrubber, server.env);
    concealArguments(scrubber, server.args);
  } else {
    concealHeaders(scrubber, Object.entries(server.headers));
    concealAddress(scrubber, server.url);
  }
}

function pairs(of: Readonly<Record<string, string>>): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(of).map(([key, value]) => ({ name: key, value }));
}

function invalid(actual: string): RepriseError {
  return new RepriseError('invalid_argument', 'serve of an external agent gave no valid list of MCP servers', {
    expected: `at most ${SERVERS_MAX} of { name, command, args?, env? } or { name, type: 'http' | 'sse', url, headers? }`,
    actual,
  });
}
