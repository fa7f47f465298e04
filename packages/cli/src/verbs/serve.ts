/** `reprise serve`: this process has the world, and serves it until its client leaves or the user ends it. */
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { AgentWorld } from '@reprise/agent';
import { type Principal, RepriseError } from '@reprise/contracts';
import type { Serving } from '@reprise/server';
import type { Io } from '../process/io.js';
import { openServed } from '../serve/served-app.js';
import { escapeLine } from '../text/escape.js';
import { requireFile } from '../world/place.js';

export interface ServeOptions {
  readonly mcp?: true;
  readonly sessions?: true;
  readonly agUi?: true;
  readonly http?: number;
  readonly as?: string;
  readonly app?: string;
  readonly name?: string;
}

/** The variable that holds the secret for tokens which outlive this process. */
const SECRET_VARIABLE = 'REPRISE_MCP_SECRET';

/** The name of that secret for the world. */
const SECRET = 'reprise_serve_tokens';

type Server = typeof import('@reprise/server');

/** Serves a world over standard input and output, or over HTTP. */
export async function serve(io: Io, file: string, options: ServeOptions): Promise<void> {
  const { as, http } = options;
  requireProtocol(options);
  requirePrincipals(options);
  if (http !== undefined && as !== undefined)
    requireFile(
      file,
      'a token that is written beside the world',
      `Make tokens with a secret of your own: ${SECRET_VARIABLE}.`,
    );
  const server = await import('@reprise/server');
  const secret = process.env[SECRET_VARIABLE] ?? randomBytes(32).toString('base64url');
  const world = await openServed(file, {
    secret: (name) => (name === SECRET ? secret : undefined),
    report: (line) => void io.err.write(`${escapeLine(line)}\n`),
    ...(options.app === undefined ? {} : { app: options.app }),
    ...(as === undefined ? {} : { as }),
    ...(http === undefined ? {} : { tokens: (own: AgentWorld) => server.bearerTokens(own, { secret: SECRET }) }),
  });
  await using _ = world;
  const names = {
    ...(options.name === undefined ? {} : { name: options.name }),
    onError: (error: Error) => void io.err.write(`${error.message}\n`),
  };
  const serving =
    http === undefined
      ? await server.serveStdio(world, { as: as as Principal, ...names })
      : await overHttp(server, { io, world, file, port: http, names, options, ...(as === undefined ? {} : { as }) });
  await untilEnded(io, serving);
}

interface HttpParts {
  readonly io: Io;
  readonly world: AgentWorld;
  readonly file: string;
  readonly port: number;
  readonly as?: string;
  readonly options: ServeOptions;
  readonly names: Pick<Parameters<Server['serveHttp']>[1], 'name' | 'onError'>;
}

async function overHttp(server: Server, parts: HttpParts): Promise<Serving> {
  const { io, world, file, port, as, names, options } = parts;
  const { mcp = false, sessions = false, agUi = false } = options;
  const tokens = server.bearerTokens(world, { secret: SECRET });
  const serving = await server.serveHttp(world, { port, auth: tokens.auth, mcp, sessions, agUi, ...names });
  const { origin } = new URL(serving.url ?? '');
  const paths = [...(mcp ? ['mcp'] : []), ...(sessions ? ['v1'] : []), ...(agUi ? ['ag-ui'] : [])];
  await io.out.write(paths.map((path) => `${origin}/${path}\n`).join(''));
  if (as === undefined) return serving;
  // Without a secret of its own the token ends with this process, whatever it states.
  const isLasting = process.env[SECRET_VARIABLE] !== undefined;
  const token = await tokens.issue(as as Principal, { for: isLasting ? '1d' : '366d' });
  const place = path.resolve(`${file}.mcp-token`);
  writeToken(place, token);
  await io.out.write(`A token for ${as}, valid ${isLasting ? 'for a day' : 'until this command ends'}: ${place}\n`);
  void serving.ended.then(() => rmSync(place, { force: true }));
  return serving;
}

/** Writes a token where only this user reads it. Whatever stood there is removed, and never followed. */
function writeToken(place: string, token: string): void {
  try {
    rmSync(place, { force: true });
    writeFileSync(place, `${token}\n`, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    throw new RepriseError('store_failed', 'the token cannot be written', { where: place, cause });
  }
}

async function untilEnded(io: Io, serving: Serving): Promise<void> {
  const end = (): void => void serving.close();
  const stop = io.onSignal?.(end);
  try {
    await serving.ended;
    await serving.close();
  } finally {
    stop?.();
  }
}

function requireProtocol({ mcp, sessions, agUi, http }: ServeOptions): void {
  if ((sessions === true || agUi === true) && http === undefined)
    throw new RepriseError('invalid_argument', 'sessions are served over HTTP', {
      where: sessions === true ? '--sessions' : '--ag-ui',
      expected: '--http PORT',
    });
  if (mcp === true || sessions === true || agUi === true) return;
  throw new RepriseError('invalid_argument', 'nothing is to be served', {
    where: 'reprise serve',
    expected: 'at least one of --mcp, --sessions and --ag-ui',
  });
}

function requirePrincipals({ as, http }: ServeOptions): void {
  if (as !== undefined) return;
  if (http === undefined)
    throw new RepriseError('invalid_argument', 'a client on standard input acts as a person, which is not named', {
      where: '--as',
      expected: 'human:NAME',
    });
  if (process.env[SECRET_VARIABLE] === undefined)
    throw new RepriseError('invalid_argument', 'no client could have a token for this server', {
      where: '--as',
      hint: `Name a person, for whom a token is written: --as human:NAME. Or set ${SECRET_VARIABLE} to the secret of tokens that you made.`,
    });
}
