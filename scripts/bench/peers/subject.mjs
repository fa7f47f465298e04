import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { cpuOf } from './process-cpu.mjs';

/** A running program of `programs/`: it takes tasks, one at a time, and rests between them. */
export class Subject {
  #child;
  #lines;
  #roots;

  /**
   * Starts a program and waits until it is ready.
   *
   * @param {string} program its file
   * @param {readonly string[]} args
   * @param {{ cwd: string, servers?: readonly number[], pinned?: boolean, flags?: readonly string[] }} options
   *   `servers`: ids of processes whose CPU counts too; `pinned`: on one core; `flags`: of Node
   */
  static async start(program, args, { cwd, servers = [], pinned = false, flags = [] }) {
    const subject = new Subject();
    const node = [process.execPath, ...flags, program, ...args];
    const command = pinned ? ['taskset', '--cpu-list', '0', ...node] : node;
    subject.#child = spawn(command[0], command.slice(1), { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    const errors = [];
    subject.#child.stderr.on('data', (piece) => errors.push(piece));
    subject.#lines = answersOf(subject.#child, () => Buffer.concat(errors).toString('utf8'));
    subject.#roots = [subject.#child.pid, ...servers];
    await subject.#answer();
    return subject;
  }

  /** Lets it execute a task. @returns its answer, with `cpu`: milliseconds of all its processes */
  async execute(task) {
    const before = cpuOf(this.#roots);
    this.#child.stdin.write(`${JSON.stringify(task)}\n`);
    const answer = await this.#answer();
    return { ...answer, cpu: cpuOf(this.#roots) - before };
  }

  stop() {
    this.#child.kill('SIGKILL');
  }

  async #answer() {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the program ended');
    return value;
  }
}

/** The lines of JSON of a program, without what its libraries print. */
async function* answersOf(child, errors) {
  for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('{"')) yield JSON.parse(line);
  throw new Error(`the program ended: ${errors()}`);
}
