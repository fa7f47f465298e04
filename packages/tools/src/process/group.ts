/**
 * A program in its own process group.
 *
 * Invariants
 * P1  No process of the group outlives the program: when it exits, the rest of its group is killed.
 * P2  A group that must stop first gets SIGTERM and, after a grace period, SIGKILL.
 * P3  A host process that exits kills every group on its way out. If it is killed, its warden does (`warden.ts`).
 * P4  Output is read no faster than it is consumed: a program that prints without end costs no memory.
 * P5  Output ends soon after the program, even if a process that left the group prints on into its pipes, and even if
 *     nobody reads it any more.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { utf16Of } from '@reprise/agent';
import { forgetGroup, OWNER_MARK, startWarden, watchGroup } from './warden.js';

/** The program to run, and its surroundings. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  /** The working folder, as an absolute path. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Text for its standard input; no input when absent. */
  readonly stdin?: string;
}

/** A program that was started. */
export interface ProcessGroup {
  readonly pid: number;
  /** Standard output and standard error in order of arrival, unless they are separate; ends with the program. */
  readonly output: PassThrough;
  /** Standard error when it is separate; otherwise empty. */
  readonly errors: PassThrough;
  /** Resolves with how the program ended. */
  readonly ended: Promise<string>;
  /** Resolves when all of the standard output has arrived: nothing holds the pipe any more, or the program ended. */
  readonly silent: Promise<void>;
  /** The standard input of the program. */
  readonly stdin: ChildProcess['stdin'];
  /**
   * Asks the group to stop, and kills it after a grace period. Once the program has ended, it only ends the output.
   *
   * @returns whether the program was running
   */
  stop(): boolean;
}

/**
 * How long a group may take to stop after SIGTERM, in milliseconds: enough to remove a lock file, and little enough that
 * a person who stops a call sees it end within a second.
 */
const STOP_GRACE_MS = 700;

/**
 * How long to read output after the program exited, in milliseconds: enough for the pipes' content, not for a daemon's.
 */
const DRAIN_MS = 500;

/** How many such times to wait for more output at most, unless a reader is slow. */
const DRAINS_MAX = 4;

/** The most that the pipes of a program that exited can still hold, in bytes: two pipes of the largest size. */
const PIPES_BYTES_MAX = 2 * 1024 * 1024;

/** How many bytes of its first piece show the encoding of an output. */
const SNIFF_BYTES = 8_000;

const windows = process.platform === 'win32';
const alive = new Set<number>();

process.on('exit', () => {
  for (const pid of alive) killGroup(pid, 'SIGKILL'); // P3
});

/**
 * Starts a program.
 *
 * @param streams whether standard error is part of the output, or separate
 * @returns the group, or the reason why it could not be started, as a part of a sentence
 */
export async function startGroup(
  command: Command,
  streams: 'together' | 'apart' = 'together',
): Promise<ProcessGroup | string> {
  startWarden();
  const child = spawn(command.program, [...command.args], {
    cwd: command.cwd,
    env: { ...command.env, ...OWNER_MARK },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: !windows, // its own group, so that the program and all its children can be killed
    shell: false,
    windowsHide: true,
  });
  if (child.pid !== undefined) watchGroup(child.pid); // P3
  const error = await Promise.race([once(child, 'spawn').then(() => undefined), once(child, 'error')]).catch(
    (thrown: unknown) => [thrown],
  );
  if (error !== undefined || child.pid === undefined) return whyNot(error?.[0]);
  return new Group(child, child.pid, command.stdin, streams);
}

function whyNot(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such program',
    EACCES: 'the system does not permit to run it',
    E2BIG: 'its arguments are too long',
  };
  return reasons[String(code)] ?? `it could not be started (${String(code)})`;
}

class Group implements ProcessGroup {
  readonly output = new PassThrough();
  readonly errors = new PassThrough();
  readonly ended: Promise<string>;
  readonly silent: Promise<void>;
  readonly stdin: ChildProcess['stdin'];
  #stopped = false;

  constructor(
    private readonly child: ChildProcess,
    readonly pid: number,
    stdin: string | undefined,
    streams: 'together' | 'apart',
  ) {
    alive.add(pid);
    this.stdin = child.stdin;
    child.stdin?.on('error', () => undefined); // the program may exit without reading
    if (stdin !== undefined) child.stdin?.end(stdin);
    child.stdout?.pipe(this.output, { end: false }); // P4
    child.stderr?.pipe(streams === 'apart' ? this.errors : this.output, { end: false });
    const { stdout } = child;
    this.silent = new Promise((resolve) => stdout?.once('end', resolve).once('close', resolve));
    this.ended = this.#end();
  }

