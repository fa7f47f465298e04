/** What a survey writes itself: its world, its report, and those of earlier surveys. None of it is surveyed. */
import path from 'node:path';

/** The report's file name in the output folder. */
export const REPORT = 'SURVEY.md';

/** The world's file in the output folder. */
export const WORLD = 'world.db';

/** The world with one byte changed, in the output folder. */
export const TAMPERED = 'tampered.db';

/** The files that a store keeps beside its own, by what follows its name. */
export const BESIDE: readonly string[] = ['', '-journal', '-wal', '-shm', '-lock', '-lock-journal', '.part', '.blobs'];

/**
 * The survey's own output inside of a surveyed folder, as paths relative to it; empty when it is elsewhere.
 *
 * @param own the folders that hold nothing but output
 */
export function ownOutput(folder: string, own: readonly string[]): readonly string[] {
  return own.flatMap((one) => outputIn(folder, one));
}

function outputIn(folder: string, own: string): readonly string[] {
  const inside = path.relative(folder, own).split(path.sep).join('/');
  if (inside === '..' || inside.startsWith('../') || path.isAbsolute(inside)) return [];
  if (inside !== '') return [inside];
  return [REPORT, ...[WORLD, TAMPERED].flatMap((name) => BESIDE.map((end) => name + end))];
}

/** Whether a path is one of the given paths, or below one. */
export function isWithin(file: string, paths: readonly string[]): boolean {
  return paths.some((one) => file === one || file.startsWith(`${one}/`));
}
