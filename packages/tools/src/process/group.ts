/**
 * A program in a process group of its own.
 *
 * Invariants
 * P1  Nothing of the group outlives its end: when the program exits, what it left behind in its group is killed.
 * P2  A group that is told to stop is asked first (SIGTERM) and killed after a grace (SIGKILL).
 * P3  A host that exits kills every group on its way out. For one that is killed, its warden does (`warden.ts`).
 * P4  Output is read as fast as it is taken, and no faster: a program that prints without end costs no memory.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { forgetGroup, OWNER_MARK, startWarden, watchGroup } from './warden.js';

/** What to run. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  /** An absolute folder. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its standard input; none when absent. */
  readonly stdin?: string;
}

/** A program that was started. */
export interface ProcessGroup {
  readonly pid: number;
  /** What it prints, standard output and error as they come unless they are apart; ends with the program. */
  readonly output: PassThrough;
  /** Its standard error, when it is apart; else empty. */
  readonly errors: PassThrough;
  /** How it ended, once it did. */
  readonly ended: Promise<string>;
  /** Its standard input. */
  readonly stdin: ChildProcess['stdin'];
  /** Tells the group to stop, and kills it after a grace. Harmless when it is over. */
  stop(): void;
}

/** How long a group that was asked to stop may take, in milliseconds: enough to remove a lock file. */
const STOP_GRACE_MS = 2_000;

/** How long output may still come when the program has exited, in milliseconds: what is in the pipes, and no daemon's. */
const DRAIN_MS = 500;

const windows = process.platform === 'win32';
const alive = new Set<number>();

process.on('exit', () => {
  for (const pid of alive) killGroup(pid, 'SIGKILL'); // P3
});

/**
 * Starts a program.
 *
 * @param streams whether its standard error is among its output, or apart from it
 * @returns why it could not be started, as a part of a sentence, when it could not
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
    detached: !windows, // its own group, so that it can be killed with all that it started
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
  readonly stdin: ChildProcess['stdin'];

  constructor(
    private readonly child: ChildProcess,
    readonly pid: number,
    stdin: string | undefined,
    streams: 'together' | 'apart',
  ) {
    alive.add(pid);
    this.stdin = child.stdin;
    child.stdin?.on('error', () => undefined); // it may end without reading
    if (stdin !== undefined) child.stdin?.end(stdin);
    child.stdout?.pipe(this.output, { end: false }); // P4
    child.stderr?.pipe(streams === 'apart' ? this.errors : this.output, { end: false });
    this.ended = this.#end();
  }

  stop(): void {
    if (!alive.has(this.pid)) return;
    killGroup(this.pid, 'SIGTERM');
    const kill = setTimeout(() => killGroup(this.pid, 'SIGKILL'), STOP_GRACE_MS); // P2
    void this.ended.finally(() => clearTimeout(kill));
  }

  async #end(): Promise<string> {
    const closed = once(this.child, 'close');
    const [code, signal] = (await once(this.child, 'exit')) as [number | null, NodeJS.Signals | null];
    killGroup(this.pid, 'SIGKILL'); // P1
    alive.delete(this.pid);
    forgetGroup(this.pid);
    // Whoever left the group may hold the pipes open for ever; whoever reads slowly may take its time.
    await Promise.race([closed, this.#drained()]);
    for (const pipe of [this.child.stdout, this.child.stderr]) pipe?.unpipe().destroy();
    this.output.end();
    this.errors.end();
    return signal === null ? `exit ${code}` : `ended by ${signal}`;
  }

  /** Resolves when nothing has come for a while although somebody would take it. */
  async #drained(): Promise<void> {
    const pipes = [this.child.stdout, this.child.stderr];
    const taken = (): number =>
      pipes.reduce((sum, pipe) => sum + ((pipe as { bytesRead?: number } | null)?.bytesRead ?? 0), 0);
    for (let before = -1, now = taken(); before !== now || this.output.writableNeedDrain; now = taken()) {
      before = now;
      await new Promise((resolve) => setTimeout(resolve, DRAIN_MS));
    }
  }
}

/** Signals a whole group; one that is over is no error. */
function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(windows ? pid : -pid, signal);
  } catch {
    // It is over.
  }
}

/**
 * What a program prints until it ends, with how it ended at the end.
 *
 * @param timeoutMs when it is stopped
 * @param stops when one of these aborts, it is stopped as well
 * @throws when it was stopped: what it printed before that was given
 */
export async function* outputOf(
  group: ProcessGroup,
  timeoutMs: number,
  stops: readonly AbortSignal[],
): AsyncGenerator<Uint8Array | string> {
  let why: string | undefined;
  const stop = (because: string): void => {
    why ??= because;
    group.stop();
  };
  const told = (): void => stop('it was told to stop and was killed');
  const timer = setTimeout(() => stop(`it ran longer than ${timeoutMs / 1_000} s and was killed`), timeoutMs);
  for (const signal of stops) signal.addEventListener('abort', told, { once: true });
  if (stops.some((signal) => signal.aborted)) told();
  let atLineStart = true;
  try {
    for await (const bytes of group.output as AsyncIterable<Uint8Array>) {
      atLineStart = bytes.at(-1) === 10;
      yield bytes;
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
