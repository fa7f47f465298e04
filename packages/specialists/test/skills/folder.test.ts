/** Folders of skills: listed before each run, read when they changed, and never outside. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { folder, isSkill, type SkillSource, skill, skillLibrary, type TeamFacts } from '../../src/skills/index.js';

const base = mkdtempSync(join(tmpdir(), 'reprise-skills-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

let folders = 0;

function fresh(): string {
  const path = join(base, `f${folders++}`);
  mkdirSync(path);
  return path;
}

function seed(name: string, description = 'Does it', tools = '[Read]'): string {
  return `---\nname: ${name}\ndescription: ${description}\ntriggers: [do]\ntools: ${tools}\n---\nDo it.\n`;
}

function standard(name: string): string {
  return `---\nname: ${name}\ndescription: Does it\nmetadata:\n  reprise-tools: "Read"\n---\nDo it.\n`;
}

function put(path: string, file: string, text: string | Uint8Array): void {
  mkdirSync(join(path, file, '..'), { recursive: true });
  writeFileSync(join(path, file), text);
}

/** Name and first rule of each skill that a source lists. */
async function listed(source: SkillSource): Promise<readonly string[]> {
  const { skills } = await source.list();
  return skills.map(({ name, parsed }) => `${name}: ${parsed.problems[0]?.rule ?? 'ready'}`).toSorted();
}

const TEAM: TeamFacts = { tools: ['Read'], models: ['main'], planners: [], denied: [] };

