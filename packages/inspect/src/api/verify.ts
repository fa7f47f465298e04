/** `POST /api/verify`: verifies the world, with one line of JSON for each message. One verification at a time. */
import { RepriseError } from '@reprise/contracts';
import type { VerifyProgress, VerifyReport } from '@reprise/kernel';
import { toJson } from '@reprise/operators/text';
import type { VerifyMessage } from '../contract/index.js';
import { errorReport } from '../http/index.js';

/** Verifies the world. @param onProgress may throw, which ends the verification */
export type Verify = (onProgress: (progress: VerifyProgress) => void) => Promise<VerifyReport>;

/** The verifications of one server, one after another. */
export class Verifications {
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly verify: Verify) {}

  /** Verifies, and says how far it is. */
  async *run(signal: AbortSignal): AsyncGenerator<string> {
    const lines = new Lines();
    const before = this.#last;
    const own = before.then(() => this.#run(lines, signal)).finally(() => lines.end());
    this.#last = own.catch(() => undefined);
    for await (const line of lines.read()) yield line;
  }

  async #run(lines: Lines, signal: AbortSignal): Promise<void> {
    try {
      signal.throwIfAborted();
      const { head, ...report } = await this.verify(({ frames, of }) => {
        signal.throwIfAborted();
        lines.put({ type: 'progress', frame: frames, of });
      });
      const finding = unverified(report);
      if (finding === undefined) lines.put({ type: 'done', frame: head.seq, head: head.digest });
      else lines.put({ type: 'failed', error: errorReport(finding) });
    } catch (error) {
      if (!signal.aborted) lines.put({ type: 'failed', error: errorReport(error) });
    }
  }
}

/** What was not replayed is no success: nobody has shown that it follows from the inputs. */
function unverified({
  unverified: count,
  frames,
}: Pick<VerifyReport, 'unverified' | 'frames'>): RepriseError | undefined {
  if (count === 0) return undefined;
  return new RepriseError('era_unverified', 'no app at hand can replay some of the frames', {
    expected: `${frames} replayed`,
    actual: `${frames - count} replayed, ${count} unverified`,
    hint: 'Start the command with the app of the world: --app MODULE.',
  });
}

/** Lines that wait to be sent; of progress that nobody has read only the latest counts. */
class Lines {
  #waiting: VerifyMessage[] = [];
  #hear: () => void = () => undefined;
  #isOver = false;

  put(message: VerifyMessage): void {
    this.#waiting = [...this.#waiting.filter(({ type }) => type !== 'progress'), message];
    this.#hear();
  }

  end(): void {
    this.#isOver = true;
    this.#hear();
  }

  async *read(): AsyncGenerator<string> {
    for (;;) {
      const ready = this.#waiting;
      this.#waiting = [];
      for (const message of ready) yield `${toJson(message)}\n`;
      if (this.#waiting.length > 0) continue;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => {
        this.#hear = resolve;
      });
    }
  }
}
