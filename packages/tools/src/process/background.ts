/**
 * Processes that run while the model continues. The model knows them as p1, p2 … of its session. They end with the
 * world that started them; a world that is opened again has no processes.
 */
import { defineTool, type Tool, type ToolContext, toolError } from '@reprise/agent';
import { type PiecewiseScrubber, Scrubber } from '@reprise/kernel';
import * as z from 'zod';
import type { ProcessGroup } from './group.js';
import { RecentBytes } from './recent-bytes.js';
import { argv, cwd, type ProcessContext, started } from './start.js';

/** The most processes of one session at the same time. */
const RUNNING_MAX = 8;

/** How many ended processes of one session can still be read; the oldest are forgotten. */
const ENDED_MAX = 32;

const WAIT_SECONDS_MAX = 30;

const handle = z
  .string()
  .regex(/^p[1-9][0-9]{0,5}$/)
  .describe('The process, as start_process named it: p1, p2 …');

/** The processes of each world's sessions, by the signal that aborts when the world closes. */
const worlds = new WeakMap<AbortSignal, Map<string, SessionProcesses>>();

/** The tools `start_process`, `read_process`, `write_process` and `kill_process`. */
export function backgroundTools(context: ProcessContext): Tool[] {
  return [startProcess(context), readProcess, writeProcess(context), killProcess];
}

class Background {
  readonly #group: ProcessGroup;
  readonly #decoder = new TextDecoder();
  readonly #pieces: PiecewiseScrubber;
  readonly #unread = new RecentBytes();
  #ended: string | undefined;
  #wake: () => void = () => undefined;

  constructor(group: ProcessGroup, closing: AbortSignal, scrubber = new Scrubber()) {
    this.#group = group;
    this.#pieces = scrubber.piecewise();
    const stop = () => group.stop();
    closing.addEventListener('abort', stop, { once: true });
    if (closing.aborted) stop();
    group.output.on('data', (bytes: Uint8Array) => this.#take(this.#decoder.decode(bytes, { stream: true })));
    void group.ended.then((how) => {
      closing.removeEventListener('abort', stop);
      this.#take(this.#decoder.decode());
      this.#add(this.#pieces.end());
      this.#ended = how;
      this.#wake();
    });
  }

  get running(): boolean {
    return this.#ended === undefined;
  }

  /** Returns the output since the last read; waits for output or for the end of the process. */
  async read(waitMs: number, signal: AbortSignal): Promise<string> {
    if (this.#unread.isEmpty && this.running) await this.#news(waitMs, signal);
    const { text, lost } = this.#unread.take();
    const dropped = lost === 0 ? '' : `[${lost} earlier bytes were dropped because they were not read in time]\n`;
    return `${dropped}${text}${text === '' || text.endsWith('\n') ? '' : '\n'}[${this.#ended ?? 'running'}]`;
  }

  /** @returns false when the process no longer accepts input */
  async write(text: string, end: boolean): Promise<boolean> {
    const { stdin } = this.#group;
    if (stdin === null || !stdin.writable) return false;
    await new Promise((resolve) => stdin.write(text, resolve));
    if (end) stdin.end();
    return true;
  }

  async kill(): Promise<string> {
    this.#group.stop();
    return this.#group.ended;
  }

  /** Scrubs output as it arrives: a later cut could split a secret, and a half is not recognized. */
  #take(text: string): void {
    this.#add(this.#pieces.push(text));
  }

  #add(text: string): void {
    if (text === '') return;
    this.#unread.add(new TextEncoder().encode(text));
    this.#wake();
  }

  #news(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#wake = () => undefined;
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      signal.addEventListener('abort', done, { once: true });
      this.#wake = done;
      if (signal.aborted) done();
    });
  }
}

/** The processes of one session, by their names. A name is never given twice. */
class SessionProcesses {
  readonly #known = new Map<string, Background>();
  #started = 0;

