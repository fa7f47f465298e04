/**
 * Which world a process was folding a noted input of when it died. With many worlds a process dies of one of them, and at
 * that moment notes of others stand, too: their inputs are healthy.
 *
 * It is a file of the machine, written without waiting for a disk: that a process died is known on its own machine alone,
 * and only while that runs. Where there is no such file, each note counts.
 */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The characters of a number of a world in the file. */
const WIDTH = 20;

/** The world that is folded by the process with a lease. */
export class Folds {
  #file: number | undefined;
  #failed = false;

  constructor(private readonly lease: string) {}

  /** Runs a fold of a world. */
  during<T>(world: number, fold: () => T): T {
    this.#write(world);
    try {
      return fold();
    } finally {
      this.#write(undefined);
    }
  }

  /** The process gives its lease up. */
  remove(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
    this.#failed = true;
    rmSync(pathOf(this.lease), { force: true });
  }

  #write(world: number | undefined): void {
    if (this.#failed) return;
    try {
      this.#file ??= openSync(pathOf(this.lease), 'wx', 0o600);
      writeSync(this.#file, String(world ?? '').padEnd(WIDTH), 0);
    } catch {
      this.#failed = true; // a full or forbidden folder: each note counts
    }
  }
}

/** Whether the death of a process with a lease may be put down to a world. */
export function mayHaveDiedOf(lease: string, world: number): boolean {
  try {
    const folded = readFileSync(pathOf(lease), 'latin1').trim();
    return folded === '' || folded === String(world); // it may have died of what came of a fold
  } catch {
    return true; // nothing is known
  }
}

function pathOf(lease: string): string {
  return join(tmpdir(), `reprise-folds-${lease}`);
}
