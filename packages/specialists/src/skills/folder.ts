/**
 * A folder of skill files. Bytes are read when the folder is listed, and no later: what was found is pinned by its digest.
 *
 * Invariants
 * F1  Nothing outside the folder is read: links that lead out, pipes, devices and folders in place of files are refused.
 * F2  A file is read again when it may have changed. Its times are trusted only when they were old as it was read.
 * F3  Listing never rejects: what cannot be read is a problem of its skill, and a folder that vanished keeps its last
 *     listing, with a warning.
 */
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { type ArgumentCheck, checkOf, requireKnownOptions, startOfText } from '@reprise/contracts';
import { SKILL_BOUNDS, SKILL_NAME } from '../pure/contracts/skills.js';
import { digestOf } from './digest.js';
import { parseSkill } from './parse.js';
import type { FoundSkill, SkillListing, SkillProblem, SkillRule, SkillSource, SkillWarning } from './skill.js';
import { watchFolder } from './watch.js';

/** How a folder of skills is read, and when again. */
export interface FolderOptions {
  /** Look as soon as files change, and not only before each run of the coordinator. */
  readonly watch?: boolean;
}

const requireArgument: ArgumentCheck = checkOf('invalid_argument', 'invalid option of folder');

/**
 * A folder of skill files: `<name>/SKILL.md`, as the Agent Skills standard has it, and `<name>.md`. A folder that holds
 * a file `SKILL.md` itself is one skill. `README.md`, and names that begin with a dot or underscore, are passed over.
 *
 * The folder need not exist yet; while it does not, it is a warning.
 *
 * @throws RepriseError `invalid_argument`
 * @example team({ name: 'review', skills: [folder('skills')], … })
 */
export function folder(place: string, options: FolderOptions = {}): SkillSource {
  requireArgument(typeof place === 'string' && place !== '', 'path', 'the path of a folder', place);
  requireKnownOptions(options, { watch: true }, 'folder');
  const files = new SkillFolder(path.resolve(place), place);
  return {
    kind: 'folder',
    at: place,
    list: () => files.list(),
    read: (name) => files.read(name),
    ...(options.watch === true ? { watch: (changed) => watchFolder(path.resolve(place), changed) } : {}),
  };
}

interface Candidate {
  /** The name that its folder or file gives it. */
  readonly name: string;
  /** The path of the file, below the folder. */
  readonly file: string;
  /** What is wrong with it before it is read. */
  readonly problem?: SkillProblem;
}

interface Remembered {
  readonly stamp: string;
  readonly found: FoundSkill;
}

/** How old the times of a file must be before they prove that it is the same (F2), in milliseconds. */
const SETTLED_MS = 2_000;
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const STANDARD = ['SKILL.md', 'skill.md'] as const;

class SkillFolder {
  readonly #remembered = new Map<string, Remembered>();
  #last: readonly FoundSkill[] | undefined;

  constructor(
    private readonly root: string,
    /** The path as it was given, for people. */
    private readonly said: string,
  ) {}