describe('folder', () => {
  it('both forms are found, each with the digest of its bytes; README.md and hidden names are passed over', async () => {
    const path = fresh();
    put(path, 'alpha/SKILL.md', standard('alpha'));
    put(path, 'beta.md', seed('beta'));
    put(path, 'README.md', '# What is here');
    put(path, '.git/SKILL.md', 'x');
    put(path, '_drafts/one.md', 'x');
    put(path, 'notes.txt', 'x');
    const source = folder(path);
    expect(await listed(source)).toEqual(['alpha: ready', 'beta: ready']);
    const { skills } = await source.list();
    const digest = createHash('sha256').update(seed('beta')).digest('hex');
    expect(skills.find(({ name }) => name === 'beta')).toMatchObject({ digest, at: join(path, 'beta.md') });
    expect(await source.read('alpha')).toMatchObject({ parsed: { form: 'standard', body: 'Do it.' } });
    expect(await source.read('gamma')).toBeUndefined();
    expect(await source.read('../beta')).toBeUndefined();
  });

  it('a file that is added, changed, broken or removed shows at the next listing [SPEC-32]', async () => {
    const path = fresh();
    put(path, 'alpha.md', seed('alpha'));
    const source = folder(path);
    expect(await listed(source)).toEqual(['alpha: ready']);
    put(path, 'beta/SKILL.md', standard('beta'));
    expect(await listed(source)).toEqual(['alpha: ready', 'beta: ready']);
    const before = (await source.read('alpha'))?.digest;
    put(path, 'alpha.md', seed('alpha', 'Does that')); // the same length, within the same moment
    const after = await source.read('alpha');
    expect(after?.digest).not.toBe(before);
    expect(after?.parsed).toMatchObject({ description: 'Does that' });
    put(path, 'alpha.md', 'no front matter');
    expect(await listed(source)).toEqual(['alpha: front_matter', 'beta: ready']);
    rmSync(join(path, 'alpha.md'));
    expect(await listed(source)).toEqual(['beta: ready']);
    rmSync(join(path, 'beta', 'SKILL.md'));
    expect(await listed(source)).toEqual(['beta: file_missing']);
  });

  it('a file that did not change for two seconds is not read again, and is when it changes [SPEC-32]', async () => {
    const path = fresh();
    put(path, 'alpha.md', seed('alpha'));
    const source = folder(path);
    const list = async () => (await source.list()).skills[0];
    const first = await list();
    expect(await list()).not.toBe(first);
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    const second = await list();
    expect(await list()).toBe(second);
    expect(second).toEqual(first);
    put(path, 'alpha.md', seed('alpha', 'Does that'));
    expect(await list()).toMatchObject({ parsed: { description: 'Does that' } });
  });

  it('what leads out of the folder or is no file is refused, with its rule [SPEC-31]', async () => {
    const path = fresh();
    const outside = fresh();
    put(outside, 'secret.md', seed('secret'));
    put(outside, 'kept/SKILL.md', standard('kept'));
    symlinkSync(join(outside, 'secret.md'), join(path, 'secret.md'));
    symlinkSync(join(outside, 'kept'), join(path, 'kept'));
    mkdirSync(join(path, 'file'));
    symlinkSync('/dev/zero', join(path, 'file', 'SKILL.md'));
    symlinkSync(join(path, 'circle.md'), join(path, 'circle.md'));
    symlinkSync('nowhere.md', join(path, 'gone.md'));
    mkdirSync(join(path, 'dir.md'));
    execFileSync('mkfifo', [join(path, 'pipe.md')]);
    put(path, 'real.md', seed('real'));
    symlinkSync('real.md', join(path, 'inside.md'));
    put(path, 'large.md', new Uint8Array(262_145));
    put(path, 'latin.md', Uint8Array.from([45, 45, 45, 10, 110, 58, 32, 233, 10]));
    expect(await listed(folder(path))).toEqual([
      'circle: file_kind',
      'dir: file_kind',
      'file: file_kind',
      'gone: file_unreadable',
      'inside: name_differs',
      'kept: file_kind',
      'large: file_bytes',
      'latin: utf8',
      'pipe: file_kind',
      'real: ready',
      'secret: file_kind',
    ]);
    const latin = await folder(path).read('latin');
    expect(latin?.parsed.problems).toEqual([{ line: 2, rule: 'utf8', message: 'the text is not UTF-8' }]);
  });

  it('a folder that vanishes keeps its last listing, with a warning, but prepares nothing from it [SPEC-32]', async () => {
    const path = fresh();
    put(path, 'alpha.md', seed('alpha'));
    const source = folder(path);
    expect(await listed(source)).toEqual(['alpha: ready']);
    renameSync(path, `${path}-away`);
    const { skills, warnings } = await source.list();
    expect(skills.map(({ name }) => name)).toEqual(['alpha']);
    expect(warnings).toMatchObject([{ at: path, rule: 'file_unreadable' }]);
    expect(await source.read('alpha')).toBeUndefined();
    renameSync(`${path}-away`, path);
    expect((await source.list()).warnings).toEqual([]);
    expect((await folder(join(path, 'never')).list()).warnings).toHaveLength(1);
  });

  it('a folder that holds SKILL.md itself is one skill', async () => {
    const path = fresh();
    put(path, 'alpha/SKILL.md', standard('alpha'));
    put(path, 'alpha/references/more.md', '# More');
    expect(await listed(folder(join(path, 'alpha')))).toEqual(['alpha: ready']);
  });

  it('a file without the right to read it is a problem of that skill alone', async () => {
    const path = fresh();
    put(path, 'alpha.md', seed('alpha'));
    put(path, 'beta.md', seed('beta'));
    chmodSync(join(path, 'alpha.md'), 0);
    const isRoot = process.getuid?.() === 0; // root reads everything
    expect(await listed(folder(path))).toEqual([isRoot ? 'alpha: ready' : 'alpha: file_unreadable', 'beta: ready']);
  });

  it('a watched folder tells soon after a file changed, and no more after the watch was stopped', async () => {
    const path = fresh();
    const source = folder(path, { watch: true });
    let heard = 0;
    let hear: () => void = () => undefined;
    const once = new Promise<void>((resolve) => {
      hear = resolve;
    });
    const stop = source.watch?.(() => {
      heard += 1;
      hear();
    });
    put(path, 'alpha.md', seed('alpha'));
    await once;
    stop?.();
    const before = heard;
    put(path, 'beta.md', seed('beta'));
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(heard).toBe(before);
    expect(folder(path).watch).toBeUndefined();
  });

  it('a misspelled option and an empty path are refused', () => {
    expect(() => folder('')).toThrow(/invalid option of folder/);
    expect(() => folder('skills', { wach: true } as never)).toThrow(/wach/);
  });
});

