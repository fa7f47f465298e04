/** A disk that is truly small: a file system in memory of some megabytes, where the machine lets one be made. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A small disk. */
export interface SmallDisk {
  readonly folder: string;
  /** Takes all the room that there is but this much. */
  fill(leave: number): void;
  /** Gives it back. */
  clear(): void;
  dispose(): void;
}

/** Makes one; undefined where that is not permitted. */
export function smallDisk(folder: string, mebibytes: number): SmallDisk | undefined {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  const ballast = path.join(folder, 'ballast');
  return {
    folder,
    fill: (leave) => {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(ballast, new Uint8Array(Math.max(0, bavail * bsize - leave)));
    },
    clear: () => rmSync(ballast, { force: true }),
    dispose: () => execFileSync('umount', ['-l', folder]),
  };
}
