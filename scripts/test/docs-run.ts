/** Runs a page as a reader would: in a separate folder, block by block, and reports where the output differs. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { QUIET_SQLITE } from '../lib/quiet-sqlite.js';
import { commandIn, toJavaScript } from './docs-packages.js';
import { type Action, type Block, type Page, programsOf } from './docs-pages.js';

/** The difference between a page and its real output. */
export interface Surprise {
  readonly where: string;
  readonly expected: string;
  readonly actual: string;
}

/** The results of running a page. */
export interface PageRun {
  readonly surprises: readonly Surprise[];
  /** The real output of blocks that promise another one. */
  readonly printed: ReadonlyMap<Block, string>;
}

/** Stands in a program's output where one part ends and the next begins. */
const PART_ENDS = '\u001e';

/**
 * Runs every file, command and program of a page, in order. A program runs where its first part stands.
 *
 * @param app a folder with the packages installed; the page gets a folder in it
 */
export async function runPage(page: Page, app: string): Promise<PageRun> {
  const folder = path.join(app, page.file.replaceAll(/[/.]/g, '-'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }\n');
  const run = new PageRunner(page, app, folder);
  for (const action of page.actions) await run.perform(action);
  return run;
}

class PageRunner implements PageRun {
  readonly surprises: Surprise[] = [];
  readonly printed = new Map<Block, string>();
  readonly #programs: ReturnType<typeof programsOf>;
  readonly #done = new Set<string>();
  readonly #digests = new Digests();

  constructor(
    private readonly page: Page,
    private readonly app: string,
    private readonly folder: string,
  ) {
    this.#programs = programsOf(page);
  }

  async perform(action: Action): Promise<void> {
    if (action.does === 'file') this.#write(action.file, action.block.text);
    if (action.does === 'commands') await this.#commands(action);
    if (action.does === 'part' && !this.#done.has(action.program)) await this.#program(action.program);
  }

  async #commands(action: Action & { does: 'commands' }): Promise<void> {
    const commands = withInterpreters(this.app, this.#digests.actual(action.block.text));
    const { printed, code } = await start('sh', ['-c', `exec 2>&1\n${commands}`], this.folder);
    this.#compare(action, printed);
    if (code !== action.exit) this.#surprise(action.block, `exit ${action.exit}\n`, `exit ${code}\n${printed}`);
  }

  async #program(name: string): Promise<void> {
    this.#done.add(name);
    const parts = this.#programs.get(name) ?? [];
    const ending = `console.log('${PART_ENDS}');\n`;
    this.#write(`${name}.ts`, parts.map(({ block }) => `${block.text}${ending}`).join(''));
    const { printed, code } = await start(process.execPath, [`${name}.js`], this.folder);
    const said = printed.split(`${PART_ENDS}\n`);
    for (const [i, part] of parts.entries()) this.#compare(part, said[i] ?? '');
    const rest = said.slice(parts.length).join('');
    const last = parts.at(-1)?.block;
    if (last !== undefined && (code !== 0 || rest !== '')) this.#surprise(last, '', `exit ${code}\n${rest}`);
  }

  /** TypeScript is in the folder as the page has it, and as `tsx` would compile it. */
  #write(name: string, text: string): void {
    const file = path.join(this.folder, name);
    writeFileSync(file, text);
    if (name.endsWith('.ts')) writeFileSync(file.replace(/ts$/, 'js'), toJavaScript(text));
  }

  #compare({ block, output }: Action, actual: string): void {
    const expected = output?.text ?? '';
    if (this.#digests.agree(expected, actual)) return;
    this.#surprise(output ?? block, expected, actual);
    if (output !== undefined) this.printed.set(output, this.#digests.rewritten(expected, actual));
  }

  #surprise(block: Block, expected: string, actual: string): void {
    this.surprises.push({ where: `${this.page.file}:${block.line}`, expected, actual });
  }
}

