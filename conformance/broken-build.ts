/** Broken builds: the sources with one place changed, in a bundle of their own, judged by a law in that bundle. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { bundle, type Planted } from './bundle.js';

type Laws = Readonly<Record<string, (...given: readonly unknown[]) => unknown>>;

/**
 * What a law says of a broken build.
 *
 * @param judges the module that exports the laws, by its absolute path; each throws when it is broken
 * @param given what the law is called with
 * @param options `apart`: in a thread of its own, which gives the build's memory back. A process keeps each module that
 *   it has imported: after some forty builds of societies it had no memory left
 * @returns the message of the law's error, or of a build that fails; undefined when the law finds nothing
 */
export async function foundBy(
  judges: string,
  law: string,
  planted?: Planted,
  given: readonly unknown[] = [],
  { apart = false }: { readonly apart?: boolean } = {},
): Promise<string | undefined> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-broken-'));
  const outfile = path.join(folder, 'judges.mjs');
  try {
    await bundle(judges, outfile, planted === undefined ? {} : { planted });
    if (apart) return await saidInThread(outfile, law, given);
    const laws = (await import(pathToFileURL(outfile).href)) as Laws;
    await laws[law]?.(...given);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const THREAD = `
const { parentPort, workerData: { build, law, given } } = require('node:worker_threads');
import(build).then((laws) => laws[law](...given)).then(
  () => parentPort.postMessage({}),
  (error) => parentPort.postMessage({ said: error.message }),
);`;

function saidInThread(outfile: string, law: string, given: readonly unknown[]): Promise<string | undefined> {
  const workerData = { build: pathToFileURL(outfile).href, law, given };
  const thread = new Worker(THREAD, { eval: true, execArgv: [], workerData });
  return new Promise<string | undefined>((resolve, reject) => {
    thread.once('message', ({ said }: { readonly said?: string }) => resolve(said));
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('the thread ended without a word')));
  }).finally(() => thread.terminate());
}
