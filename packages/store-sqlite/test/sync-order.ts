/**
 * What a loss of power would take, followed call by call: bytes that were written and not synced, and names that were
 * made, moved or removed in a folder that was not synced after. What is acknowledged must not be among it.
 */
import { basename, dirname } from 'node:path';

/** One call of the file system, in the order in which they began; a sync counts when it has ended. */
export type Call =
  | { readonly call: 'write' | 'sync' | 'make' | 'remove' | 'folder'; readonly path: string }
  | { readonly call: 'move'; readonly path: string; readonly to: string }
  | { readonly call: 'ack'; readonly path: string };

/**
 * Files whose loss costs nothing: the index of the log is made again, the lock holds nothing, a rollback journal is gone
 * once what it guards is written, and a part is not yet anything.
 */
const FREE = /(-shm|-lock|-journal|\.part|\/trace)$/;

/** What an acknowledgement stood on that a loss of power would have taken. */
export function unsynced(calls: readonly Call[], root: string): string[] {
  const bytes = new Set<string>();
  const names = new Set<string>();
  const found = new Set<string>();
  for (const entry of calls) {
    const { call, path } = entry;
    if (call === 'ack') {
      for (const file of bytes) if (!FREE.test(file)) found.add(`${path}: the bytes of ${basename(file)}`);
      for (const file of names) if (!FREE.test(file)) found.add(`${path}: the name of ${basename(file)}`);
    } else if (call === 'write') bytes.add(path);
    else if (call === 'make' || call === 'folder') names.add(path);
    else if (call === 'remove') {
      bytes.delete(path);
      if (!path.endsWith('-wal')) names.add(path); // a log that comes back was emptied, or is in the main part
    } else if (call === 'move') {
      if (bytes.delete(path)) bytes.add(entry.to);
      names.delete(path);
      names.add(entry.to);
    } else {
      bytes.delete(path);
      for (const name of names) if (dirname(name) === path) names.delete(name);
    }
  }
  return [...found].map((what) => what.replaceAll(root, ''));
}

const OPENED = /^openat\(\w+(?:<[^>]*>)?, "([^"]+)", ([A-Z_|]+).*\)\s+= \d+/;
/** Not `ftruncate`: what comes back of a log that was emptied is in the main part already, and reads the same. */
const WRITTEN = /^(?:pwrite64|pwritev|write|writev)\(\d+<([^>]+)>/;
const SYNCED = /^(?:fsync|fdatasync)\(\d+<([^>]+)>.*\)\s+= 0/;
const MADE = /^mkdir(?:at)?\((?:\w+(?:<[^>]*>)?, )?"([^"]+)".*\)\s+= 0/;
const REMOVED = /^unlink(?:at)?\((?:\w+(?:<[^>]*>)?, )?"([^"]+)".*\)\s+= 0/;
const MOVED = /^rename(?:at2?)?\((?:\w+(?:<[^>]*>)?, )?"([^"]+)", (?:\w+(?:<[^>]*>)?, )?"([^"]+)".*\)\s+= 0/;
const SAID = /^write\(1<[^>]*>, "ack ([^"\\]+)/;

/** The calls below a folder in what `strace -f -y` wrote, and the acknowledgements that the process said. */
export function callsOf(trace: string, root: string): Call[] {
  const calls: Call[] = [];
  const begun = new Map<string, string>();
  const made = new Set<string>();
  const add = (call: Call): void => {
    if (call.call === 'ack' || call.path === root || call.path.startsWith(`${root}/`)) calls.push(call);
  };
  for (const line of trace.split('\n')) {
    const [, pid = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    let text = rest;
    if (text.endsWith('<unfinished ...>')) {
      text = text.slice(0, -'<unfinished ...>'.length);
      begun.set(pid, text);
      const write = WRITTEN.exec(text); // it may have happened from now on
      if (write !== null) add({ call: 'write', path: write[1] as string });
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(text);
    if (resumed !== null) text = `${begun.get(pid) ?? ''}${resumed[1]}`;
    const said = SAID.exec(text);
    const [opened, written, synced] = [OPENED.exec(text), WRITTEN.exec(text), SYNCED.exec(text)];
    const [folder, removed, moved] = [MADE.exec(text), REMOVED.exec(text), MOVED.exec(text)];
    if (said !== null) add({ call: 'ack', path: said[1] as string });
    else if (opened !== null) {
      const [, path = '', flags = ''] = opened;
      if (flags.includes('O_CREAT') && !made.has(path)) add({ call: 'make', path });
      if (flags.includes('O_CREAT')) made.add(path);
    } else if (written !== null) add({ call: 'write', path: written[1] as string });
    else if (synced !== null) add({ call: 'sync', path: synced[1] as string });
    else if (folder !== null) add({ call: 'folder', path: folder[1] as string });
    else if (removed !== null) add({ call: 'remove', path: removed[1] as string });
    else if (moved !== null) add({ call: 'move', path: moved[1] as string, to: moved[2] as string });
  }
  return calls;
}