  get running(): number {
    return [...this.#known.values()].filter(({ running }) => running).length;
  }

  find(name: string): Background | undefined {
    return this.#known.get(name);
  }

  /** @returns the name by which the tools find the program */
  add(one: Background): string {
    const name = `p${++this.#started}`;
    this.#known.set(name, one);
    const ended = [...this.#known].filter(([, { running }]) => !running);
    for (const [oldest] of ended.slice(0, Math.max(0, ended.length - ENDED_MAX))) this.#known.delete(oldest);
    return name;
  }
}

function processesOf({ closing, session }: ToolContext): SessionProcesses {
  const sessions = worlds.get(closing) ?? new Map<string, SessionProcesses>();
  worlds.set(closing, sessions);
  const own = sessions.get(session.key) ?? new SessionProcesses();
  sessions.set(session.key, own);
  return own;
}

function startProcess(context: ProcessContext): Tool {
  return defineTool({
    name: 'start_process',
    description: 'Starts a program in the workspace that runs in the background. Answers with its name: p1, p2 …',
    args: z.strictObject({ argv, cwd }),
    guarantee: 'at_most_once',
    family: 'process',
    approval: context.approval,
    run: async (ask, ctx) => {
      const own = processesOf(ctx);
      if (own.running >= RUNNING_MAX) {
        return toolError(`Refused: ${RUNNING_MAX} processes are running. Kill one first.`);
      }
      const group = await started(context, ask, ctx.scrubber);
      if (!('pid' in group)) return group;
      return `Started ${own.add(new Background(group, ctx.closing, ctx.scrubber))}.`;
    },
  });
}

const readProcess = defineTool({
  name: 'read_process',
  description: 'Returns the output of a background process since the last read, and whether it still runs.',
  args: z.strictObject({
    process: handle,
    wait_seconds: z
      .int()
      .min(0)
      .max(WAIT_SECONDS_MAX)
      .default(5)
      .describe('How many seconds to wait when there is no output yet. Default 5.'),
  }),
  guarantee: 'at_most_once',
  family: 'process',
  polling: true,
  run: (ask, ctx) => withProcess(ask.process, ctx, (found) => found.read(ask.wait_seconds * 1_000, ctx.signal)),
});

function writeProcess(context: ProcessContext): Tool {
  const { approval } = context;
  return defineTool({
    name: 'write_process',
    description: 'Writes text to the standard input of a background process.',
    args: z.strictObject({
      process: handle,
      text: z
        .string()
        .max(1024 * 1024)
        .describe('What to write, line breaks included.'),
      end: z.boolean().default(false).describe('Whether that is the end of its input.'),
    }),
    guarantee: 'at_most_once',
    family: 'process',
    polling: true,
    // Input to a shell is a program, so it needs the same approval as a program.
    approval:
      typeof approval === 'string'
        ? approval
        : ({ args, ...session }) => approval({ args: { argv: [args.process, args.text], cwd: '.' }, ...session }),
    run: (ask, ctx) =>
      withProcess(ask.process, ctx, async (found) =>
        (await found.write(ask.text, ask.end))
          ? `Wrote to ${ask.process}.`
          : toolError(`${ask.process} takes no input.`),
      ),
  });
}

const killProcess = defineTool({
  name: 'kill_process',
  description: 'Ends a background process and everything that it started.',
  args: z.strictObject({ process: handle }),
  guarantee: 'at_most_once',
  family: 'process',
  run: (ask, ctx) => withProcess(ask.process, ctx, async (found) => `${ask.process}: ${await found.kill()}`),
});

function withProcess<T>(name: string, ctx: ToolContext, body: (found: Background) => Promise<T>) {
  const found = processesOf(ctx).find(name);
  if (found !== undefined) return body(found);
  return toolError(
    `There is no process ${name}: it was not started here, the world was closed since, or ${ENDED_MAX} others ended after it.`,
  );
}
