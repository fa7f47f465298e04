/** Verifies the world of a file on all cores. */

import { availableParallelism, freemem } from 'node:os';
import type { RepriseError } from '@reprise/contracts';
import {
  aFlag,
  aFunction,
  aList,
  aText,
  isFilled,
  type KnownOptions,
  requireArgument,
  requireKnownOptions,
  wholeFrom,
} from '@reprise/contracts';
import { type ReadonlyStore, type VerifyProgress, type VerifyReport, verifyStore } from '@reprise/kernel';
import { sandbox } from '@reprise/sandbox';
import { type Chosen, chooseApp } from '../world/app.js';
import { withWorld } from '../world/open.js';
import { VerifyThreads } from './threads.js';

/** Options of verifying a file. */
export interface VerifyFileOptions {
  /**
   * The module of the app: its default export, or its export `app`. Without one, the definitions of `@reprise/agent` and
   * `@reprise/org/contracts` are used if they are all that the journal names.
   */
  readonly app?: string;
  /** The modules of earlier apps, for earlier eras. */
  readonly legacy?: readonly string[];
  /** Replays eras with the code that their manifests link, in a sandbox. This runs code from the file. */
  readonly pureCode?: boolean;
  /** Folds every frame with all leaves decoded from their bytes and all plans rebuilt, and not one frame in 256. */
  readonly thorough?: boolean;
  /** An acknowledged or published head digest, as 64 hex digits. */
  readonly expect?: string;
  /** How many threads verify at once; 1 for none beside the caller's. By default one for each core, as memory allows. */
  readonly workers?: number;
  /** Called a few times a second with the progress. */
  readonly onProgress?: (progress: VerifyProgress) => void;
}

const VERIFY_FILE_OPTIONS: KnownOptions<VerifyFileOptions> = {
  app: aText,
  legacy: aList,
  pureCode: aFlag,
  thorough: aFlag,
  expect: aText,
  workers: wholeFrom(1),
  onProgress: aFunction,
};

/** The memory that must be free for each worker, in bytes: what a thread of a large world takes. */
const WORKER_BYTES = 512 * 1024 * 1024;

/**
 * Verifies the world of a file, in threads when it is large and has snapshots. Each thread loads the modules of the apps
 * again. The report and the errors are those of `verifyStore`.
 *
 * @param path the world's file
 * @throws RepriseError the errors of `verifyStore`; `world_absent`; `invalid_argument` for a module that cannot be loaded;
 *   `worker_failed` when a thread ends before its result, for lack of memory for example
 * @example
 * const { replayed, unverified } = await verifyFile('world.db', { app: './app.js' })
 */
export async function verifyFile(path: string, options: VerifyFileOptions = {}): Promise<VerifyReport> {
  requireArgument(isFilled(path), 'verifyFile(path)', "the path of a world's file", path);
  requireKnownOptions(options, VERIFY_FILE_OPTIONS, 'verifyFile');
  return withWorld(path, async (store) => verifyOpen(store, path, await chooseApp(store, options), options));
}

/**
 * Verifies a file that is open, with the apps that were chosen for it.
 *
 * @param refused called when no thread could begin, with the reason
 */
export async function verifyOpen(
  store: ReadonlyStore,
  path: string,
  { app, legacy }: Pick<Chosen, 'app' | 'legacy'>,
  options: VerifyFileOptions,
  refused: (why: RepriseError) => void = () => undefined,
): Promise<VerifyReport> {
  const { pureCode = false, thorough = false, expect, onProgress, workers: size = defaultWorkers() } = options;
  const task = { world: path, legacy: options.legacy ?? [], pureCode, thorough };
  const threads = new VerifyThreads({ ...task, ...(options.app === undefined ? {} : { app: options.app }) }, { size });
  try {
    return await verifyStore(store, {
      legacy,
      thorough,
      ...(app === undefined ? {} : { app }),
      ...(pureCode ? { code: sandbox() } : {}),
      ...(expect === undefined ? {} : { expect }),
      ...(onProgress === undefined ? {} : { onProgress }),
      ...(size > 1 ? { workers: threads } : {}),
    });
  } finally {
    await threads.close();
    if (threads.refusal !== undefined) refused(threads.refusal);
  }
}

function defaultWorkers(): number {
  const free = process.availableMemory?.() ?? freemem();
  return Math.max(1, Math.min(availableParallelism(), Math.floor(free / WORKER_BYTES)));
}
