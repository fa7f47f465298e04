/** Broken builds: the sources with one place changed, in a bundle of their own, judged by a law in that bundle. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle, type Planted } from './bundle.js';

type Laws = Readonly<Record<string, (...given: readonly unknown[]) => unknown>>;

/**
 * What a law says of a broken build.
 *
 * @param judges the module that exports the laws, by its absolute path; each throws when it is broken
 * @param given what the law is called with
 * @returns the message of the law's error, or of a build that fails; undefined when the law finds nothing
 */
export async function foundBy(
  judges: string,
  law: string,
  planted?: Planted,
  given: readonly unknown[] = [],
): Promise<string | undefined> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-broken-'));
  const outfile = path.join(folder, 'judges.mjs');
  try {
    await bundle(judges, outfile, planted === undefined ? {} : { planted });
    const laws = (await import(pathToFileURL(outfile).href)) as Laws;
    await laws[law]?.(...given);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await rm(folder, { recursive: true });
  }
}
