/** `reprise skills`: what folders of skills hold, and what is wrong with each file. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { command, run } from './run.js';
import { freshFolder } from './worlds.js';

const folder = freshFolder();
afterAll(() => folder.remove());

const GOOD = '---\nname: good\ndescription: Looks\nmetadata:\n  reprise-tools: "Read"\n---\nLook.\n';
const HALF = '---\nname: half\ndescription: Looks\n---\nLook.\n';
const BAD = '---\nname: bad\ndescription: Looks\ntriggers: [look]\ntools: Read\n---\nLook.\n';

let folders = 0;

function skills(files: Readonly<Record<string, string>>): string {
  const path = folder.file(`skills-${folders++}`);
  mkdirSync(path);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(path, file, '..'), { recursive: true });
    writeFileSync(join(path, file), text);
  }
  return path;
}

describe('reprise skills', () => {
  it('ls prints state, source and digest of each skill, and the first problem [SPEC-31]', async () => {
    const path = skills({ 'good/SKILL.md': GOOD, 'half/SKILL.md': HALF, 'bad.md': BAD });
    const digest = createHash('sha256').update(GOOD).digest('hex').slice(0, 12);
    const { code, out, err } = await run('skills', 'ls', path);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(lines[0]).toEqual(['NAME', 'STATE', 'SOURCE', 'DIGEST']);
    expect(lines[1]?.[1]).toBe('invalid');
    expect(lines[2]).toEqual(['good', 'ready', join(path, 'good', 'SKILL.md'), digest]);
    expect(lines[3]?.slice(0, 2)).toEqual(['half', 'unfit']);
  });

  it('lint prints each problem with its line and rule, and ends with 1 [SPEC-31]', async () => {
    const path = skills({ 'good/SKILL.md': GOOD, 'half/SKILL.md': HALF, 'bad.md': BAD });
    const { code, out } = await run('skills', 'lint', path);
    expect(code).toBe(1);
    expect(out).toBe(
      [
        `${join(path, 'bad.md')}:5: tools is a text: write a list, as [one, two] [tools]`,
        `${join(path, 'half', 'SKILL.md')}:1: metadata.reprise-tools is missing: name the tools, or write "" for none [tools_missing]`,
        '3 skills: 1 ready, 1 valid but not spawnable, 1 invalid',
        '',
      ].join('\n'),
    );
  });

  it('lint of skills without problems ends with 0, and of a folder that is one skill as well', async () => {
    const path = skills({ 'good/SKILL.md': GOOD });
    expect(await run('skills', 'lint', path)).toEqual({ code: 0, out: '1 skill: no problems\n', err: '' });
    expect(await run('skills', 'lint', join(path, 'good'))).toEqual({
      code: 0,
      out: '1 skill: no problems\n',
      err: '',
    });
  });

  it('lint of a folder without skills ends with 1, since it checks nothing', async () => {
    expect(await run('skills', 'lint', skills({}))).toEqual({ code: 1, out: 'no skills\n', err: '' });
  });

  it('the first folder wins where two have one skill, and the second is a warning', async () => {
    const [first, second] = [skills({ 'good/SKILL.md': GOOD }), skills({ 'good/SKILL.md': `${GOOD}More.\n` })];
    const { code, out } = await run('skills', 'ls', first, second);
    expect(code).toBe(0);
    const at = join(second, 'good', 'SKILL.md');
    expect(out).toContain(`${at}: warning: good is taken: ${join(first, 'good', 'SKILL.md')} wins [shadowed]\n`);
  });

  it('JSON says of each skill whether it is valid, apart from whether it can be spawned', async () => {
    const path = skills({ 'good/SKILL.md': GOOD, 'half/SKILL.md': HALF, 'bad.md': BAD });
    const { code, out } = await run('skills', 'lint', path, '--json');
    const { ok, skills: all } = JSON.parse(out);
    expect({ code, ok }).toEqual({ code: 1, ok: false });
    const shown = all.map((one: { name: string; state: string; valid: boolean }) => [one.name, one.state, one.valid]);
    expect(shown).toEqual([
      ['bad', 'invalid', false],
      ['good', 'ready', true],
      ['half', 'unfit', true],
    ]);
    expect(all[0].problems).toEqual([
      { line: 5, rule: 'tools', message: 'tools is a text: write a list, as [one, two]' },
    ]);
  });

  it('a folder that is not there is wrong use, in words and in JSON', async () => {
    const absent = folder.file('absent');
    const { code, err } = await run('skills', 'ls', absent);
    expect(code).toBe(2);
    expect(err).toContain('invalid_argument: the folder does not exist\n');
    const json = await run('skills', 'lint', absent, '--json');
    expect(json.code).toBe(2);
    expect(JSON.parse(json.out)).toMatchObject({ ok: false, error: { code: 'invalid_argument' } });
  });

  it('control characters of a file are shown as escapes, and cannot move the cursor', async () => {
    const path = skills({ 'good/SKILL.md': GOOD.replace('---\n', '---\n"\\e[2Jx": 1\n') });
    const { out } = await run('skills', 'lint', path);
    expect(out).toContain('[unknown_key]');
    expect(out).not.toContain('\u001b');
  });

  it('the folder is `skills` when none is named, as a command of its own process', async () => {
    const at = skills({ 'skills/good/SKILL.md': GOOD });
    expect(await command(at, 'skills', 'lint')).toEqual({ code: 0, out: '1 skill: no problems\n', err: '' });
  });
});
