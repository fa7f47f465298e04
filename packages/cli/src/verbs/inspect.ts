/** `reprise inspect`: a page on this machine that shows a world, until the user ends it. */
import { once } from 'node:events';
import type { ReadonlyStore } from '@reprise/kernel';
import type { DiffApps } from '@reprise/operators/diff';
import { openBrowser } from '../process/browser.js';
import type { Io } from '../process/io.js';
import { chooseApp, requireApp } from '../world/app.js';
import { withWorld } from '../world/open.js';

interface InspectArguments {
  readonly port?: number;
  readonly app?: string;
  readonly legacy?: readonly string[];
  /** Whether a browser is opened: false with `--no-open`. */
  readonly open: boolean;
}

/** Shows a world until Ctrl-C; another process may write it. */
export async function inspect(io: Io, world: string, options: InspectArguments): Promise<void> {
  await withWorld(world, async (store) => {
    const { openInspector } = await import('@reprise/inspect');
    // A module that was named is wrong at once, and not at the first question that needs it.
    if (options.app !== undefined || options.legacy !== undefined) await appsOf(store, options);
    const stop = io.interrupted();
    const inspector = await openInspector({
      ...{ store, path: world },
      ...(options.port === undefined ? {} : { port: options.port }),
      apps: () => appsOf(store, options),
      verify: async (onProgress) => {
        const { verifyOpen } = await import('../verify/verify-file.js');
        return verifyOpen(store, world, await chooseApp(store, options), { ...modulesOf(options), onProgress });
      },
    });
    try {
      await io.out.write(`${inspector.url}\n`);
      if (options.open) openBrowser(inspector.url, (why) => void io.err.write(`${why}\n`));
      if (!stop.aborted) await once(stop, 'abort');
    } finally {
      await inspector.close();
    }
  });
}

function modulesOf({ app, legacy }: InspectArguments): Pick<InspectArguments, 'app' | 'legacy'> {
  return { ...(app === undefined ? {} : { app }), ...(legacy === undefined ? {} : { legacy }) };
}

async function appsOf(store: ReadonlyStore, options: InspectArguments): Promise<DiffApps> {
  const { app, legacy } = await requireApp(store, modulesOf(options));
  return { app, legacy };
}
