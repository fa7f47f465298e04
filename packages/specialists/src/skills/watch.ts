/** Watches a folder of skills. What is missed costs nothing: the folder is listed before each run anyway. */
import { watch } from 'node:fs';

/** How long changes are gathered: editors write a file in several steps. In milliseconds. */
const GATHER_MS = 100;

/** Calls a function soon after something in a folder changed. @returns stops that */
export function watchFolder(folder: string, changed: () => void): () => void {
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const heard = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      if (!stop.signal.aborted) changed();
    }, GATHER_MS);
  };
  try {
    const watcher = watch(folder, { recursive: true, persistent: false, signal: stop.signal }, heard);
    watcher.on('error', () => undefined); // the folder vanished, or the system has no watches left
  } catch {
    // The folder is not there, or cannot be watched.
  }
  return () => {
    clearTimeout(timer);
    stop.abort();
  };
}
