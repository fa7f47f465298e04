/** The address of an MCP server. Needs nothing of the protocol's library at run time, which only some programs install. */
import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';
import { isFields, kindOfThing, RepriseError } from '@reprise/contracts';

/** Values that a server receives and that are never recorded: texts by name, or a function that reads them. */
export type Secrets =
  | Readonly<Record<string, string>>
  | ((given: { secret(name: string): Promise<string> }) => Promise<Readonly<Record<string, string>>>);

/** A program that is started for each world that uses it, and ends with that world. */
export interface StdioServer {
  /** The program and its arguments, passed without a shell. */
  readonly command: readonly [program: string, ...args: string[]];
  /** Its environment variables besides `PATH`, `HOME`, `LANG`, `LC_ALL`, `TZ`, `TMPDIR`, `TERM`, `USER` and `SHELL`. */
  readonly env?: Secrets;
  /** The program's working folder. Default: the folder of this process. */
  readonly cwd?: string;
}

/** A server over streamable HTTP. */
export interface HttpServer {
  readonly url: string | URL;
  readonly headers?: Secrets;
  /** A token provider, or a full OAuth client, of the MCP package. */
  readonly auth?: AuthProvider | OAuthClientProvider;
  readonly fetch?: typeof fetch;
}

/** An MCP server: a program to start, or an address. */
export type McpServer = StdioServer | HttpServer;

/**
 * Checks a server's address.
 *
 * @throws RepriseError `invalid_definition`
 */
export function requireServer(server: McpServer, where: string): void {
  const given: unknown = server;
  if (!isFields(given)) throw invalidServer(where, kindOfThing(server));
  const command = 'command' in server ? server.command : undefined;
  const isProgram = Array.isArray(command) && command.length > 0 && command.every((part) => typeof part === 'string');
  const isPlace = 'url' in server && URL.canParse(String(server.url)) && /^https?:$/.test(new URL(server.url).protocol);
  if (isProgram !== isPlace) return;
  throw invalidServer(where, Object.keys(server).join(', '));
}

function invalidServer(where: string, actual: string): RepriseError {
  return new RepriseError('invalid_definition', 'invalid MCP server', {
    where,
    expected: '{ command: [program, …args] } or { url } of http or https',
    actual,
  });
}