  stop(): boolean {
    this.#stopped = true;
    if (!alive.has(this.pid)) return false;
    killGroup(this.pid, 'SIGTERM');
    const kill = setTimeout(() => killGroup(this.pid, 'SIGKILL'), STOP_GRACE_MS); // P2
    void this.ended.finally(() => clearTimeout(kill));
    return true;
  }

  async #end(): Promise<string> {
    const closed = once(this.child, 'close');
    const [code, signal] = (await once(this.child, 'exit')) as [number | null, NodeJS.Signals | null];
    killGroup(this.pid, 'SIGKILL'); // P1
    alive.delete(this.pid);
    forgetGroup(this.pid);
    // A process that left the group may keep the pipes open forever, and a slow reader may take its time.
    const isCut = await Promise.race([closed.then(() => false), this.#drained()]);
    for (const pipe of [this.child.stdout, this.child.stderr]) pipe?.unpipe().destroy();
    this.output.end();
    this.errors.end();
    const how = signal === null ? `exit ${code}` : `ended by ${signal}`;
    return isCut ? `${how}; a process that it left behind prints on` : how;
  }

  /**
   * Resolves when no output arrived for a while although there is room for it, or when more arrives than the program can
   * have printed. P5
   *
   * @returns whether more is printed
   */
  async #drained(): Promise<boolean> {
    const pipes = [this.child.stdout, this.child.stderr];
    const taken = (): number =>
      pipes.reduce((sum, pipe) => sum + ((pipe as { bytesRead?: number } | null)?.bytesRead ?? 0), 0);
    const atExit = taken();
    let drains = 0;
    for (let before = -1, now = atExit; before !== now || this.output.writableNeedDrain; now = taken()) {
      if (now - atExit > PIPES_BYTES_MAX) return true;
      if (this.#stopped || !this.output.writableNeedDrain) drains += 1;
      if (drains > DRAINS_MAX) return before !== now;
      before = now;
      await new Promise((resolve) => setTimeout(resolve, DRAIN_MS));
    }
    return false;
  }
}

/** Signals a whole group; a group that has ended is not an error. */
function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(windows ? pid : -pid, signal);
  } catch {
    // The group has ended.
  }
}

/**
 * Yields a program's output until it ends, followed by how it ended.
 *
 * @param timeoutMs after how many milliseconds the program is stopped
 * @param stops the program is also stopped when one of these signals aborts
 * @throws when the program was stopped; the output before that was already yielded
 */
export async function* outputOf(
  group: ProcessGroup,
  timeoutMs: number,
  stops: readonly AbortSignal[],
): AsyncGenerator<Uint8Array | string> {
  let why: string | undefined;
  const stop = (because: string): void => {
    if (group.stop()) why ??= because;
  };
  const told = (): void => stop('it was told to stop and was killed');
  const timer = setTimeout(() => stop(`it ran longer than ${timeoutMs / 1_000} s and was killed`), timeoutMs);
  for (const signal of stops) signal.addEventListener('abort', told, { once: true });
  if (stops.some((signal) => signal.aborted)) told();
  let atLineStart = true;
  try {
    for await (const piece of readably(group.output as AsyncIterable<Uint8Array>)) {
      atLineStart = piece.at(-1) === (typeof piece === 'string' ? '\n' : 10);
      yield piece;
    }
    const how = await group.ended;
    if (why !== undefined) throw new Error(why);
    yield `${atLineStart ? '' : '\n'}[${how}]`;
  } finally {
    clearTimeout(timer);
    for (const signal of stops) signal.removeEventListener('abort', told);
    group.stop();
  }
}

/** Output as it comes; text in UTF-16 is decoded, since what is said of the program follows it in UTF-8. */
async function* readably(output: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array | string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let isFirst = true;
  for await (const bytes of output) {
    const encoding = isFirst ? utf16Of(bytes.subarray(0, SNIFF_BYTES)) : undefined;
    isFirst = false;
    if (encoding !== undefined) decoder = new TextDecoder(encoding);
    yield decoder === undefined ? bytes : decoder.decode(bytes, { stream: true });
  }
  const rest = decoder?.decode() ?? '';
  if (rest !== '') yield rest;
}
