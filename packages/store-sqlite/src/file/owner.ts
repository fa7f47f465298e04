/**
 * The writer of a file, as the file itself names it. The lock beside the file names it as well, but a lock can be
 * deleted, and another name of the file has another lock.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { shortText } from '@reprise/contracts';

/** An owner: a process, one opening in it, and the opened file. A copy of the file names the original file. */
export interface Owner {
  /** The boot of the machine; empty when the system does not show it. */
  readonly boot: string;
  /** The namespace of `pid`; empty when the system does not show it. */
  readonly namespace: string;
  readonly pid: number;
  /** The start time of the process, in the system's own units: another process may get the same `pid`. */
  readonly started: string;
  /** The device and inode of the world's file. */
  readonly file: string;
  /** Random, so that two openings by one process differ. */
  readonly nonce: string;
}

/** The openings of this process, over all loaded copies of this module. */
const openings: Set<string> = ownOpenings();

function ownOpenings(): Set<string> {
  const shared = globalThis as { [key: symbol]: Set<string> | undefined };
  const key = Symbol.for('@reprise/store-sqlite openings');
  shared[key] ??= new Set();
  return shared[key];
}

/** This process as the next owner of a file, until {@link forgetOwner}. */
export function newOwner(file: string): Owner {
  const nonce = randomBytes(16).toString('hex');
  openings.add(nonce);
  return {
    boot: readable(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace: readable(() => readlinkSync('/proc/self/ns/pid')),
    pid: process.pid,
    started: startOf(process.pid) ?? '',
    file,
    nonce,
  };
}

/** Ends the ownership of this process. */
export function forgetOwner({ nonce }: Owner): void {
  openings.delete(nonce);
}

/** The text that is stored in the file. */
export function ownerText({ boot, namespace, pid, started, file, nonce }: Owner): string {
  return [boot, namespace, pid, started, file, nonce].join(' ');
}

/** The longest command line that a message shows. */
const COMMAND_UNITS = 120;

/** An owner in words: its process, and where the system shows it the process's command, and whether it is stopped. */
export function ownerWords({ pid }: Owner): string {
  if (pid === process.pid) return `this process, ${pid}`;
  const command = readable(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  const words = command
    .split('\0')
    .filter((word) => word !== '')
    .map(shortWord)
    .join(' ');
  const stopped = statOf(pid).state === 'T' ? ', which is stopped: `fg` in its terminal continues it' : '';
  return words === '' ? `process ${pid}` : `process ${pid} (${shortText(words, COMMAND_UNITS)})${stopped}`;
}

/** A program's path by its name: the folders before it would fill the message. */
function shortWord(word: string): string {
  return word.startsWith('/') ? basename(word) : word;
}

/** Parses the text of an owner; undefined when it is invalid. */
export function parseOwner(text: string): Owner | undefined {
  const [boot, namespace, pid, started, file, nonce, ...more] = text.split(' ');
  if (boot === undefined || namespace === undefined || started === undefined) return undefined;
  if (file === undefined || nonce === undefined || more.length > 0 || !/^[1-9]\d{0,9}$/.test(pid ?? ''))
    return undefined;
  return { boot, namespace, pid: Number(pid), started, file, nonce };
}

/**
 * Whether an owner is known to have a file open still. False also when this cannot be known: after another boot, from
 * another container, on a system without `/proc`. Then the lock alone decides.
 *
 * @param file device and inode of the file to be opened
 */
export function holdsStill(owner: Owner, file: string): boolean {
  if (!isKnown(owner, file)) return false;
  if (owner.pid === process.pid && owner.started === (startOf(process.pid) ?? '')) return openings.has(owner.nonce);
  return owner.started !== '' && startOf(owner.pid) === owner.started;
}

/**
 * Whether this process can tell if an owner still has a file open.
 *
 * @param file as for {@link holdsStill}
 */
export function isKnown(owner: Owner, file: string): boolean {
  if (owner.file !== file) return false; // the file is a copy of the owner's file
  const here = newOwner(file);
  forgetOwner(here);
  return owner.boot !== '' && owner.boot === here.boot && owner.namespace === here.namespace;
}

/** The start time of a process; undefined when it does not exist or is a zombie. */
function startOf(pid: number): string | undefined {
  const { state, started } = statOf(pid);
  return state === 'Z' || state === 'X' ? undefined : started;
}

/** What the system shows of a process: the letter of its state, and its start time. */
function statOf(pid: number): { readonly state?: string | undefined; readonly started?: string | undefined } {
  const stat = readable(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  // The name of the program, in parentheses, may contain anything.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state, started: fields[18] };
}

function readable(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
