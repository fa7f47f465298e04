/**
 * Plays a stage while something fails, and writes down who said so, and when. A fault is silent when the work neither goes
 * on to its end nor anything is said of it for two seconds; time in which this thread had no processor does not count.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isRepriseError } from '@reprise/contracts';
import { type Clock, systemClock } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { reportOnce } from '../../src/history.js';
import { type ModelClient, openAiCompatible } from '../../src/providers.js';
import { asProcess, type Commanded, inProcess, run } from './command.js';
import { type DiskFault, FailingDisk } from './disk.js';
import { STAGES, type Stage } from './stages.js';
import { ownNow } from './waited.js';

/** What fails. */
export const FAULTS = [
  'full disk',
  'slow disk',
  'read-only disk',
  'clock jump',
  'provider down',
  'wrong key',
  'MCP server down',
  'process killed',
] as const;

/** What fails. */
export type Fault = (typeof FAULTS)[number];

/** The longest silence, in milliseconds in which this process had a processor: a busy machine makes nobody silent. */
export const SILENCE_MAX_MS = 2_000;

const DISK: Partial<Readonly<Record<Fault, DiskFault>>> = {
  'full disk': 'full',
  'slow disk': 'slow',
  'read-only disk': 'read_only',
  'process killed': 'killed',
};

/** What was said of one fault at one place. */
export interface Trial {
  readonly stage: string;
  readonly fault: Fault;
  /** The operation, model call or stamp at which it began. */
  readonly place: number;
  /** Whether the fault met the work at all. */
  readonly met: boolean;
  /** The codes that `onError` received, that `world.trouble()` listed, and what the run was. */
  readonly onError: readonly string[];
  readonly trouble: readonly string[];
  readonly run: readonly string[];
  /** What a world without `onError` would have written. */
  readonly stderr: readonly string[];
  /** What `reprise trouble` said, from another process, while the fault lasted. */
  readonly command: Commanded;
  /** Whether the process knew of a trouble, or died, and the command said nothing. */
  readonly unlisted: boolean;
  /** How the work ended, or what its caller was told; undefined while it waits. */
  readonly work: string | undefined;
  /** Until something was said or the work ended, in milliseconds. */
  readonly silentMs: number;
}

/** Everything that is counted of a stage at which nothing fails. */
export interface Places {
  readonly disk: number;
  readonly model: number;
  readonly clock: number;
  /** Whether its agents have servers of tools. */
  readonly tools: 0 | 1;
}

/** How often an undisturbed stage uses the disk, the model and the clock. */
export async function placesOf(stage: string): Promise<Places> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-trouble-places-'));
  const scene = await Scene.open(stage, 'clock jump', Number.POSITIVE_INFINITY, path.join(folder, 'world.db'));
  await scene.stage.work();
  const places = { disk: scene.disk.operations, model: scene.model.calls, clock: scene.clock.reads };
  const tools = stage === 'team' ? 0 : 1; // a team takes tools alone, and no servers of tools
  await scene.close();
  rmSync(folder, { recursive: true, force: true });
  return { ...places, tools };
}

/** At how many places a fault can begin. */
export function placesFor(fault: Fault, { disk, model, clock, tools }: Places): number {
  if (DISK[fault] !== undefined) return disk;
  if (fault === 'clock jump') return clock;
  return fault === 'MCP server down' ? tools : model;
}

/** How the command is run: as a process of its own, or, for many trials, in this one. */
export type CommandHow = 'process' | 'here';