/**
 * Pairs the digests of a page with those of this run: a world has a random identity, so they differ, but where the
 * page shows the same digest twice this run must, too. Times differ as well, and nothing depends on them.
 */
export class Digests {
  /** By the first digits of the page's digest. Of both forms the longest that was seen. */
  readonly #pairs = new Map<string, { page: string; actual: string }>();

  /** Whether two texts are equal, except for digests and times. */
  agree(expected: string, actual: string): boolean {
    return masked(ordered(expected)) === masked(ordered(actual)) && this.#pairAll(expected, actual);
  }

  /** A command of the page with the digests of this run. */
  actual(command: string): string {
    return command.replace(DIGEST, (digest) => {
      const actual = this.#pairs.get(shortOf(digest))?.actual ?? '';
      return actual.length < digest.length ? digest : actual.slice(0, digest.length);
    });
  }

  /** The text for a page in place of `expected`: the real output, with the digests that the page shows elsewhere. */
  rewritten(expected: string, actual: string): string {
    this.#pairAll(expected, actual);
    const pairs = [...this.#pairs.values()];
    return actual.replace(DIGEST, (digest) => {
      const { page } = pairs.find((pair) => shortOf(pair.actual) === shortOf(digest)) ?? { page: '' };
      return page.length < digest.length ? digest : page.slice(0, digest.length);
    });
  }

  #pairAll(expected: string, actual: string): boolean {
    const [was, is] = [ordered(expected).match(DIGEST) ?? [], ordered(actual).match(DIGEST) ?? []];
    return was.length === is.length && was.every((digest, i) => this.#pair(digest, is[i] ?? ''));
  }

  #pair(page: string, actual: string): boolean {
    const known = this.#pairs.get(shortOf(page));
    const same = known === undefined || known.actual.startsWith(actual) || actual.startsWith(known.actual);
    const longest = known !== undefined && known.page.length >= page.length ? known : { page, actual };
    if (same) this.#pairs.set(shortOf(page), longest);
    return same;
  }
}

function shortOf(digest: string): string {
  return digest.slice(0, 12);
}

const DIGEST = /\b(?:[0-9a-f]{64}|[0-9a-f]{32}|[0-9a-f]{12})\b/g;

/**
 * Leaves are in the order of their keys, and keys contain digests: the leaves of a state record are sorted. In a line
 * that was cut, the rest of its effects depends on the digests as well: it is compared up to them.
 */
function ordered(text: string): string {
  return text.replace(/^(\d+\.\d+ .* {2}state {2,})(.*)$/gm, (_, front: string, leaves: string) => {
    const stable = leaves.endsWith('…') ? leaves.replace(/; effect .*$/, '; …') : leaves;
    const byName = stable.split('; ').map((leaf) => [masked(leaf), leaf] as const);
    byName.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return front + byName.map(([, leaf]) => leaf).join('; ');
  });
}

function masked(text: string): string {
  return text
    .replace(DIGEST, (digest) => `<digest of ${digest.length}>`)
    .replace(/\b[0-9a-f]{1,11}…/g, '<digest>…') // a long line may be cut inside of one
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
    .replace(/\b\d\d:\d\d(?= )/g, '<clock>')
    .replace(/\b1\d{12}\b/g, '<milliseconds>');
}

/** The programs that `npx` finds in an app that has installed Reprise and tsx. */
function withInterpreters(app: string, commands: string): string {
  const node = `'${process.execPath}'`;
  return commands
    .replace(/\bnpx tsx (\S+)\.ts\b/g, `${node} $1.js`)
    .replace(/\bnpx reprise\b/g, `${node} '${commandIn(app)}'`);
}

interface Ended {
  readonly printed: string;
  readonly code: number | null;
}

function start(command: string, args: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, ...QUIET_SQLITE, NODE_ENV: undefined, NO_COLOR: '1', FORCE_COLOR: undefined };
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], env });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text: string) => {
        printed += text;
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ printed, code }));
  });
}
