/** Opens the page of a world: its server, on this machine alone. */
import { RepriseError } from '@reprise/contracts';
import { type ReadonlyStore, verifyStore } from '@reprise/kernel';
import type { DiffApps } from '@reprise/operators/diff';
import { type PageFile, pageFile } from '@reprise/server/guard';
import { Api, type Verify } from './api/index.js';
import { patientStore } from './ask/patient-store.js';
import type { PageFiles } from './contract/index.js';
import { startHttp } from './http/index.js';
import { Past } from './past/index.js';

/** What the page shows, and with what. */
interface InspectorOptions {
  /** The world. It stays open when the inspector is closed: its owner closes it. */
  readonly store: ReadonlyStore;
  /** The path of the world as the user named it: it stands in the commands that the page shows. */
  readonly path: string;
  /** The apps that replay the world, asked for when a question needs them. Without it, states of the past are not shown. */
  readonly apps?: () => Promise<DiffApps>;
  /** Verifies the world; by default in this thread, during which other questions wait. */
  readonly verify?: Verify;
  /** The port on 127.0.0.1; any free one when absent. */
  readonly port?: number;
  /** The files of the page; those of this package when absent. */
  readonly page?: () => Promise<PageFiles>;
}

/** A server that shows a world. */
interface Inspector {
  /** The address to open, with the token of this start in its fragment. */
  readonly url: string;
  /** Ends all requests and the server. */
  close(): Promise<void>;
}

/**
 * Starts the server that shows a world. It binds to 127.0.0.1 and to no other address, takes no lock and writes nothing.
 *
 * @throws RepriseError `invalid_argument` when the port cannot be used
 * @example const { url, close } = await openInspector({ store: await sqlite('world.db').openReadonly(), path: 'world.db' })
 */
export async function openInspector(options: InspectorOptions): Promise<Inspector> {
  const { store, path, port = 0, page = ownPage } = options;
  const apps = onceFound(options.apps ?? noApps);
  const verify = options.verify ?? (async (onProgress) => verifyStore(store, { ...(await apps()), onProgress }));
  const past = new Past(patientStore(store, new AbortController().signal), apps);
  const api = new Api({ store, path, apps, past }, verify);
  const files = onceFound(async () => filesOf(await page()));
  return startHttp({ port, files, answer: (request) => api.answer(request) });
}

async function ownPage(): Promise<PageFiles> {
  const { pageFiles } = await import('#page');
  return pageFiles();
}

function filesOf({ html, script, style }: PageFiles): Readonly<Record<string, PageFile>> {
  return {
    '/': pageFile('text/html; charset=utf-8', html),
    '/page.js': pageFile('text/javascript; charset=utf-8', script),
    '/page.css': pageFile('text/css; charset=utf-8', style),
  };
}

async function noApps(): Promise<DiffApps> {
  throw new RepriseError('invalid_argument', 'no app for this journal is at hand: a state is shown by replaying it', {
    hint: 'Start the command with the app of the world: --app MODULE.',
  });
}

/** Finds something once, and again only after a failure. */
function onceFound<T>(find: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined;
  return () => {
    const found = known ?? find();
    known = found;
    found.catch(() => {
      known = undefined;
    });
    return found;
  };
}
