/** The files of modules that a sandbox supplies, where a package reaches them by path: they stay imports by name. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseJson } from '@reprise/contracts/json';
import { SUPPLIED_MODULES } from '@reprise/kernel/sandbox';

/** A folder with a `package.json`, and the supplied modules in it by their file. */
interface Home {
  readonly folder: string;
  readonly supplied: ReadonlyMap<string, string>;
}

/**
 * Names the supplied module that a file is, when a module of another package imports it by path. The published package
 * has the workspaces as folders, each with its `package.json`, and its modules import each other by path.
 */
export class SuppliedFiles {
  readonly #homes = new Map<string, Home>();

  /** @returns the name, or undefined for any other file */
  nameOf(file: string, importer: string): string | undefined {
    const home = this.#homeOf(dirname(file));
    const name = home?.supplied.get(file);
    return name === undefined || home === this.#homeOf(dirname(importer)) ? undefined : name;
  }

  /** The nearest folder above with a `package.json`. */
  #homeOf(folder: string): Home | undefined {
    const known = this.#homes.get(folder);
    if (known !== undefined) return known;
    const manifest = join(folder, 'package.json');
    const above = dirname(folder);
    const home = existsSync(manifest)
      ? { folder, supplied: suppliedBy(folder, parseJson(readFileSync(manifest, 'utf8'))) }
      : above === folder
        ? undefined
        : this.#homeOf(above);
    if (home !== undefined) this.#homes.set(folder, home);
    return home;
  }
}

function suppliedBy(folder: string, manifest: unknown): ReadonlyMap<string, string> {
  const { name, exports } = manifest as {
    readonly name?: string;
    readonly exports?: Readonly<Record<string, unknown>>;
  };
  const found = new Map<string, string>();
  if (name === undefined || exports === undefined) return found;
  for (const supplied of SUPPLIED_MODULES.filter((one) => one === name || one.startsWith(`${name}/`))) {
    const target = exports[supplied === name ? '.' : `.${supplied.slice(name.length)}`];
    for (const path of Object.values((target ?? {}) as Readonly<Record<string, string>>))
      found.set(join(folder, path), supplied);
  }
  return found;
}
