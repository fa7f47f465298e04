/** Uses each entry that needs a package of its own, in a process in which none of these is installed. Prints what each use met. */
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isRepriseError } from '@reprise/contracts';

const MISSING = ['fast-check', '@modelcontextprotocol/client', '@modelcontextprotocol/server', 'esbuild', 'libsql'];

/** Resolves as Node does where the packages are not installed. */
const HOOKS = `
export async function resolve(name, context, next) {
  const missing = ${JSON.stringify(MISSING)}.find((one) => name === one || name.startsWith(one + '/'));
  if (missing === undefined || context.parentURL?.includes('/node_modules/')) return next(name, context);
  const error = new Error("Cannot find package '" + missing + "' imported from " + context.parentURL);
  throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' });
}`;
register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);

/** The uses by name; each import of an entry is one. */
const USES: Readonly<Record<string, () => Promise<unknown>>> = {
  'import reprise/testing': () => import('reprise/testing'),
  'import reprise/testing/ports': () => import('reprise/testing/ports'),
  'import reprise/testing/simulator': () => import('reprise/testing/simulator'),
  'import reprise/mcp': () => import('reprise/mcp'),
  'open a world with mcp': () => worldWithServer(),
  'define an agent with mcp': () => definedWithServer(),
  'import reprise/server': () => import('reprise/server'),
  serveHttp: async () => (await import('reprise/server')).serveHttp(await emptyWorld(), { auth: () => undefined }),
  serveStdio: async () => (await import('reprise/server')).serveStdio(await emptyWorld(), { as: 'human:ann' }),
  mcpServer: () => served(),
  'import reprise/tree/serve': () => import('reprise/tree/serve'),
  'import reprise/sandbox': () => import('reprise/sandbox'),
  bundlePureCode: async () => (await import('reprise/sandbox')).bundlePureCode(fileURLToPath(import.meta.url)),
};

async function emptyWorld() {
  const { memory, openWorld } = await import('reprise');
  return openWorld({ store: memory(), models: {} });
}

async function agentWithServer() {
  const [{ defineAgent }, { mcp }] = await Promise.all([import('reprise'), import('reprise/mcp')]);
  const toolsets = [mcp('files', { command: ['true'] })];
  return defineAgent({ name: 'clerk', model: 'main', instructions: 'Help.', toolsets });
}

async function worldWithServer(): Promise<void> {
  const { memory, openWorld } = await import('reprise');
  const { script } = await import('reprise/providers');
  await openWorld({ store: memory(), models: { main: script() }, agents: [await agentWithServer()] });
}

async function definedWithServer(): Promise<void> {
  const { memory, openWorld } = await import('reprise');
  const { script } = await import('reprise/providers');
  const world = await openWorld({ store: memory(), models: { main: script() } });
  await world.define(await agentWithServer());
}

/** The core of a server answers at once, so it says later what is missing. */
async function served(): Promise<void> {
  const { mcpServer } = await import('reprise/server');
  await new Promise<void>((_, reject) => {
    const core = mcpServer({
      ...{ name: 'clock', version: '1', tools: [], onError: reject },
      call: async () => ({ texts: [], isError: false }),
    });
    core.open({ write: () => undefined, ended: () => undefined }).take(new TextEncoder().encode('{}\n'));
  });
}

const met: Record<string, string> = {};
for (const [name, use] of Object.entries(USES)) {
  met[name] = await use().then(
    () => 'works',
    (error: unknown) => (isRepriseError(error) ? `${error.code}: ${error.details.hint}` : String(error)),
  );
}
process.stdout.write(JSON.stringify(met));
process.exit(0);