describe('the library of a team', () => {
  it('one name is one skill: the first folder wins, and a file wins over code [SPEC-31]', async () => {
    const [first, second] = [fresh(), fresh()];
    put(first, 'alpha.md', seed('alpha', 'From the first'));
    put(second, 'alpha/SKILL.md', standard('alpha'));
    put(second, 'beta.md', seed('beta', 'From a file'));
    const code = (name: string) => skill({ name, description: 'From code', tools: [], body: 'Do it.' });
    const library = skillLibrary([code('beta'), code('gamma'), folder(first), folder(second)]);
    const { rows, warnings } = await library.index(TEAM);
    expect(rows.map(({ name, description }) => `${name}: ${description}`)).toEqual([
      'alpha: From the first',
      'beta: From a file',
      'gamma: From code',
    ]);
    expect(warnings.map(({ at, rule }) => `${at} ${rule}`)).toEqual([
      `${join(second, 'alpha', 'SKILL.md')} shadowed`,
      'code shadowed',
    ]);
    const read = await library.read('beta', TEAM);
    expect(read).toMatchObject({ found: { at: join(second, 'beta.md') }, row: { state: 'ready', refusal: null } });
  });

  it('two forms of one name in a folder are one skill, that of the standard', async () => {
    const path = fresh();
    put(path, 'alpha/SKILL.md', standard('alpha'));
    put(path, 'alpha.md', seed('alpha'));
    const { skills, warnings } = await folder(path).list();
    expect(skills.map(({ parsed }) => isSkill(parsed) && parsed.form)).toEqual(['standard']);
    expect(warnings).toMatchObject([{ at: join(path, 'alpha.md'), rule: 'shadowed' }]);
  });

  it('a row says why a skill cannot be spawned in this team [SPEC-15]', async () => {
    const path = fresh();
    put(path, 'alpha.md', seed('alpha', 'Does it', '[Write]'));
    put(path, 'beta.md', seed('beta', 'Does it', '[plan_write, result_read]'));
    put(path, 'gamma.md', 'broken');
    put(path, 'delta/SKILL.md', standard('delta').replace(/metadata:[\s\S]*"\n/, ''));
    put(path, 'model.md', seed('model').replace('tools:', 'model: gpt\ntools:'));
    const rows = async (planners: readonly string[]) => {
      const { rows } = await skillLibrary([folder(path)]).index({ ...TEAM, planners });
      return rows.map(({ name, state, refusal, project_tools }) =>
        [name, state, refusal, project_tools.join(' ')].join(','),
      );
    };
    expect(await rows([])).toEqual([
      'alpha,unfit,tool_unavailable,',
      'beta,unfit,tool_reserved,result_read',
      'delta,unfit,skill_invalid,',
      'gamma,invalid,skill_invalid,',
      'model,unfit,unknown_model,',
    ]);
    expect((await rows(['beta']))[1]).toBe('beta,ready,,plan_write result_read');
  });
});

describe('skill', () => {
  const spec = { name: 'sum-up', description: 'Sums it up', tools: ['Read'], body: 'Sum it up.\n---\nWell.' };

  it('a skill in code is read like one in a file, and its digest changes with each of its parts', async () => {
    const found = await skill(spec).read('sum-up');
    expect(found).toMatchObject({ at: 'code', parsed: { form: 'code', body: spec.body, tools: ['Read'] } });
    const digests = new Set([found?.digest]);
    for (const change of [{ body: 'Other.' }, { tools: [] }, { model: 'opus' }, { timeout: '5m' as const }])
      digests.add((await skill({ ...spec, ...change }).read('sum-up'))?.digest);
    expect(digests.size).toBe(5);
    expect((await skill({ ...spec, timeout: '5m' }).read('sum-up'))?.parsed).toMatchObject({ timeoutMs: 300_000 });
  });

  it('a skill in code that breaks a rule is refused when it is defined', () => {
    for (const change of [
      { name: 'Sum Up' },
      { description: '' },
      { tools: undefined },
      { timeout: 0 },
      { timeout: '8d' },
    ])
      expect(() => skill({ ...spec, ...change } as never), JSON.stringify(change)).toThrow(/invalid skill/);
    expect(() => skill({ ...spec, tool: [] } as never)).toThrow(/tool/);
  });
});
