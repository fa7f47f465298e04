/** A world on standard input and output: for one client, which started this process. */
import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type { AgentWorld } from '@reprise/agent';
import { type ArgumentCheck, checkOf, type Principal, requireKnownOptions } from '@reprise/contracts';
import { withLibrary } from './protocol/library.js';
import { mcpServer } from './protocol/mcp.js';
import { requirePrincipal } from './protocol/principals.js';
import { News } from './world/news.js';
import { ServedWorld } from './world/served-world.js';
import { coreOptions, errorsTo, requireWorld, type ServerNames, type Serving } from './world/serving.js';

/** As whom a client acts, and over which streams. */
export interface ServeStdioOptions extends ServerNames {
  /** The principal as which the client acts. */
  readonly as: Principal;
  /** Read for requests; standard input when absent. */
  readonly input?: Readable;
  /** Written with answers; standard output when absent. */
  readonly output?: Writable;
}

const OPTIONS: Readonly<Record<keyof ServeStdioOptions, true>> = {
  as: true,
  input: true,
  output: true,
  name: true,
  instructions: true,
  onError: true,
};

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of serveStdio');

/**
 * Serves a world to the client behind standard input and output, until the input ends. Nothing else may write to the
 * output meanwhile.
 *
 * @throws RepriseError `runtime_unsupported` without the package `@modelcontextprotocol/server`; `invalid_argument`; `duplicate_definition` when two parts serve a tool of one name
 * @example
 * await using world = await openWorld({ store, models, parts: [notes] })
 * const serving = await serveStdio(world, { as: 'human:ann' })
 * await serving.ended
 */
export async function serveStdio(world: AgentWorld, options: ServeStdioOptions): Promise<Serving> {
  requireWorld(world);
  require(typeof options === 'object' && options !== null, 'options', 'an object with `as`', typeof options);
  requireKnownOptions(options, OPTIONS, 'serveStdio');
  requirePrincipal(options.as, 'as');
  const { as, input = process.stdin, output = process.stdout } = options;
  const served = new ServedWorld(world);
  const offer = served.as(as);
  const news = new News(served, errorsTo(options));
  let ended = (): void => undefined;
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  await withLibrary(() => import('./protocol/mcp-core.js'));
  const core = mcpServer({ ...coreOptions(offer, options, randomUUID()) });
  const connection = core.open({
    write: (line) => output.write(`${line}\n`),
    backlog: () => output.writableLength,
    ended: (why) => {
      if (why !== undefined) errorsTo(options)(new Error(`the client was disconnected: ${why}`));
      ended();
    },
  });
  const leave = news.add({
    offer,
    isOpen: () => true,
    check: async () => undefined,
    follows: () => true,
    toolsChanged: () => connection.toolsChanged(),
    resourcesChanged: () => connection.resourcesChanged(),
    resourceUpdated: (uri) => connection.resourceUpdated(uri),
  });
  const take = (bytes: Uint8Array): void => connection.take(bytes);
  const over = (): void => void close();
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      leave();
      input.off('data', take);
      for (const name of ['end', 'close', 'error']) input.off(name, over);
      output.off('error', over);
      if (input === process.stdin) input.pause();
      await connection.close();
      await news.close();
      ended();
    })();
    return closing;
  };
  input.on('data', take);
  for (const name of ['end', 'close', 'error']) input.on(name, over);
  output.on('error', over);
  return { ended: end, close, [Symbol.asyncDispose]: close };
}