/** Plays one fault at one place, counted from 1. */
export async function played(stage: string, fault: Fault, place: number, how: CommandHow = 'here'): Promise<Trial> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-trouble-world-'));
  try {
    const file = path.join(folder, 'world.db');
    const command = () => (how === 'process' ? asProcess(file) : inProcess(file));
    return fault === 'process killed'
      ? await killed(stage, place, file, command)
      : await met(stage, fault, place, file, command);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function met(stage: string, fault: Fault, place: number, file: string, command: () => Promise<Commanded>) {
  const scene = await Scene.open(stage, fault, place, file);
  const done = await scene.until(outcomeOf(scene.stage.work()));
  const run = await scene.runNow();
  const said = await scene.listed(command);
  const known = await scene.stage.world.trouble();
  scene.heal();
  const trial = scene.trial(done, said, run);
  await scene.close();
  return { ...trial, unlisted: known.length > 0 && said.codes.length === 0 };
}

/** A process dies at a place; the command is asked; the next process is asked for the same work. */
async function killed(stage: string, place: number, file: string, command: () => Promise<Commanded>): Promise<Trial> {
  const signal = await run('victim.ts', stage, file, String(place));
  const said = await command();
  const scene = await Scene.open(stage, 'process killed', Number.POSITIVE_INFINITY, file);
  if (signal === 'SIGKILL') scene.disk.metAt = ownNow();
  const done = await scene.until(outcomeOf(scene.stage.work()));
  const trial = scene.trial(done, said);
  await scene.close();
  return { ...trial, place, unlisted: signal === 'SIGKILL' && said.codes.length === 0 };
}

/** A stage, and all that can fail in it. */
class Scene {
  readonly disk: FailingDisk;
  readonly clock = new JumpingClock();
  readonly model: FailingModel;
  readonly #errors: string[] = [];
  readonly #lines: string[] = [];
  readonly #troubles: string[] = [];
  #saidAt: number | undefined;
  stage!: Stage;

  private constructor(
    private readonly of: string,
    private readonly fault: Fault,
    private readonly place: number,
    file: string,
  ) {
    this.disk = new FailingDisk(sqlite(file));
    const fails = fault === 'provider down' || fault === 'wrong key' ? fault : undefined;
    this.model = new FailingModel(fails, place);
  }

  static async open(stage: string, fault: Fault, place: number, file: string): Promise<Scene> {
    const scene = new Scene(stage, fault, place, file);
    await scene.#enter();
    scene.disk.arm(DISK[fault], place);
    scene.clock.arm(fault === 'clock jump' ? place : undefined);
    return scene;
  }

  async #enter(): Promise<void> {
    const open = STAGES[this.of];
    if (open === undefined) throw new TypeError(`no stage ${this.of}`);
    const write = reportOnce((line) => this.#lines.push(line));
    this.stage = await open({
      store: this.disk,
      model: (inner) => this.model.around(inner),
      withoutTools: this.fault === 'MCP server down',
      clock: this.clock,
      onError: (error, origin) => {
        write(error, origin);
        this.#errors.push(('code' in origin ? origin.code : undefined) ?? codeOf(error));
        this.#saidAt ??= ownNow();
      },
    });
    this.stage.world.on('trouble', ({ code }) => {
      this.#troubles.push(code);
      this.#saidAt ??= ownNow();
    });
  }

  get #metAt(): number | undefined {
    if (this.fault === 'MCP server down') return this.#saidAt ?? this.#openedAt;
    return this.disk.metAt ?? this.model.metAt ?? this.clock.metAt;
  }

  readonly #openedAt = ownNow();

  /** Waits until the work has ended, or something was said of it, or it was silent for too long. */
  async until(worked: Promise<string>): Promise<string | undefined> {
    let done: string | undefined;
    void worked.then((end) => {
      done = end;
      if (!GOOD.has(end)) this.#saidAt ??= ownNow();
    });
    let { seq } = this.stage.world.kernel.head;
    const isOver = () => {
      // The next process goes on with the work: it is silent only when it does not.
      const { head } = this.stage.world.kernel;
      if (this.fault === 'process killed' && head.seq > seq) this.disk.metAt = ownNow();
      seq = head.seq;
      const [met, now] = [this.#metAt, ownNow()];
      if (done !== undefined) return true;
      if (met === undefined) return false;
      if (this.#saidAt === undefined) return now - met > SILENCE_MAX_MS + 300;
      return now - this.#saidAt > (LASTING.has(this.fault) ? 100 : PATIENCE_MS);
    };
    await this.#until(isOver);
    return done;
  }

  async #until(isOver: () => boolean): Promise<void> {
    while (!isOver()) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** What the command says; where the process itself knows of a trouble, it has two seconds to say it to others. */
  async listed(command: () => Promise<Commanded>): Promise<Commanded> {
    const asked = ownNow();
    for (;;) {
      const said = await command();
      const isLate = ownNow() - asked > SILENCE_MAX_MS;
      if (isLate || said.codes.length > 0 || (await this.stage.world.trouble()).length === 0) return said;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** What the run is now, as its user can ask. */
  async runNow(): Promise<readonly string[]> {
    const asked = this.stage.run?.().then(async (run) => {
      const now = await run?.status();
      return now === undefined ? 'none' : now.status === 'stalled' ? `stalled: ${now.code}` : now.status;
    });
    if (asked === undefined) return [];
    return [await Promise.race([outcomeOf(asked), later('does not answer')])];
  }

  trial(work: string | undefined, command: Commanded, run: readonly string[] = []): Omit<Trial, 'unlisted'> {
    const { of: stage, fault, place } = this;
    const met = this.#metAt;
    const heard = work === undefined || !GOOD.has(work) ? (this.#saidAt ?? ownNow()) : (met ?? 0);
    return {
      ...{ stage, fault, place, work, run, command, met: met !== undefined },
      ...{ onError: [...this.#errors], trouble: [...this.#troubles], stderr: [...this.#lines] },
      silentMs: met === undefined ? 0 : Math.max(0, Math.round(heard - met)),
    };
  }

  heal(): void {
    this.disk.heal();
    this.model.heal();
  }

  async close(): Promise<void> {
    this.heal();
    await Promise.race([this.stage.world.close().catch(() => undefined), later(undefined)]);
  }
}

/** Faults that the work waits out. */
const LASTING: ReadonlySet<Fault> = new Set(['full disk', 'slow disk', 'provider down']);

/** How long work may take that nothing holds up, on a busy machine. */
const PATIENCE_MS = 20_000;

/** Ends of work at which nothing was missing. */
const GOOD: ReadonlySet<string> = new Set(['Completed', 'complete', 'idle', 'archived', 'completed', 'done']);

async function later<T>(value: T): Promise<T> {
  const since = ownNow();
  while (ownNow() - since < 1_000) await new Promise((resolve) => setTimeout(resolve, 20));
  return value;
}

function outcomeOf(work: Promise<string>): Promise<string> {
  return work.catch((error: unknown) => `told ${codeOf(error)}`);
}

function codeOf(error: unknown): string {
  return isRepriseError(error) ? error.code : String((error as Error).message);
}

/** A wall clock that jumps two years ahead at the n-th reading. */
class JumpingClock implements Clock {
  reads = 0;
  metAt: number | undefined;
  #at = Number.POSITIVE_INFINITY;

  arm(at: number | undefined): void {
    this.reads = 0;
    this.#at = at ?? Number.POSITIVE_INFINITY;
  }

  wall(): number {
    if (++this.reads < this.#at) return systemClock.wall();
    this.metAt ??= ownNow();
    return systemClock.wall() + 2 * 365 * 86_400_000;
  }

  monotonic(): number {
    return systemClock.monotonic();
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return systemClock.sleep(ms, signal);
  }
}

/** The model of a stage, whose server fails from the n-th call on. */
class FailingModel {
  calls = 0;
  metAt: number | undefined;
  #isHealed = false;
  readonly #failing: ModelClient;

  constructor(
    private readonly fault: 'provider down' | 'wrong key' | undefined,
    private readonly from: number,
  ) {
    this.#failing = openAiCompatible({
      ...{ baseUrl: 'https://models.example/v1', model: 'small', apiKey: 'sk-wrong-key-0123456789' },
      fetch: () => this.#refuse(),
    });
  }

  heal(): void {
    this.#isHealed = true;
  }

  around(inner: ModelClient): ModelClient {
    return {
      ...inner,
      generate: (request, context) => {
        const fails = ++this.calls >= this.from && this.fault !== undefined && !this.#isHealed;
        return (fails ? this.#failing : inner).generate(request, context);
      },
    };
  }

  async #refuse(): Promise<Response> {
    this.metAt ??= ownNow();
    if (this.fault === 'wrong key')
      return Response.json({ error: { message: 'Incorrect API key provided', code: 'bad_key' } }, { status: 401 });
    throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 203.0.113.7:443') });
  }
}
