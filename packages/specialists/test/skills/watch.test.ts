/** A watched folder: projects that work hear of changed skills without a run of their coordinator. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memory, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { folder, team } from 'reprise/specialists';
import { afterAll, describe, expect, it } from 'vitest';

const place = mkdtempSync(join(tmpdir(), 'reprise-watch-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

function put(name: string): void {
  const text = `---\nname: ${name}\ndescription: Works\ntriggers: [work]\ntools: []\n---\nWork.\n`;
  writeFileSync(join(place, `${name}.md`), text);
}

describe('a team with a watched folder', () => {
  it('a project that works is told of a new skill at once, and no model is called for it [SPEC-32]', async () => {
    put('alpha');
    let asked = 0;
    const main = scriptBy(({ system }) => {
      if (!system.includes('You coordinate.')) return { fail: 'provider_error_terminal/refused' };
      asked += 1;
      return { text: 'A decision is needed.' };
    });
    const dev = team({
      name: 'dev',
      skills: [folder(place, { watch: true })],
      tools: [],
      coordinator: { model: 'main', identity: 'You coordinate.' },
      dispatch: 'auto',
    });
    await using world = await openWorld({ store: memory(), models: { main }, parts: [dev] });
    const project = world.part(dev).project('p');
    const brief = 'Do what the brief of this task says, and nothing else at all. '.repeat(4);
    await project.plan([{ key: 'a', title: 'Fails', skill: 'alpha', context: brief }]);
    expect((await project.idle({ within: '30s' })).status).toBe('needs_decision');
    const [before, from] = [asked, world.kernel.head.seq + 1];
    put('beta');
    const seen = await skillsSeen(world.kernel, from);
    expect(seen).toMatchObject({ changed: ['beta'], removed: [], invalid: 0 });
    expect(asked).toBe(before);
  });
});

/** The next fact about skills. */
async function skillsSeen(kernel: Awaited<ReturnType<typeof openWorld>>['kernel'], from: number): Promise<unknown> {
  for await (const { records } of kernel.frames(from))
    for (const record of records)
      if (record.kind === 'fact' && record.name === 'specialists/SkillsSeen@1') return record.value;
  return undefined;
}
