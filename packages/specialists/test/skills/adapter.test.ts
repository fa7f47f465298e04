/** What a project is told of skills: the rows that it does not have, in whatever process. */
import type { Ref } from '@reprise/contracts';
import { memory, type OpenStore } from '@reprise/kernel';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import type { SkillRow, SkillsSeen } from '../../src/pure/contracts/skills.js';
import { skillsSeen } from '../../src/pure/contracts/skills.js';
import { lookAtSkills, type SkillSource, skill, skillLibrary, type TeamFacts } from '../../src/skills/index.js';

let content: OpenStore['content'];
beforeEach(async () => {
  ({ content } = await memory().open());
});

const TEAM: TeamFacts = { tools: ['Read', 'Grep'], models: ['main', 'opus'], planners: [], denied: [] };

/** Skills in code, by name and description. */
function skills(all: Readonly<Record<string, string>>): readonly SkillSource[] {
  return Object.entries(all).map(([name, description]) =>
    skill({ name, description, tools: ['Read'], body: 'Do it.' }),
  );
}

/** A look at skills, by a process that remembers nothing. */
async function look(sources: readonly SkillSource[], known_version: Ref | null, team = TEAM): Promise<SkillsSeen> {
  const seen = await lookAtSkills(skillLibrary(sources), team, content, known_version);
  expect(skillsSeen.safeParse(seen).success).toBe(true);
  return seen;
}

/** A project's rows, and what receipts do to them. */
class Known {
  rows = new Map<string, SkillRow>();
  version: Ref | null = null;

  async look(sources: readonly SkillSource[], team = TEAM): Promise<readonly SkillsSeen[]> {
    const seen: SkillsSeen[] = [];
    do {
      const news = await look(sources, this.version, team);
      if (news.afresh) this.rows.clear();
      for (const name of news.removed) this.rows.delete(name);
      for (const row of news.changed) this.rows.set(row.name, row);
      this.version = news.version;
      seen.push(news);
    } while (seen.at(-1)?.more === true && seen.length < 100);
    return seen;
  }
}

describe('specialists.skills@1', () => {
  it('the receipt holds changed and removed rows only, and nothing when nothing changed [SPEC-32]', async () => {
    const first = await look(skills({ alpha: 'One', beta: 'Two' }), null);
    expect(first).toMatchObject({ removed: [], more: false, afresh: false, models: ['main', 'opus'], invalid: 0 });
    expect(first.changed.map(({ name }) => name)).toEqual(['alpha', 'beta']);
    const same = await look(skills({ beta: 'Two', alpha: 'One' }), first.version);
    expect(same).toMatchObject({ version: first.version, changed: [], removed: [] });
    const next = await look(skills({ alpha: 'Uno', gamma: 'Three' }), first.version);
    expect(next.changed.map(({ name, description }) => `${name} ${description}`)).toEqual(['alpha Uno', 'gamma Three']);
    expect(next.removed).toEqual(['beta']);
  });

  it('a row changes with the catalog, the models and the planners of the team, though the file has not', async () => {
    const { version } = await look(skills({ alpha: 'One' }), null);
    const next = await look(skills({ alpha: 'One' }), version, { ...TEAM, tools: ['Grep'] });
    expect(next).toMatchObject({ changed: [{ state: 'unfit', refusal: 'tool_unavailable' }], invalid: 1 });
    expect((await look(skills({ alpha: 'One' }), version, { ...TEAM, planners: ['alpha'] })).changed).toHaveLength(1);
  });

  it('a version that cannot be read is answered with all rows', async () => {
    const odd = await content.put(new TextEncoder().encode('{"not":"rows"}'));
    expect(await look(skills({ alpha: 'One' }), odd)).toMatchObject({ afresh: true, changed: [{ name: 'alpha' }] });
  });

  it('a thousand large skills come in several receipts, each within the bound of a receipt', async () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`skill-${i}`, 'x'.repeat(1_000)]));
    const known = new Known();
    const seen = await known.look(skills(many));
    expect(seen.length).toBeGreaterThan(10);
    for (const news of seen) expect(JSON.stringify(news).length).toBeLessThan(40_000);
    expect(known.rows.size).toBe(1_000);
    expect((await known.look(skills({}))).map(({ removed }) => removed.length)).toEqual([256, 256, 256, 232]);
    expect(known.rows.size).toBe(0);
  });

  const seed = 19;
  it(`whatever happens to skills, a project has the rows of now after a look (seed ${seed})`, async () => {
    const state = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.constantFrom('One', 'Two'));
    await fc.assert(
      fc.asyncProperty(fc.array(state, { maxLength: 6 }), async (states) => {
        const known = new Known();
        for (const now of states) {
          await known.look(skills(now));
          const { rows } = await skillLibrary(skills(now)).index(TEAM);
          expect(Object.fromEntries(known.rows)).toEqual(Object.fromEntries(rows.map((row) => [row.name, row])));
        }
      }),
      { seed, numRuns: 60 / stepOf(4) },
    );
  });
});