  async list(): Promise<SkillListing> {
    const candidates = await this.#candidates();
    if (candidates === undefined) {
      const message = this.#last === undefined ? 'the folder cannot be read' : 'the folder cannot be read any more';
      return { skills: this.#last ?? [], warnings: [{ at: this.said, line: 1, rule: 'file_unreadable', message }] };
    }
    const skills = new Map<string, FoundSkill>();
    const warnings: SkillWarning[] = [];
    for (const candidate of candidates) {
      const found = await this.#found(candidate);
      const first = skills.get(found.name);
      if (first === undefined) skills.set(found.name, found);
      else
        warnings.push({ at: found.at, line: 1, rule: 'shadowed', message: `${found.name} is taken: ${first.at} wins` });
    }
    for (const file of [...this.#remembered.keys()])
      if (!candidates.some((candidate) => candidate.file === file)) this.#remembered.delete(file);
    this.#last = [...skills.values()];
    return { skills: this.#last, warnings };
  }

  async read(name: string): Promise<FoundSkill | undefined> {
    if (!SKILL_NAME.test(name)) return undefined;
    const candidates = await this.#candidates();
    const candidate = candidates?.find((one) => one.name === name);
    return candidate === undefined ? undefined : this.#found(candidate);
  }

  /** The places where skills may stand, those of the standard's form first; undefined when the folder is not there. */
  async #candidates(): Promise<readonly Candidate[] | undefined> {
    try {
      const single = await this.#standardIn('.', path.basename(await realpath(this.root)));
      if (single.problem?.rule !== 'file_missing') return [{ ...single, name: path.basename(this.root) }];
      const entries = await readdir(this.root, { withFileTypes: true });
      const names = entries
        .map(({ name }) => name)
        .filter((name) => !/^[._]/.test(name) && name !== 'README.md')
        .toSorted((a, b) => (a < b ? -1 : 1));
      const candidates = await Promise.all(names.map((name) => this.#candidate(name)));
      const all = candidates.filter((one) => one !== undefined);
      return [...all.filter(isStandard), ...all.filter((one) => !isStandard(one))];
    } catch {
      return undefined;
    }
  }

  async #candidate(name: string): Promise<Candidate | undefined> {
    const found = await stat(path.join(this.root, name)).catch(() => undefined);
    if (name.endsWith('.md')) return { name: boundedName(name.slice(0, -'.md'.length)), file: name };
    if (found?.isDirectory() === true) return this.#standardIn(name, name);
    return undefined;
  }

  /** The file of the standard's form in a folder. */
  async #standardIn(inside: string, name: string): Promise<Candidate> {
    const names = await readdir(path.join(this.root, inside)).catch(() => undefined);
    const file = STANDARD.find((one) => names?.includes(one));
    const base = { name: boundedName(name), file: path.join(inside, file ?? STANDARD[0]) };
    if (file !== undefined) return base;
    const rule = names === undefined ? 'file_unreadable' : 'file_missing';
    return { ...base, problem: { line: 1, rule, message: `${path.join(name, STANDARD[0])} cannot be found` } };
  }

  async #found({ name, file, problem }: Candidate): Promise<FoundSkill> {
    const at = path.join(this.said, file);
    const broken = (rule: SkillRule, message: string): FoundSkill => {
      this.#remembered.delete(file);
      return { name, at, digest: '', parsed: { problems: [{ line: 1, rule, message }] } };
    };
    if (problem !== undefined) return broken(problem.rule, problem.message);
    try {
      const [real, root] = await Promise.all([realpath(path.join(this.root, file)), realpath(this.root)]);
      if (!isInside(real, root)) return broken('file_kind', 'a link leads out of the folder'); // F1
      return await this.#read(real, root, { name, file, at }, broken);
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      if (code === 'ENXIO' || code === 'ELOOP') return broken('file_kind', 'this is not a regular file');
      return broken('file_unreadable', `the file cannot be read (${code})`);
    }
  }

  async #read(
    real: string,
    root: string,
    { name, file, at }: Candidate & { readonly at: string },
    broken: (rule: SkillRule, message: string) => FoundSkill,
  ): Promise<FoundSkill> {
    const handle = await open(real, READ_FLAGS);
    try {
      const facts = await handle.stat({ bigint: true });
      if (!facts.isFile()) return broken('file_kind', 'this is not a regular file'); // F1
      if (!(await isOpenInside(handle, facts, real, root)))
        return broken('file_kind', 'a link leads out of the folder'); // F1
      if (facts.size > SKILL_BOUNDS.file_bytes)
        return broken('file_bytes', `the file has more than ${SKILL_BOUNDS.file_bytes} bytes`);
      const stamp = [real, facts.dev, facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(' ');
      const before = this.#remembered.get(file);
      if (before?.stamp === stamp) return before.found;
      const bytes = await readAtMost(handle, SKILL_BOUNDS.file_bytes + 1);
      const found: FoundSkill = {
        name,
        at,
        digest: digestOf(bytes),
        parsed: parsedFrom(bytes, path.join(this.root, file)),
      };
      const isSettled = Date.now() - Number(facts.ctimeMs) > SETTLED_MS; // F2
      if (isSettled) this.#remembered.set(file, { stamp, found });
      else this.#remembered.delete(file);
      return found;
    } finally {
      await handle.close();
    }
  }
}

function isStandard({ file }: Candidate): boolean {
  return STANDARD.some((one) => path.basename(file) === one);
}

/**
 * Whether an open file is inside the folder, though a folder on its path may have been replaced with a link between the
 * check and the opening. Linux says where an open file is; elsewhere its path is looked at once more.
 */
async function isOpenInside(handle: FileHandle, facts: BigIntStats, real: string, root: string): Promise<boolean> {
  if (process.platform === 'linux') {
    const where = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
    if (where !== undefined) return isInside(where, root);
  }
  const now = await realpath(real);
  const { dev, ino } = await lstat(now, { bigint: true });
  return isInside(now, root) && dev === facts.dev && ino === facts.ino;
}

function isInside(real: string, root: string): boolean {
  return real.startsWith(root.endsWith(path.sep) ? root : `${root}${path.sep}`);
}

/** A name that a row can hold. Longer ones are no skill names, and are only shown. */
function boundedName(name: string): string {
  return startOfText(name, SKILL_BOUNDS.name);
}

/** The bytes of a file, which may grow meanwhile: the first ones, up to a bound. */
async function readAtMost(
  handle: { read(buffer: Uint8Array, offset: number, length: number): Promise<{ bytesRead: number }> },
  most: number,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(most);
  let length = 0;
  while (length < most) {
    const { bytesRead } = await handle.read(bytes, length, most - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.slice(0, length);
}

function parsedFrom(bytes: Uint8Array, file: string): FoundSkill['parsed'] {
  try {
    return parseSkill(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), file);
  } catch {
    return { problems: [{ line: firstBadLine(bytes), rule: 'utf8', message: 'the text is not UTF-8' }] };
  }
}

/** The first line that is not UTF-8. A line break is never part of a longer character. */
function firstBadLine(bytes: Uint8Array): number {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let from = 0;
  for (let line = 1; ; line++) {
    const end = bytes.indexOf(10, from);
    try {
      decoder.decode(bytes.subarray(from, end < 0 ? bytes.length : end));
    } catch {
      return line;
    }
    if (end < 0) return line;
    from = end + 1;
  }
}
