/** The live view of a review: its tasks, as they change, as a picture that is drawn again or as lines. */
import type { AgentWorld } from 'reprise';
import type { Project, ResultRow, TaskRow } from 'reprise/specialists';
import { escapeLine } from 'reprise/terminal';
import { columnsOf, type PictureRow, pictureOf } from './picture.js';

const MARKS: Readonly<Record<string, string>> = {
  pending: '○',
  blocked: '○',
  running: '●',
  queued: '○',
  preparing: '●',
  waiting: '◌',
  completed: '✓',
  ok: '✓',
  failed: '✗',
  timeout: '✗',
  skipped: '–',
  cancelled: '–',
};

/** How often the picture is drawn at most. */
const DRAW_MS = 120;

/** A task or the work before the plan, as it is shown. */
interface Shown {
  readonly key: string;
  readonly status: string;
  readonly title: string;
  readonly skill: string;
  /** When it began, and how it ended. */
  readonly since: number | undefined;
  readonly summary: string;
}

/** Follows a project and shows it. */
export class LiveView {
  readonly #stop = new AbortController();
  readonly #told = new Map<string, string>();
  readonly #began = Date.now();
  #drawn = 0;
  #done: Promise<void> = Promise.resolve();

  constructor(
    private readonly world: Pick<AgentWorld, 'kernel'>,
    private readonly project: Project,
    private readonly out: NodeJS.WriteStream,
    private readonly plain: boolean,
  ) {}

  /** Begins to follow. `end` must be awaited before the world is closed. */
  begin(): void {
    this.#done = this.#follow();
    this.#done.catch(() => undefined); // `end` throws it
  }

  /** Draws a last time, and stops: nothing reads the world after it. @throws what following threw */
  async end(): Promise<void> {
    this.#stop.abort();
    await this.#done;
    await this.#show(true);
  }

  /** Writes a line below the picture; the next picture is drawn below it. */
  note(line: string): void {
    this.out.write(`${escapeLine(line)}\n`);
    this.#drawn = 0;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    const ticks = this.plain ? undefined : setInterval(() => void this.#show().catch(() => undefined), 1_000);
    try {
      await this.#show();
      let last = 0;
      for await (const { records } of this.world.kernel.frames(this.world.kernel.head.seq + 1, signal)) {
        if (!records.some((one) => one.kind === 'fact' && /^(?:specialists|work)\//.test(one.name))) continue;
        const wait = DRAW_MS - (Date.now() - last);
        if (wait > 0 && !this.plain) await new Promise((resolve) => setTimeout(resolve, wait));
        last = Date.now();
        await this.#show();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      clearInterval(ticks);
    }
  }

  /** @param isLast nothing is drawn after it, so it may be higher than the terminal */
  async #show(isLast = false): Promise<void> {
    const all = await this.#rows();
    if (this.plain) return this.#lines(all);
    const ended = all.filter(({ status }) => ['completed', 'ok', 'skipped', 'cancelled'].includes(status)).length;
    const lines = pictureOf(`review: ${ended} of ${all.length} done`, all.map(rowOf), {
      columns: columnsOf(this.out.columns),
      rows: isLast ? undefined : this.out.rows || undefined,
    });
    const up = this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A\r`;
    // Each line is cleared behind its text: a screen that is cleared as a whole goes into the history of some terminals.
    this.out.write(`${up}${lines.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`);
    this.#drawn = lines.length;
  }

  #lines(all: readonly Shown[]): void {
    for (const row of all) {
      const line = `${MARKS[row.status] ?? '·'} ${row.key} [${row.status}] ${row.title}`;
      if (this.#told.get(row.key) === line) continue;
      this.#told.set(row.key, line);
      const seconds = Math.floor((Date.now() - this.#began) / 1_000);
      const clock = `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
      this.out.write(`${escapeLine(`${clock}  ${line}${row.summary === '' ? '' : ` · ${row.summary}`}`)}\n`);
    }
  }

  /** The work before the plan, then the tasks. */
  async #rows(): Promise<readonly Shown[]> {
    const [tasks, results] = await Promise.all([this.project.tasks(), this.project.results()]).catch(() => [[], []]);
    const loose = results.filter(({ task }) => task === undefined);
    return [
      ...(await Promise.all(
        loose.map(async (row) => shownOf(`r${row.id}`, row.status, row, row, await this.#summary(row))),
      )),
      ...(await Promise.all(tasks.map((task) => this.#task(task, results)))),
    ];
  }

  async #task(task: TaskRow, results: readonly ResultRow[]): Promise<Shown> {
    const last = results.findLast((row) => row.task === task.id);
    // A task that was started may still wait for one of the places.
    const status = task.status === 'running' && last !== undefined ? last.status : task.status;
    const summary = task.status === 'failed' ? (last?.code ?? '') : await this.#summary(last);
    return shownOf(
      `#${task.id}`,
      status,
      task,
      last,
      task.status === 'completed' || task.status === 'failed' ? summary : '',
    );
  }

  async #summary(row: ResultRow | undefined): Promise<string> {
    if (row === undefined || row.ended === undefined) return '';
    if (row.status !== 'ok') return row.code ?? '';
    const text = await this.project.output(row.id).catch(() => '');
    return text.split('\n').find((one) => one.trim() !== '' && !one.startsWith('#')) ?? '';
  }
}

function shownOf(
  key: string,
  status: string,
  { title, skill }: { readonly title: string; readonly skill: string },
  result: ResultRow | undefined,
  summary: string,
): Shown {
  const since = result !== undefined && result.ended === undefined ? result.created : undefined;
  return { key, status, title, skill, since, summary };
}

function rowOf({ key, status, title, skill, since, summary }: Shown): PictureRow {
  const mark = MARKS[status] ?? '·';
  const seconds = since === undefined ? '' : ` ${Math.max(0, Math.round((Date.now() - since) / 1_000))} s`;
  return {
    head: `  ${mark} ${key.padEnd(3)} ${title.padEnd(34)} ${skill.padEnd(9)} ${status}${seconds}`,
    found: summary,
  };
}
